"""How each library is called, and how its result is checked.

Imports are inside the calls, so that a process loads only what it measures, and the first call includes
the import.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

K = 15
RECALL = 0.99


class Contender(NamedTuple):
    """``run(X, **setting)`` is timed; ``facts(result, X)`` describes its result, untimed.

    With ``prepare``, also untimed, it runs on ``prepare(X)``. A contender that processes only a part of the
    points, because all would take too long, has a ``factor`` by which its time is multiplied.
    """

    module: str
    run: Callable[..., Any]
    facts: Callable[[Any, np.ndarray], dict[str, Any]]
    settings: tuple[dict[str, Any], ...] = ({},)
    prepare: Callable[[np.ndarray], Any] | None = None
    factor: float = 1.0


def installed(contender: Contender) -> bool:
    """Whether the library of a contender can be imported."""
    return find_spec(contender.module) is not None


# Facts about results that can be compared between libraries


def graph_facts(graph: Any, X: np.ndarray) -> dict[str, Any]:
    """Facts of a vicinal Graph, including its size in memory."""
    arrays = (graph.indptr, graph.indices, graph.lengths, graph.strengths)
    return {
        **edge_facts(graph.edges(), X),
        "output_bytes": sum(array.nbytes for array in arrays),
    }


def edge_facts(edges: Iterable[Any], X: np.ndarray) -> dict[str, Any]:
    """Number, total length and fingerprint of a set of undirected edges."""
    pairs = np.unique(np.sort(np.asarray(edges, dtype=np.int64).reshape(-1, 2), axis=1), axis=0)
    weight = float(np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1).sum())
    digest = hashlib.sha256(pairs.tobytes()).hexdigest()[:12]
    return {"edges": len(pairs), "weight": weight, "fingerprint": digest}


def neighbor_facts(indices: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Recall of k neighbours on a sample of the points; the point itself may be among them."""
    sample = np.random.default_rng(1).choice(len(X), min(500, len(X)), replace=False)
    n_found = 0
    for i in sample:
        distances = ((X - X[i]) ** 2).sum(axis=1)
        distances[i] = np.inf
        kth_distance = np.partition(distances, K - 1)[K - 1]
        neighbors = np.asarray([j for j in indices[i] if j not in (i, -1)][:K], dtype=np.int64)
        # Compared by distance, so that the choice among ties is not an error.
        n_found += int((distances[neighbors] <= kth_distance * (1 + 1e-6)).sum())
    return {"recall": n_found / (K * len(sample))}


# Spanning trees


def _vicinal(name: str, *arguments: Any, **keywords: Any) -> Contender:
    def run(X: np.ndarray) -> Any:
        import vicinal

        return getattr(vicinal.graphs, name)(X, *arguments, **keywords)

    return Contender("vicinal", run, graph_facts)


def _quitefastmst(X: np.ndarray) -> Any:
    import quitefastmst

    return quitefastmst.mst_euclid(X)[1]


def _fast_hdbscan(X: np.ndarray) -> Any:
    from fast_hdbscan.hdbscan import compute_minimum_spanning_tree

    return compute_minimum_spanning_tree(X, min_samples=1)[0][:, :2]


def _scipy_tree(X: np.ndarray) -> Any:
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial.distance import pdist, squareform

    tree = minimum_spanning_tree(squareform(pdist(X)), overwrite=True).tocoo()
    return np.column_stack([tree.row, tree.col])


# Empty regions


def _libpysal(method: str) -> Callable[[np.ndarray], Any]:
    def run(X: np.ndarray) -> Any:
        from libpysal.graph import Graph

        return Graph.build_triangulation(X, method=method)

    return run


def _libpysal_facts(graph: Any, X: np.ndarray) -> dict[str, Any]:
    pairs = graph.adjacency.index.to_frame().to_numpy()
    return edge_facts(pairs[pairs[:, 0] != pairs[:, 1]], X)


def _nglpy(beta: float) -> Callable[[np.ndarray], Any]:
    def run(X: np.ndarray) -> Any:
        import nglpy

        # Without a limit on neighbours it tests all pairs, which is its exact mode.
        graph = nglpy.EmptyRegionGraph(max_neighbors=-1, relaxed=False, beta=beta)
        graph.build(X)
        return graph.neighbors()

    return run


def _nglpy_facts(neighbors: Any, X: np.ndarray) -> dict[str, Any]:
    return edge_facts([(i, j) for i, others in neighbors.items() for j in others], X)


# Neighbours


def _vicinal_neighbors(method: Any) -> Contender:
    def run(X: np.ndarray) -> Any:
        import vicinal

        return vicinal.neighbors.NeighborSearch(X, method=method, random_state=0).nearest(K)

    def facts(result: Any, X: np.ndarray) -> dict[str, Any]:
        size = sum(array.nbytes for array in result)
        return {**neighbor_facts(result[0], X), "output_bytes": size}

    return Contender("vicinal", run, facts)


