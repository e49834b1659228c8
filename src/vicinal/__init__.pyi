from vicinal import cluster as cluster
from vicinal import codes as codes
from vicinal import datasets as datasets
from vicinal import duplicates as duplicates
from vicinal import embed as embed
from vicinal import exceptions as exceptions
from vicinal import graphs as graphs
from vicinal import metrics as metrics
from vicinal import neighbors as neighbors
from vicinal import operators as operators
from vicinal import outliers as outliers
from vicinal import plot as plot
from vicinal import rank as rank
from vicinal import report as report
from vicinal import scale as scale
from vicinal import segmentation as segmentation
from vicinal import semi_supervised as semi_supervised
from vicinal import similarity as similarity
from vicinal import tables as tables
from vicinal import tl as tl
from vicinal.cluster.kernel_kmeans import KernelKMeans as KernelKMeans
from vicinal.cluster.perceptual import PerceptualClustering as PerceptualClustering
from vicinal.cluster.sparse_subspace import SparseSubspaceClustering as SparseSubspaceClustering
from vicinal.cluster.spectral import SpectralClustering as SpectralClustering
from vicinal.duplicates._near_duplicates import near_duplicates as near_duplicates
from vicinal.embed.cluster_preserving import (
    ClusterPreservingEmbedding as ClusterPreservingEmbedding,
)
from vicinal.embed.diffusion import DiffusionMaps as DiffusionMaps
from vicinal.embed.eigenmaps import LaplacianEigenmaps as LaplacianEigenmaps
from vicinal.embed.isomap import Isomap as Isomap
from vicinal.embed.neighbor_map import NeighborMap as NeighborMap
from vicinal.embed.perceptual import PerceptualEmbedding as PerceptualEmbedding
from vicinal.graphs._contextual_distance import contextual_distance as contextual_distance
from vicinal.graphs.graph import Graph as Graph
from vicinal.neighbors.transformer import KNNTransformer as KNNTransformer
from vicinal.outliers.detector import OutlierDetector as OutlierDetector
from vicinal.rank.manifold import ManifoldRanking as ManifoldRanking
from vicinal.rank.perceptual import PerceptualRanking as PerceptualRanking
from vicinal.rank.reranker import Reranker as Reranker
from vicinal.report._audit.pipeline import audit as audit
from vicinal.report.pipeline import perceive as perceive
from vicinal.segmentation.normalized_cut import segment as segment
from vicinal.semi_supervised.classifier import GraphClassifier as GraphClassifier
from vicinal.semi_supervised.propagation import LabelPropagation as LabelPropagation
from vicinal.semi_supervised.regressor import GraphRegressor as GraphRegressor
from vicinal.semi_supervised.similarity_vote import (
    SimilarityVoteClassifier as SimilarityVoteClassifier,
)
from vicinal.similarity.paths.similarity import path_similarity as path_similarity
from vicinal.similarity.smoothing.estimator import SelfSmoothing as SelfSmoothing
from vicinal.similarity.smoothing.operator import self_smooth as self_smooth
from vicinal.tables.encoder import TableEncoder as TableEncoder

__version__: str
