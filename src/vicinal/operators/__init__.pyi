from vicinal.operators._shortest_paths import shortest_paths as shortest_paths
from vicinal.operators.aligned_laplacian import (
    aligned_digraph_laplacian as aligned_digraph_laplacian,
)
from vicinal.operators.digraph import digraph_laplacian as digraph_laplacian
from vicinal.operators.eigenpairs import leading_eigenpairs as leading_eigenpairs
from vicinal.operators.laplacians import laplacian as laplacian
from vicinal.operators.laplacians import transition as transition
from vicinal.operators.stationary import stationary_distribution as stationary_distribution
