"""Graphs are unchanged by a conversion to another library and back."""

import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from sklearn.neighbors import NearestNeighbors, kneighbors_graph, radius_neighbors_graph
from test_graph import as_dict, graphs

from vicinal import Graph

X = np.random.default_rng(0).normal(size=(40, 3))
FORMATS = ["csr", "csc", "coo", "lil", "bsr"]


def zero_length_graph():
    return Graph.from_edges(4, [[0, 1], [1, 2]], [0.0, 2.0], [0.5, 1.0])


# --- scipy -------------------------------------------------------------------------------------


@given(graphs())
def test_lengths_round_trip_through_scipy(graph):
    back = Graph.from_scipy(graph.to_scipy("lengths"), directed=graph.directed)
    assert {k: v[0] for k, v in as_dict(back).items()} == {
        k: v[0] for k, v in as_dict(graph).items()
    }
    assert (back.strengths == 1).all()


@given(graphs())
def test_strengths_round_trip_through_scipy_with_unit_lengths(graph):
    matrix = graph.to_scipy("strengths")
    back = Graph.from_scipy(matrix, "strengths", directed=graph.directed)
    assert as_dict(back) == {pair: (1.0, values[1]) for pair, values in as_dict(graph).items()}
    assert abs(back.affinity(kernel="binary") - matrix).sum() == 0


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("layout", FORMATS)
def test_every_sparse_format_is_accepted_and_not_modified(layout, kind):
    dense = np.array([[0, 1, 0], [1, 0, 3], [0, 3, 0]], dtype=np.float32)
    matrix = getattr(sparse, f"{layout}_{kind}")(dense)
    graph = Graph.from_scipy(matrix)
    assert as_dict(graph) == {
        (0, 1): (1.0, 1.0),
        (1, 0): (1.0, 1.0),
        (1, 2): (3.0, 1.0),
        (2, 1): (3.0, 1.0),
    }
    assert (matrix.toarray() == dense).all()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_unsorted_repeated_and_explicit_zero_entries_are_accepted_and_not_modified(dtype):
    indptr, indices = np.array([0, 4, 5, 6], dtype), np.array([2, 1, 1, 0, 0, 0], dtype)
    data = np.array([0.0, 1.0, 2.0, 9.0, 3.0, 0.0])
    matrix = sparse.csr_array((data, indices, indptr), shape=(3, 3))
    matrix.has_sorted_indices = matrix.has_canonical_format = False
    graph = Graph.from_scipy(matrix)
    assert not graph.directed
    assert as_dict(graph) == {
        (0, 1): (3.0, 1.0),
        (0, 2): (0.0, 1.0),
        (1, 0): (3.0, 1.0),
        (2, 0): (0.0, 1.0),
    }
    assert matrix.indices.tolist() == [2, 1, 1, 0, 0, 0]
    assert matrix.data.tolist() == [0.0, 1.0, 2.0, 9.0, 3.0, 0.0]


def test_direction_is_inferred_from_symmetry():
    arrow = sparse.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]]))
    assert Graph.from_scipy(arrow).directed
    assert not Graph.from_scipy(arrow + arrow.T).directed
    assert Graph.from_scipy(arrow + arrow.T, directed=True).directed
    with pytest.raises(ValueError, match="directed=True"):
        Graph.from_scipy(arrow, directed=False)


@pytest.mark.parametrize(
    ("matrix", "what", "error", "message"),
    [
        (np.eye(3), "lengths", TypeError, "ndarray.*sparse"),
        (sparse.csr_array((2, 3)), "lengths", ValueError, r"\(2, 3\)"),
        (sparse.csr_array(np.array([[0, -1], [0, 0]])), "lengths", ValueError, "-1"),
        (sparse.csr_array(np.array([[0, np.nan], [0, 0]])), "lengths", ValueError, "nan"),
        (sparse.csr_array(np.array([[0, 2], [0, 0]])), "strengths", ValueError, "strengths"),
        (sparse.csr_array(np.array([[0, 2j], [0, 0]])), "lengths", TypeError, "complex"),
        (sparse.csr_array((2, 2)), "weights", ValueError, "what='weights'"),
    ],
)
def test_errors_name_the_invalid_matrix(matrix, what, error, message):
    with pytest.raises(error, match=message):
        Graph.from_scipy(matrix, what)


