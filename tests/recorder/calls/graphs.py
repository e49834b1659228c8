"""Every builder on every form of points, given distances and lists, and what a graph does."""

import numpy as np
from scipy import sparse as sp

from vicinal import Graph, graphs
from vicinal.neighbors import NeighborSearch

from .. import inputs
from ..call import call, odd, on
from ..expect import array, each, equal, error, every, graph, near
from ..inputs import Input, chunked, dense, equal_rows, one_row, positive, sparse

# Each builder with its options, what holds for its graph of the points, and the forms that it refuses.
BUILDERS = [
    (graphs.knn, {"n_neighbors": 5}, {"components": 3}, [one_row]),
    (graphs.mst, {}, {"edges": 89}, []),
    (graphs.disjoint_mst, {"n_trees": 2}, {"edges": 178}, []),
    (graphs.perturbed_mst, {"n_trees": 5}, {"components": 1}, []),
    (graphs.epsilon_ball, {"radius": 2.0}, {}, [chunked]),
    (graphs.gabriel, {}, {"components": 1}, [sparse, chunked]),
    (graphs.relative_neighborhood, {}, {"components": 1}, [sparse, chunked]),
    (graphs.beta_skeleton, {"beta": 1.5}, {"components": 1}, [sparse, chunked]),
    (graphs.complete, {}, {"edges": 4005}, [chunked]),
    (graphs.gaussian, {}, {"edges": 4005}, [chunked]),
    (graphs.delaunay, {}, {"components": 1}, [sparse, chunked]),
    (graphs.contextual, {"n_neighbors": 6}, {"edges": 540, "directed": True}, [one_row]),
]
# Those that take distances instead of points without further options.
OF_DISTANCES = BUILDERS[:10]


def _expected(X, known, refused):
    if X in refused:
        return error("X")
    if X is one_row:
        return graph(0, nodes=1, directed=known.get("directed", False))
    # Equal rows are their own neighbours, so fewer other rows are connected.
    return graph(**(known | {"components": None} if X is equal_rows else known))


def own_metric(x, y):
    return float(np.abs(x - y).max() + np.abs(x[0] - y[0]))


def own_descriptor(context):
    return context.mean(axis=0) / 2


def of_search(X, n_jobs=None):
    found = NeighborSearch(X, n_jobs=n_jobs)
    return [graphs.knn(found, 5, n_jobs=n_jobs), graphs.epsilon_ball(found, 2.0, n_jobs=n_jobs)]


def properties(of):
    names = ["n_nodes", "n_edges", "degrees", "components", "n_components", "n_isolates"]
    return {name: getattr(of, name) for name in names} | {"edges": of.edges(), "text": repr(of)}


def algebra(one, other):
    results = {"or": one | other, "and": one & other, "le": one <= other, "lt": one < other}
    return results | {"eq": one == other, "same hash": hash(one) == hash(one.astype(float))}


def networkx_and_back(of):
    there = of.to_networkx()
    edges = [(*pair, dict(values)) for *pair, values in there.edges(data=True)]
    return {"nodes": list(there.nodes), "edges": edges, "back": Graph.from_networkx(there)}


def anndata_and_back(of):
    import anndata

    adata = anndata.AnnData(np.zeros((of.n_nodes, 1)))
    of.to_anndata(adata)
    return {"obsp": dict(adata.obsp), "uns": dict(adata.uns), "back": Graph.from_anndata(adata)}


def _lists(k):
    return each(array(90, k, dtype=np.int64), array(90, k))


def _counts(edges, components):
    return every({"n_edges": equal(edges), "n_components": equal(components)})


LINE = Input("line in the plane", lambda: np.outer(np.arange(9.0), [1, 2]))
IMAGE = Input("image", lambda: np.arange(12.0).reshape(3, 4))
UPPER = Input("upper triangle", lambda: sp.csr_array(np.triu(np.ones((4, 4)))))
OFFSETS = Input("offsets", lambda: np.linspace(0, 9, 90))
PRODUCTS = Input("inner products", lambda: dense.make() @ dense.make().T)
INDICES = Input("indices", lambda: inputs.lists.make()[0])
LENGTHS = Input("lengths", lambda: inputs.lists.make()[1])
DIRECTED = graph(directed=True)
TRIANGLE = [[0, 1], [1, 2], [2, 0]]

