"""Similarity learned from the neighbourhood structure of data.

One road leads through the package, and each room of it can be entered directly:

- :mod:`vicinal.neighbors`: who is near,
- :mod:`vicinal.graphs`: which of them are connected (every function returns a :class:`Graph`),
- :mod:`vicinal.similarity`: how strongly,
- :mod:`vicinal.operators`: what flows along the connections,
- tasks: :mod:`vicinal.cluster`, :mod:`vicinal.embed`, :mod:`vicinal.semi_supervised` (few labels) and
  :mod:`vicinal.segmentation`, :mod:`vicinal.outliers`, all as scikit-learn estimators or functions at top
  level.

:func:`perceive` walks all of it on one table and shows what it found.

Beside the road: :mod:`vicinal.metrics`, :mod:`vicinal.plot`, and :mod:`vicinal.datasets` to try it on.
"""

from vicinal._core.lazy import attach, lend

__version__ = "0.1.0.dev0"

# The L1 graphs rank their dictionaries, so they are built after `rank`; people look for them in `graphs`.
lend(["l1", "structure_aware_l1"], source="vicinal.codes", to="vicinal.graphs")

LAZY_NAMES = {
    "_base.citation": ["citation"],
    "neighbors.transformer": ["KNNTransformer"],
    "graphs.graph": ["Graph"],
    "graphs._contextual_distance": ["contextual_distance"],
    "similarity.paths.similarity": ["path_similarity"],
    "similarity.smoothing.operator": ["self_smooth"],
    "similarity.smoothing.estimator": ["SelfSmoothing"],
    "cluster.spectral": ["SpectralClustering"],
    "cluster.kernel_kmeans": ["KernelKMeans"],
    "cluster.perceptual": ["PerceptualClustering"],
    "cluster.sparse_subspace": ["SparseSubspaceClustering"],
    "embed.diffusion": ["DiffusionMaps"],
    "embed.cluster_preserving": ["ClusterPreservingEmbedding"],
    "embed.eigenmaps": ["LaplacianEigenmaps"],
    "embed.isomap": ["Isomap"],
    "embed.perceptual": ["PerceptualEmbedding"],
    "outliers.detector": ["OutlierDetector"],
    "rank.label_propagation": ["LabelPropagationRanking"],
    "rank.manifold": ["ManifoldRanking"],
    "rank._pagerank": ["pagerank"],
    "rank.perceptual": ["PerceptualRanking"],
    "semi_supervised.regressor": ["GraphRegressor"],
    "semi_supervised.classifier": ["GraphClassifier"],
    "semi_supervised.propagation": ["LabelPropagation"],
    "semi_supervised.similarity_vote": ["SimilarityVoteClassifier"],
    "segmentation.normalized_cut": ["segment"],
    "report.pipeline": ["perceive"],
}

__getattr__, __dir__, __all__ = attach(
    __name__,
    LAZY_NAMES,
    submodules=[
        "cluster",
        "codes",
        "datasets",
        "embed",
        "exceptions",
        "graphs",
        "metrics",
        "neighbors",
        "operators",
        "outliers",
        "report",
        "plot",
        "rank",
        "segmentation",
        "semi_supervised",
        "similarity",
    ],
)
