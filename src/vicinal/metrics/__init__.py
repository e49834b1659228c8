"""Measures of quality.

- geodesic distances and embeddings: `geodesic_error`, `residual_variance`
- clusters against classes: `clustering_accuracy`, `normalized_mutual_info`, `rand_index`
- clusters of subsets against those of all rows: `stability`
- graphs of perturbed points against the points: `graph_score`
- retrieval: `bulls_eye`, `retrieval_rate`, `mean_average_precision`
- segments against human maps: `global_consistency_error`, `local_consistency_error`
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