def test_to_scipy_rejects_unknown_values():
    with pytest.raises(ValueError, match="what='weights'"):
        zero_length_graph().to_scipy("weights")


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_scikit_learn_neighbour_graphs_lose_only_their_diagonal(mode, include_self):
    what = "lengths" if mode == "distance" else "strengths"
    matrices = [
        kneighbors_graph(X, 5, mode=mode, include_self=include_self),
        radius_neighbors_graph(X, 1.0, mode=mode, include_self=include_self),
        NearestNeighbors(n_neighbors=4).fit(X).kneighbors_graph(X, mode=mode),
    ]
    for matrix in matrices:
        expected = matrix.tolil()
        expected.setdiag(0)
        graph = Graph.from_scipy(matrix, what)
        assert graph.to_scipy(what).toarray() == pytest.approx(expected.toarray())


# --- networkx and igraph -----------------------------------------------------------------------


@given(graphs())
def test_networkx_and_back(graph):
    other = graph.to_networkx()
    assert other.is_directed() == graph.directed
    assert list(other) == list(range(graph.n_nodes))
    assert Graph.from_networkx(other) == graph


@pytest.mark.parametrize("other", [3, np.eye(2), "graph"])
def test_only_networkx_graphs_are_accepted(other):
    with pytest.raises(TypeError, match="networkx graph is needed"):
        Graph.from_networkx(other)


def test_networkx_nodes_are_numbered_in_their_order_and_attributes_chosen_by_name():
    other = nx.Graph()
    other.add_nodes_from(["c", "a", "b"])
    other.add_edge("a", "b", km=3.0, trust=0.5)
    other.add_edge("a", "c")
    other.add_edge("c", "c", km=1.0)
    graph = Graph.from_networkx(other, length="km", strength="trust")
    assert as_dict(graph) == {
        (0, 1): (1.0, 1.0),
        (1, 0): (1.0, 1.0),
        (1, 2): (3.0, 0.5),
        (2, 1): (3.0, 0.5),
    }


def test_parallel_edges_of_a_multigraph_become_the_shortest_and_strongest():
    other = nx.MultiDiGraph()
    other.add_edge(0, 1, length=3.0, strength=0.1)
    other.add_edge(0, 1, length=2.0, strength=0.7)
    other.add_edge(0, 1, length=4.0, strength=0.3)
    assert as_dict(Graph.from_networkx(other)) == {(0, 1): (2.0, 0.7)}


def test_weights_of_networkx_are_relative_strengths():
    club = nx.karate_club_graph()
    graph = Graph.from_networkx(club)
    expected = nx.to_numpy_array(club, weight="weight")
    assert expected.max() == 7
    np.testing.assert_allclose(graph.affinity(kernel="binary").toarray() * 7, expected, rtol=1e-15)
    assert (graph.lengths == 1).all()
    back = graph.to_networkx()
    np.testing.assert_allclose(nx.to_numpy_array(back) * 7, expected, rtol=1e-15)
    ranks, again = nx.pagerank(club), nx.pagerank(back)
    np.testing.assert_allclose(list(again.values()), list(ranks.values()), atol=1e-6)


def test_weights_of_networkx_can_be_lengths():
    club = nx.karate_club_graph()
    graph = Graph.from_networkx(club, weight="length")
    expected = nx.to_numpy_array(club, weight="weight")
    np.testing.assert_array_equal(graph.to_scipy("lengths").toarray(), expected)
    assert (graph.strengths == 1).all()
    back = graph.to_networkx(weight="length")
    assert dict(back.edges) == {
        edge: {"length": data["weight"], "strength": 1.0, "weight": data["weight"]}
        for edge, data in club.edges.items()
    }
    expected = nx.shortest_path_length(club, 0, 20, weight="weight")
    assert nx.shortest_path_length(back, 0, 20, weight="weight") == expected


def test_named_attributes_override_networkx_weights_which_can_be_ignored():
    other = nx.Graph()
    other.add_edge(0, 1, weight=0.25)
    other.add_edge(1, 2, weight=0.25, strength=0.5)
    other.add_edge(2, 3)
    strengths = [0.25, 0.25, 0.5, 0.5, 1.0, 1.0]
    np.testing.assert_array_equal(Graph.from_networkx(other).strengths, strengths)
    assert (Graph.from_networkx(other, weight=None).strengths[:2] == 1).all()
    assert "weight" not in Graph.from_networkx(other).to_networkx(weight=None).edges[0, 1]
    with pytest.raises(ValueError, match="weight='size'"):
        Graph.from_networkx(other, weight="size")
    other.add_edge(0, 3, weight="strong")
    with pytest.raises(TypeError, match="'weight' of the edges"):
        Graph.from_networkx(other)
    other.add_edge(0, 3, weight=-1)
    with pytest.raises(ValueError, match="strengths"):
        Graph.from_networkx(other)


