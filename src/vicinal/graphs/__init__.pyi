from vicinal.codes._l1 import l1 as l1
from vicinal.codes.structure_aware import structure_aware_l1 as structure_aware_l1
from vicinal.graphs._complete import complete as complete
from vicinal.graphs._complete import gaussian as gaussian
from vicinal.graphs._contextual import contextual as contextual
from vicinal.graphs._contextual_distance import contextual_distance as contextual_distance
from vicinal.graphs._delaunay import delaunay as delaunay
from vicinal.graphs._grid import grid as grid
from vicinal.graphs.affinities import affinity as affinity
from vicinal.graphs.affinities import edge_scale as edge_scale
from vicinal.graphs.empty_region import beta_skeleton as beta_skeleton
from vicinal.graphs.empty_region import gabriel as gabriel
from vicinal.graphs.empty_region import relative_neighborhood as relative_neighborhood
from vicinal.graphs.graph import Graph as Graph
from vicinal.graphs.growing import GrowingKNN as GrowingKNN
from vicinal.graphs.growing import GrowingMST as GrowingMST
from vicinal.graphs.neighborhoods import connecting_neighbors as connecting_neighbors
from vicinal.graphs.neighborhoods import epsilon_ball as epsilon_ball
from vicinal.graphs.neighborhoods import knn as knn
from vicinal.graphs.perturbed_trees import perturbed_mst as perturbed_mst
from vicinal.graphs.trees import disjoint_mst as disjoint_mst
from vicinal.graphs.trees import mst as mst

__all__: list[str]
__all__ = [
    "Graph",
    "GrowingKNN",
    "GrowingMST",
    "affinity",
    "beta_skeleton",
    "complete",
    "connecting_neighbors",
    "contextual",
    "contextual_distance",
    "delaunay",
    "disjoint_mst",
    "edge_scale",
    "epsilon_ball",
    "gabriel",
    "gaussian",
    "grid",
    "knn",
    "l1",
    "mst",
    "perturbed_mst",
    "relative_neighborhood",
    "structure_aware_l1",
]
