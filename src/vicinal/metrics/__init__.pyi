from vicinal.metrics._graph_score import graph_score as graph_score
from vicinal.metrics._stability import Stability as Stability
from vicinal.metrics._stability import stability as stability
from vicinal.metrics.clustering import clustering_accuracy as clustering_accuracy
from vicinal.metrics.clustering import normalized_mutual_info as normalized_mutual_info
from vicinal.metrics.clustering import rand_index as rand_index
from vicinal.metrics.comparison import Comparison as Comparison
from vicinal.metrics.comparison import compare as compare
from vicinal.metrics.geodesic import geodesic_error as geodesic_error
from vicinal.metrics.geodesic import residual_variance as residual_variance
from vicinal.metrics.retrieval import bulls_eye as bulls_eye
from vicinal.metrics.retrieval import mean_average_precision as mean_average_precision
from vicinal.metrics.retrieval import retrieval_rate as retrieval_rate
from vicinal.metrics.segmentation import global_consistency_error as global_consistency_error
from vicinal.metrics.segmentation import local_consistency_error as local_consistency_error

__all__: list[str]
__all__ = [
    "Comparison",
    "Stability",
    "bulls_eye",
    "clustering_accuracy",
    "compare",
    "geodesic_error",
    "global_consistency_error",
    "graph_score",
    "local_consistency_error",
    "mean_average_precision",
    "normalized_mutual_info",
    "rand_index",
    "residual_variance",
    "retrieval_rate",
    "stability",
]
