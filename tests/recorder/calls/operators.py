"""Walks, Laplacians, eigenpairs and shortest paths of graphs and affinities."""

from scipy.sparse.linalg import aslinearoperator

from vicinal import operators

from .. import inputs
from ..call import call, odd
from ..expect import array, error, has
from ..inputs import Input

WALKS = [inputs.graph, inputs.affinity, inputs.sparse_affinity]
DIGRAPHS = [inputs.digraph, Input("matrix", lambda: inputs.digraph.make().affinity())]
OPERATOR = Input("operator", lambda: aslinearoperator(inputs.affinity.make()))
PAIRS = has(values=array(4), vectors=array(90, 4))

CALLS = [
    *(
        call(operators.laplacian, W, kind=kind, expect=array(90, 90))
        for W in (inputs.graph, inputs.affinity)
        for kind in ("combinatorial", "symmetric", "random_walk")
    ),
    call(operators.laplacian, OPERATOR, kind="symmetric", expect=has(shape=(90, 90))),
    *(call(operators.transition, W, expect=array(90, 90)) for W in WALKS),
    *(call(operators.leading_eigenpairs, W, n_pairs=4, expect=PAIRS) for W in WALKS),
    call(operators.leading_eigenpairs, inputs.affinity, n_pairs=4, normalized=False, expect=PAIRS),
    call(operators.leading_eigenpairs, inputs.graph, n_pairs=91, expect=error("n_pairs=91")),
    call(operators.shortest_paths, inputs.tree, expect=array(90, 90)),
    call(
        operators.shortest_paths, inputs.graph, sources=[3, 40], expect=array(2, 90, finite=False)
    ),
    call(operators.shortest_paths, inputs.digraph, sources=[3], expect=array(1, 90, finite=False)),
    *(call(operators.stationary_distribution, W, expect=array(90)) for W in DIGRAPHS),
    call(operators.stationary_distribution, inputs.digraph, beta=0.9, expect=array(90)),
    *(call(operators.digraph_laplacian, W, as_matrix=True, expect=array(90, 90)) for W in DIGRAPHS),
    call(operators.digraph_laplacian, inputs.digraph, expect=has(shape=(90, 90))),
    *(call(operators.aligned_digraph_laplacian, W, expect=array(90, 90)) for W in DIGRAPHS),
    odd(operators.laplacian, inputs.ODD_AFFINITIES),
    odd(operators.transition, inputs.ODD_AFFINITIES),
    odd(operators.leading_eigenpairs, inputs.ODD_AFFINITIES, n_pairs=2),
    odd(operators.stationary_distribution, inputs.ODD_AFFINITIES),
    call(operators.shortest_paths, inputs.tree, sources=[90], expect=error("sources")),
]