@given(graphs())
def test_igraph_has_the_same_edges(graph):
    pytest.importorskip("igraph")
    other = graph.to_igraph()
    assert other.vcount() == graph.n_nodes
    assert other.is_directed() == graph.directed
    back = Graph.from_edges(
        other.vcount(),
        other.get_edgelist(),
        other.es["length"],
        other.es["strength"],
        directed=other.is_directed(),
    )
    assert back == graph


@pytest.mark.parametrize("module", ["igraph", "networkx"])
def test_errors_name_the_missing_library(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"{module}.*pip install {module}"):
        getattr(zero_length_graph(), f"to_{module}")()


# --- AnnData -----------------------------------------------------------------------------------


@pytest.fixture
def anndata():
    return pytest.importorskip("anndata")


@settings(max_examples=30)
@given(graphs())
def test_anndata_and_back(graph):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(np.zeros((graph.n_nodes, 1)))
    graph.to_anndata(adata, key="mine")
    assert Graph.from_anndata(adata, key="mine") == graph


def test_anndata_gets_the_layout_of_scanpy(anndata):
    adata = anndata.AnnData(np.zeros((4, 1)))
    zero_length_graph().to_anndata(adata)
    layout = adata.uns["vicinal"]
    assert layout["distances_key"] == "vicinal_distances"
    assert layout["connectivities_key"] == "vicinal_connectivities"
    assert layout["params"]["metric"] == "euclidean"
    assert adata.obsp["vicinal_distances"].nnz == 4
    assert adata.obsp["vicinal_connectivities"].toarray()[0, 1] == 0.5


def test_a_graph_survives_an_h5ad_file(anndata, tmp_path):
    adata = anndata.AnnData(np.zeros((4, 1)))
    for directed in (False, True):
        graph = Graph.from_edges(4, [[0, 1], [1, 2]], [0, 2.0], [0.5, 1], directed=directed)
        graph.to_anndata(adata)
        adata.write_h5ad(tmp_path / "graph.h5ad")
        assert Graph.from_anndata(anndata.read_h5ad(tmp_path / "graph.h5ad")) == graph


def test_neighbours_of_scanpy_are_read(anndata):
    """One-way distances, symmetric weights; the distance 0 of a pair of duplicates is dropped."""
    distances = np.zeros((4, 4))
    distances[0, 1], distances[1, 2], distances[2, 1] = 1.0, 2.0, 2.0
    weights = np.zeros((4, 4), dtype=np.float32)
    for i, j, weight in [(0, 1, 0.5), (1, 2, 1.0), (2, 3, 0.25)]:
        weights[i, j] = weights[j, i] = weight
    adata = anndata.AnnData(np.zeros((4, 1)))
    adata.obsp["distances"] = sparse.csr_matrix(distances)
    adata.obsp["connectivities"] = sparse.csr_matrix(weights)
    adata.uns["neighbors"] = {
        "distances_key": "distances",
        "connectivities_key": "connectivities",
        "params": {"n_neighbors": 2, "method": "umap", "metric": "euclidean"},
    }
    graph = Graph.from_anndata(adata, key="neighbors")
    assert not graph.directed
    assert graph.edges().tolist() == [[0, 1], [1, 2], [2, 3]]
    assert graph.lengths.tolist() == [1.0, 1.0, 2.0, 2.0, 0.0, 0.0]
    assert graph.strengths.tolist() == [0.5, 0.5, 1.0, 1.0, 0.25, 0.25]


def test_anndata_errors_name_the_key_and_the_size(anndata):
    adata = anndata.AnnData(np.zeros((3, 1)))
    with pytest.raises(KeyError, match=r"key='vicinal'.*neighbors"):
        Graph.from_anndata(adata)
    with pytest.raises(ValueError, match="3 observations, but the graph has 4 nodes"):
        zero_length_graph().to_anndata(adata)


# --- neighbour lists ---------------------------------------------------------------------------


def lists_oracle(indices, distances, k, how):
    """Entries by the definition, from dictionaries of each node's first k others."""
    lists = []
    for i, (row, lengths) in enumerate(zip(indices, distances, strict=True)):
        result = {}
        for j, length in zip(row, lengths, strict=True):
            if j >= 0 and j != i and len(result) < k:
                result[int(j)] = float(length)
        lists.append(result)
    entries = {}
    for i, result in enumerate(lists):
        for j, length in result.items():
            back = lists[j].get(i)
            if how == "directed":
                entries[i, j] = length
            elif how == "union" or back is not None:
                entries[i, j] = entries[j, i] = min(length, np.inf if back is None else back)
    return entries


