"""Linear operators on graphs, their eigenpairs, and shortest paths.

- `transition`, `laplacian`: random walk and Laplacians of an affinity
- `leading_eigenpairs`: largest eigenvalues and their eigenvectors; connected components are handled exactly
- `stationary_distribution`, `digraph_laplacian`, `aligned_digraph_laplacian`: random walks on digraphs
- `shortest_paths`: lengths of the shortest paths from many sources
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
