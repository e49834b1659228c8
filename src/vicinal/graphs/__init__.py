"""Proximity graphs: which points are connected.

Every function takes points (or, with ``metric="precomputed"``, distances) and returns a `Graph`.

- neighbourhoods: `knn`, `epsilon_ball`, `complete`, `gaussian`
- spanning trees and their ensembles: `mst`, `disjoint_mst`, `perturbed_mst`
- empty regions: `delaunay`, `gabriel`, `relative_neighborhood`, `beta_skeleton`
- images: `grid`
- how neighbours matter to each other, with direction: `contextual`
- which few others represent a point, with direction: `l1`, `structure_aware_l1`
"""

from vicinal._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "graph": ["Graph"],
        "neighborhoods": ["complete", "epsilon_ball", "gaussian", "knn"],
        "trees": ["disjoint_mst", "mst", "perturbed_mst"],
        "triangulation": ["delaunay"],
        "empty_region": ["beta_skeleton", "gabriel", "relative_neighborhood"],
        "lattice": ["grid"],
        "context": ["contextual"],
        "self_representation": ["l1"],
        "structure_aware": ["structure_aware_l1"],
    },
)