CALLS = [
    *(
        call(build, X, expect=_expected(X, known, refused), **options)
        for build, options, known, refused in BUILDERS
        for X in inputs.FORMS
    ),
    *(
        call(build, inputs.distances, metric="precomputed", expect=graph(), **options)
        for build, options, *_ in OF_DISTANCES
    ),
    *(
        call(build, X, metric=metric, expect=graph(), **options)
        for build, options in [(graphs.knn, {}), (graphs.mst, {}), (graphs.disjoint_mst, {})]
        for X, metric in [
            (positive, "cosine"),
            (sparse, "cosine"),
            (dense, "manhattan"),
            (dense, "chebyshev"),
            (dense, own_metric),
        ]
    ),
    *on(inputs.MORE_FORMS, call, graphs.knn, n_neighbors=5, expect=graph()),
    *on(inputs.MORE_FORMS, call, graphs.mst, expect=graph(89)),
    call(graphs.knn, dense, mutual=True, expect=graph()),
    call(graphs.knn, dense, directed=True, expect=graph(900, directed=True)),
    call(graphs.knn, equal_rows, duplicates="keep", expect=graph()),
    call(graphs.knn, dense, method="approximate", recall=0.9, expect=graph()),
    call(graphs.knn, inputs.lists, n_neighbors=5, expect=graph()),
    call(graphs.knn, inputs.stored_distances, metric="precomputed", expect=graph()),
    call(graphs.knn, inputs.integers, n_neighbors=5, expect=graph(components=3)),
    call(graphs.knn, inputs.one_place, n_neighbors=3, expect=graph(nodes=12)),
    call(of_search, dense, expect=each(graph(), graph())),
    call(
        graphs.epsilon_ball,
        inputs.stored_distances,
        radius=1.0,
        metric="precomputed",
        expect=graph(),
    ),
    call(graphs.mst, inputs.integers, expect=graph(89)),
    call(graphs.mst, inputs.one_place, expect=graph(11, nodes=12)),
    call(graphs.mst, inputs.two_rows, expect=graph(1, nodes=2)),
    call(graphs.mst, dense, offsets=OFFSETS, offset_scale=2.0, expect=graph(89)),
    call(graphs.perturbed_mst, dense, n_trees=5, noise_model="aligned", expect=graph()),
    call(graphs.perturbed_mst, dense, n_trees=5, noise=1.0, expect=graph()),
    call(graphs.connecting_neighbors, dense, expect=equal(30)),
    call(graphs.connecting_neighbors, inputs.distances, metric="precomputed", expect=equal(30)),
    call(graphs.beta_skeleton, dense, beta=0.8, expect=graph()),
    call(graphs.gabriel, equal_rows, duplicates="merge", expect=graph()),
    call(graphs.delaunay, equal_rows, duplicates="merge", expect=graph()),
    call(graphs.delaunay, LINE, expect=error("no Delaunay triangulation")),
    call(graphs.delaunay, LINE, coplanar="joggle", expect=graph(nodes=9)),
    call(graphs.gaussian, dense, scale="local", expect=graph(4005)),
    call(graphs.gaussian, dense, scale=2.0, expect=graph(4005)),
    call(graphs.contextual, dense, descriptor="centroid", expect=graph(900, directed=True)),
    call(graphs.contextual, dense, descriptor=own_descriptor, expect=graph(900, directed=True)),
    call(graphs.contextual, dense, n_neighbors=1, descriptor="trivial", expect=DIRECTED),
    call(graphs.contextual, dense, sigma=0.5, n_contexts=10, expect=DIRECTED),
    call(graphs.contextual, positive, metric="cosine", expect=graph(900, directed=True)),
    call(graphs.contextual, inputs.distances, metric="precomputed", n_features=3, expect=DIRECTED),
    *(
        call(graphs.contextual_distance, X, n_neighbors=6, expect=_lists(7))
        for X in inputs.FORMS
        if X is not one_row
    ),
    call(graphs.contextual_distance, dense, neighbors=inputs.lists, expect=_lists(20)),
    call(
        graphs.contextual_distance,
        inputs.distances,
        metric="precomputed",
        n_features=3,
        expect=_lists(11),
    ),
    call(graphs.contextual_distance, PRODUCTS, metric="gram", n_features=3, expect=_lists(11)),
    call(graphs.grid, shape=(4, 5), expect=graph(55, nodes=20)),
    call(graphs.grid, shape=(3, 3, 3), connectivity=6, expect=graph(54, nodes=27)),
    call(graphs.grid, image=IMAGE, expect=graph(nodes=12)),
    *(
        call(graphs.affinity, X, scale=scale, kernel=kernel, expect=array(90, 90))
        for X in (inputs.graph, inputs.digraph)
        for scale, kernel in [("auto", "gaussian"), ("local", "inverse"), (2.0, "binary")]
    ),
    call(graphs.edge_scale, inputs.graph, expect=near(1.2096758306532815)),
    call(graphs.edge_scale, inputs.graph, scale="local", expect=array(90)),
    call(properties, inputs.graph, expect=_counts(351, 3)),
    call(properties, inputs.digraph, expect=_counts(720, 3)),
    call(algebra, inputs.graph, inputs.tree, expect=every({"or": graph(353), "and": graph(87)})),
    *(
        call(Graph.symmetrize, inputs.digraph, how=how, expect=graph(edges))
        for how, edges in [("union", 464), ("intersection", 256), ("mean", 464)]
    ),
    call(Graph.subgraph, inputs.graph, [3, 1, 40, 41], expect=graph(nodes=4)),
    call(Graph.connect, inputs.graph, expect=graph(components=1)),
    call(Graph.connect, inputs.graph, n_links=3, expect=graph(components=1)),
    call(Graph.connect, inputs.loose_graph, expect=error("points|X")),
    call(Graph.astype, inputs.graph, dtype="float32", expect=graph(dtype=np.float32)),
    call(Graph.affinity, inputs.graph, expect=array(90, 90)),
    call(Graph.to_scipy, inputs.graph, expect=array(90, 90)),
    call(Graph.to_scipy, inputs.digraph, what="strengths", expect=array(90, 90)),
    call(Graph.from_scipy, inputs.stored_distances, expect=graph()),
    call(Graph.from_scipy, UPPER, directed=True, expect=graph(6, nodes=4, directed=True)),
    call(Graph.from_scipy, UPPER, directed=False, expect=error("symmetric|directed")),
    call(networkx_and_back, inputs.graph, expect=every({"back": graph(351)})),
    call(networkx_and_back, inputs.digraph, expect=every({"back": DIRECTED})),
    call(anndata_and_back, inputs.graph, expect=every({"back": graph(351)})),
    call(Graph.to_igraph, inputs.tree, expect=error("igraph", ImportError)),
    call(Graph.from_edges, 4, TRIANGLE, [1.0, 2.0, 0.0], expect=graph(3, nodes=4)),
    call(
        Graph.from_edges,
        3,
        TRIANGLE,
        [1.0, 2.0, 3.0],
        [1, 0.5, 1],
        directed=True,
        expect=graph(3, nodes=3, directed=True),
    ),
    call(Graph.from_kneighbors, INDICES, LENGTHS, n_neighbors=4, expect=graph()),
    call(Graph, [0, 1, 2], [1, 0], [3.0, 3.0], expect=graph(1, nodes=2)),
    call(Graph, [0, 1, 2], [1, 0], [3.0, 4.0], expect=error("symmetric|directed")),
    call(Graph, [0, 1], [0], [3.0], expect=error("loop")),
    call(Graph.from_edges, 3, TRIANGLE, [1.0, np.nan, 1.0], expect=error("lengths")),
    call(Graph.from_edges, 2, TRIANGLE, [1.0, 1.0, 1.0], expect=error("2")),
    *(odd(build, inputs.ODD, **options) for build, options, *_ in BUILDERS),
    *(
        odd(build, inputs.ODD_DISTANCES, metric="precomputed", **options)
        for build, options, *_ in OF_DISTANCES
    ),
    call(graphs.knn, dense, n_neighbors=90, expect=error("89")),
    call(graphs.knn, dense, n_neighbors=0, expect=error("n_neighbors=0")),
    call(graphs.knn, dense, metric="bogus", expect=error("bogus")),
    call(graphs.disjoint_mst, dense, n_trees=80, expect=error("n_trees")),
    call(graphs.epsilon_ball, dense, radius=-1.0, expect=error("radius=-1")),
    call(graphs.beta_skeleton, dense, beta=0.0, expect=error("beta=0")),
    call(graphs.grid, shape=(0, 3), expect=error("shape")),
]
