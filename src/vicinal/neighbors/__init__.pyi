from vicinal.neighbors.search import NeighborSearch as NeighborSearch
from vicinal.neighbors.transformer import KNNTransformer as KNNTransformer
