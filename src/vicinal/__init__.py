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

from vicinal._core.lazy import attach_stub, register_chunked

__version__ = "0.1.0"

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

__getattr__, __dir__, __all__ = attach_stub(__spec__)