def _ckdtree(X: np.ndarray) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(X).query(X, K + 1, workers=-1)[1]


def _sklearn(X: np.ndarray) -> Any:
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=K, n_jobs=-1).fit(X)
    return search.kneighbors(return_distance=True)[1]


def _faiss(index_of: Callable[..., Any]) -> Callable[..., Any]:
    def run(X: np.ndarray, **setting: int) -> Any:
        import faiss

        points = np.ascontiguousarray(X, dtype=np.float32)
        index = index_of(faiss, points, **setting)
        index.add(points)
        return index.search(points, K + 1)[1]

    return run


def _flat(faiss: Any, points: np.ndarray) -> Any:
    return faiss.IndexFlatL2(points.shape[1])


def _ivf(faiss: Any, points: np.ndarray, nprobe: int) -> Any:
    n_cells = int(4 * np.sqrt(len(points)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(points.shape[1]), points.shape[1], n_cells)
    index.train(points)
    index.nprobe = nprobe
    return index


def _hnsw(faiss: Any, points: np.ndarray, links: int, build: int, search: int) -> Any:
    index = faiss.IndexHNSWFlat(points.shape[1], links)
    index.hnsw.efConstruction = build
    index.hnsw.efSearch = search
    return index


def _hnswlib(X: np.ndarray, links: int, build: int, search: int) -> Any:
    import hnswlib

    points = np.ascontiguousarray(X, dtype=np.float32)
    index = hnswlib.Index(space="l2", dim=points.shape[1])
    index.init_index(len(points), ef_construction=build, M=links)
    index.add_items(points)
    index.set_ef(search)
    return index.knn_query(points, K + 1)[0].astype(np.int64)


def _usearch(X: np.ndarray, links: int, build: int, search: int) -> Any:
    from usearch.index import Index

    points = np.ascontiguousarray(X, dtype=np.float32)
    index = Index(
        ndim=points.shape[1],
        metric="l2sq",
        dtype="f32",
        connectivity=links,
        expansion_add=build,
        expansion_search=search,
    )
    index.add(np.arange(len(points)), points)
    return index.search(points, K + 1).keys.astype(np.int64)


# Cheapest first: the first setting that reaches the recall counts.
GRAPH_SETTINGS = tuple(
    {"links": links, "build": build, "search": search}
    for links, build, search in [
        (6, 20, 18),
        (8, 24, 20),
        (8, 32, 28),
        (12, 40, 32),
        (16, 60, 48),
        (16, 100, 80),
        (24, 120, 140),
    ]
)
CELL_SETTINGS = tuple({"nprobe": nprobe} for nprobe in (8, 16, 32, 64, 128))


CONTENDERS: dict[str, dict[str, Contender]] = {
    "mst": {
        "vicinal": _vicinal("mst"),
        "quitefastmst": Contender("quitefastmst", _quitefastmst, edge_facts),
        "fast_hdbscan": Contender("fast_hdbscan", _fast_hdbscan, edge_facts),
        "scipy dense": Contender("scipy", _scipy_tree, edge_facts),
    },
    "disjoint_mst": {"vicinal": _vicinal("disjoint_mst", 4), "vicinal mst": _vicinal("mst")},
    "perturbed_mst": {
        "vicinal": _vicinal("perturbed_mst", 20, random_state=0),
        "vicinal mst": _vicinal("mst"),
    },
    "gabriel": {
        "vicinal": _vicinal("gabriel"),
        "libpysal": Contender("libpysal", _libpysal("gabriel"), _libpysal_facts),
        "nglpy": Contender("nglpy", _nglpy(1.0), _nglpy_facts),
    },
    "relative_neighborhood": {
        "vicinal": _vicinal("relative_neighborhood"),
        "libpysal": Contender("libpysal", _libpysal("relative_neighborhood"), _libpysal_facts),
        "nglpy": Contender("nglpy", _nglpy(2.0), _nglpy_facts),
    },
    "knn_exact": {
        "vicinal": _vicinal_neighbors("exact"),
        "scipy cKDTree": Contender("scipy", _ckdtree, neighbor_facts),
        "scikit-learn": Contender("sklearn", _sklearn, neighbor_facts),
        "faiss flat": Contender("faiss", _faiss(_flat), neighbor_facts),
    },
    "knn_approximate": {
        "vicinal": _vicinal_neighbors("approximate"),
        "hnswlib": Contender("hnswlib", _hnswlib, neighbor_facts, GRAPH_SETTINGS),
        "usearch": Contender("usearch", _usearch, neighbor_facts, GRAPH_SETTINGS),
        "faiss IVF": Contender("faiss", _faiss(_ivf), neighbor_facts, CELL_SETTINGS),
        "faiss HNSW": Contender("faiss", _faiss(_hnsw), neighbor_facts, GRAPH_SETTINGS),
    },
}
