"""Operators: what flows along the edges of a graph.

- `transition`, `laplacian`: the random walk of an affinity and its Laplacians
- `leading_eigenpairs`: the largest eigenvalues and their vectors, components handled exactly
- `stationary_distribution`, `digraph_laplacian`, `aligned_digraph_laplacian`: walks along directed edges
- `shortest_paths`: lengths of the shortest paths from many sources
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "laplacians": ["laplacian", "transition"],
        "eigenpairs": ["leading_eigenpairs"],
        "stationary": ["stationary_distribution"],
        "digraph": ["digraph_laplacian"],
        "aligned_laplacian": ["aligned_digraph_laplacian"],
        "_shortest_paths": ["shortest_paths"],
    },
)