@pytest.mark.parametrize("how", ["union", "mutual", "directed"])
@pytest.mark.parametrize("seed", range(5))
def test_graphs_of_neighbour_lists_follow_the_definition(how, seed):
    rng = np.random.default_rng(seed)
    n, width = 30, 6
    indices = np.array([rng.permutation(n)[:width] for _ in range(n)])
    distances = np.sort(rng.random((n, width)), axis=1)
    indices[rng.random((n, width)) < 0.1] = -1
    graph = Graph.from_kneighbors(
        indices, distances, mutual=how == "mutual", directed=how == "directed"
    )
    expected = lists_oracle(indices, distances, width, how)
    assert {pair: values[0] for pair, values in as_dict(graph).items()} == expected
    assert list(as_dict(graph)) == sorted(expected)


def test_repeated_neighbours_get_the_shorter_distance():
    graph = Graph.from_kneighbors([[1, 1], [0, -1]], [[3.0, 2.0], [4.0, 0.0]], directed=True)
    assert as_dict(graph) == {(0, 1): (2.0, 1.0), (1, 0): (4.0, 1.0)}


def test_long_lists_are_sorted():
    rng = np.random.default_rng(3)
    n = 2500
    indices = np.array([rng.permutation(n) for _ in range(3)] + [np.full(n, -1)] * (n - 3))
    distances = rng.random((n, n))
    graph = Graph.from_kneighbors(indices, distances, directed=True)
    for i in range(3):
        row = slice(graph.indptr[i], graph.indptr[i + 1])
        assert graph.indices[row].tolist() == [j for j in range(n) if j != i]
        place = np.argsort(indices[i])
        assert graph.lengths[row].tolist() == np.delete(distances[i][place], i).tolist()


def test_the_first_k_others_are_used_wherever_the_node_itself_appears():
    indices = [[1, 0, 2], [1, 2, 0], [0, 1, 2]]
    distances = [[0.0, 0.0, 2.0], [0.0, 1.0, 1.5], [1.0, 2.0, 3.0]]
    graph = Graph.from_kneighbors(indices, distances, n_neighbors=1, directed=True)
    assert graph.edges().tolist() == [[0, 1], [1, 2], [2, 0]]
    assert graph.lengths.tolist() == [0.0, 1.0, 1.0]


def test_scikit_learn_lists_give_the_scikit_learn_graph():
    distances, indices = NearestNeighbors(n_neighbors=5).fit(X).kneighbors()
    graph = Graph.from_kneighbors(indices.astype(np.int32), distances, directed=True)
    expected = kneighbors_graph(X, 5, mode="distance").toarray()
    assert graph.to_scipy().toarray() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("indices", "distances", "options", "error", "message"),
    [
        ([[0.5]], [[1]], {}, TypeError, "indices first"),
        ([[1], [0]], [[1.0, 2.0], [1.0, 2.0]], {}, ValueError, r"\(2, 1\).*\(2, 2\)"),
        ([1, 0], [1.0, 1.0], {}, ValueError, "indices has shape"),
        ([[1], [2]], [[1.0], [1.0]], {}, ValueError, "node 2"),
        ([[1], [-2]], [[1.0], [1.0]], {}, ValueError, "node -2"),
        ([[1], [0]], [[1.0], [np.nan]], {}, ValueError, r"distances\[1, 0\] = nan"),
        ([[1], [0]], [[-1.0], [1.0]], {}, ValueError, r"distances\[0, 0\] = -1"),
        ([[1], [0]], [["a"], ["b"]], {}, TypeError, "distances has dtype"),
        ([[1], [0]], [[1.0], [1.0]], {"n_neighbors": 2}, ValueError, "n_neighbors=2"),
        ([[0, 1], [1, 0]], [[0, 1], [0, 1]], {"n_neighbors": 2}, ValueError, "row 0.*1 neighbours"),
        ([[1], [0]], [[1], [1]], {"mutual": True, "directed": True}, ValueError, "contradict"),
    ],
)
def test_errors_name_the_invalid_list(indices, distances, options, error, message):
    with pytest.raises(error, match=message):
        Graph.from_kneighbors(indices, distances, **options)
