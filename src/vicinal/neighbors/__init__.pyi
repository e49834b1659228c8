from vicinal.neighbors.search import NeighborSearch as NeighborSearch
from vicinal.neighbors.transformer import KNNTransformer as KNNTransformer

__all__: list[str]
__all__ = [
    "KNNTransformer",
    "NeighborSearch",
]
