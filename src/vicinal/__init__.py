"""Similarity learned from the neighbourhood structure of data.

The package is a pipeline; each stage can also be used on its own:

- :mod:`vicinal.neighbors`: nearest neighbours, exact or approximate,
- :mod:`vicinal.graphs`: neighbourhood graphs (every function returns a :class:`Graph`),
- :mod:`vicinal.operators`: Laplacians, random walks, eigenpairs and shortest paths on a graph,
- :mod:`vicinal.similarity`: similarities learned along a graph,
- tasks: :mod:`vicinal.cluster`, :mod:`vicinal.embed`, :mod:`vicinal.rank`, :mod:`vicinal.outliers`,
  :mod:`vicinal.duplicates`, :mod:`vicinal.semi_supervised` and :mod:`vicinal.segmentation`. Their
  scikit-learn estimators and main functions are also available at top level.

:func:`perceive` runs the whole pipeline on one table and reports the results; :func:`audit` checks
a data set.

See also :mod:`vicinal.scale` (dask arrays), :mod:`vicinal.tables` (columns of any kind),
:mod:`vicinal.tl` (AnnData objects), :mod:`vicinal.metrics`, :mod:`vicinal.plot` and
:mod:`vicinal.datasets`.
"""

from vicinal._core.lazy import attach, reexport, register_chunked

__version__ = "0.1.0"

# L1 graphs need `rank` for their dictionaries and therefore live in a later package, `codes`; users expect
# them in `graphs`.
reexport(["l1", "structure_aware_l1"], source="vicinal.codes", to="vicinal.graphs")

# Counterparts for dask arrays, which earlier packages cannot import from the later package `scale`.
register_chunked(
    {
        "StoredSearch": "vicinal.scale._search",
        "contextual_distance": "vicinal.scale._contexts",
        "extent_of": "vicinal.scale.stored_points",
        "find_duplicates": "vicinal.scale._duplicates",
        "disjoint_trees": "vicinal.scale._trees",
        "offset_tree": "vicinal.scale._trees",
        "pair_lengths": "vicinal.scale._perturbed",
        "perturbed_trees": "vicinal.scale._perturbed",
        "spanning_tree": "vicinal.scale._trees",
        "spanning_links": "vicinal.scale._trees",
        "store_points": "vicinal.scale.stored_points",
    }
)

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
    "duplicates._near_duplicates": ["near_duplicates"],
    "embed.diffusion": ["DiffusionMaps"],
    "embed.cluster_preserving": ["ClusterPreservingEmbedding"],
    "embed.eigenmaps": ["LaplacianEigenmaps"],
    "embed.isomap": ["Isomap"],
    "embed.neighbor_map": ["NeighborMap"],
    "embed.perceptual": ["PerceptualEmbedding"],
    "outliers.detector": ["OutlierDetector"],
    "rank.label_propagation": ["LabelPropagationRanking"],
    "rank.manifold": ["ManifoldRanking"],
    "rank._pagerank": ["pagerank"],
    "rank.perceptual": ["PerceptualRanking"],
    "rank.reranker": ["Reranker"],
    "semi_supervised.regressor": ["GraphRegressor"],
    "semi_supervised.classifier": ["GraphClassifier"],
    "semi_supervised.propagation": ["LabelPropagation"],
    "semi_supervised.similarity_vote": ["SimilarityVoteClassifier"],
    "segmentation.normalized_cut": ["segment"],
    "report.pipeline": ["perceive"],
    "report._audit.pipeline": ["audit"],
    "tables.encoder": ["TableEncoder"],
}

__getattr__, __dir__, __all__ = attach(
    __name__,
    LAZY_NAMES,
    submodules=[
        "cluster",
        "codes",
        "datasets",
        "duplicates",
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
        "scale",
        "segmentation",
        "semi_supervised",
        "similarity",
        "tables",
        "tl",
    ],
)
