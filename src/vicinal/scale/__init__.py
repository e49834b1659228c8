"""Data larger than memory, and work on a cluster: dask arrays give the same results as arrays.

`vicinal.neighbors.NeighborSearch`, the graphs `knn`, `mst`, `disjoint_mst`, `perturbed_mst`, `contextual`,
`l1` and `structure_aware_l1`, `vicinal.contextual_distance`, and the estimators `SpectralClustering`,
`PerceptualClustering`, `LaplacianEigenmaps`, `ClusterPreservingEmbedding`, `GraphClassifier`,
`LabelPropagation`, `SelfSmoothing`, `PerceptualRanking` and `OutlierDetector` accept dask arrays. The points
are sorted into cells of a store, and each cell is a task: a function from files to files, which can be
repeated, resumed, and run anywhere.

- `config`: the store, the cluster and the size of cells within a ``with`` block
- `Store`: a folder or a URL for intermediate results
- `read_npy`: a dask array of the rows of an .npy file, which are read when they are needed
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
