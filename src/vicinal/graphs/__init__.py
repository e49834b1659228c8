"""Proximity graphs: which points are connected.

Every function takes points (or, with ``metric="precomputed"``, distances) and returns a `Graph`.

- neighbourhoods: `knn`, `epsilon_ball`, `complete`, `gaussian`; `connecting_neighbors` is the smallest
  number of neighbours of a connected graph
- spanning trees and their ensembles: `mst`, `disjoint_mst`, `perturbed_mst`
- empty regions: `delaunay`, `gabriel`, `relative_neighborhood`, `beta_skeleton`
- images: `grid`
- contextual distances to neighbours, directed: `contextual`
- sparse representations of each point by others, directed: `l1`, `structure_aware_l1`
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
