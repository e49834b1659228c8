"""Proximity graphs: which points are connected.

Every function takes points (or, with ``metric="precomputed"``, distances) and returns a `Graph`.

- neighbourhoods: `knn`, `epsilon_ball`, `complete`, `gaussian`; `connecting_neighbors` is the smallest
  number of neighbours of a connected graph
- spanning trees and their ensembles: `mst`, `disjoint_mst`, `perturbed_mst`
- empty regions: `delaunay`, `gabriel`, `relative_neighborhood`, `beta_skeleton`
- the same graphs with points inserted and removed later: `GrowingKNN`, `GrowingMST`
- images: `grid`
- contextual distances to neighbours, directed: `contextual`
- sparse representations of each point by others, directed: `l1`, `structure_aware_l1`
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "graph": ["Graph"],
        "neighborhoods": ["connecting_neighbors", "epsilon_ball", "knn"],
        "_complete": ["complete", "gaussian"],
        "perturbed_trees": ["perturbed_mst"],
        "trees": ["disjoint_mst", "mst"],
        "_delaunay": ["delaunay"],
        "empty_region": ["beta_skeleton", "gabriel", "relative_neighborhood"],
        "_grid": ["grid"],
        "_contextual": ["contextual"],
        "_contextual_distance": ["contextual_distance"],
        "growing": ["GrowingKNN", "GrowingMST"],
        "affinities": ["affinity", "edge_scale"],
    },
)
