"""The contract that all graph builders share, tested on every one of them."""

import inspect

import numpy as np
import pytest

from vicinal import Graph, graphs

# Arguments besides the points, small enough for every table below.
ARGUMENTS = {
    "knn": {"n_neighbors": 3},
    "mutual knn": {"n_neighbors": 3, "mutual": True},
    "directed knn": {"n_neighbors": 3, "directed": True},
    "epsilon_ball": {"radius": 0.4},
    "complete": {},
    "gaussian": {},
    "mst": {},
    "disjoint_mst": {"n_trees": 2},
    "perturbed_mst": {"n_trees": 5, "n_neighbors": 3, "random_state": 0},
    "delaunay": {},
    "gabriel": {},
    "relative_neighborhood": {},
    "beta_skeleton": {"beta": 1.5},
    "contextual": {"n_neighbors": 3},
    "centroid contextual": {"n_neighbors": 3, "descriptor": "centroid"},
    "l1": {},
    "exact l1": {"equality": True},
    "structure_aware_l1": {"n_atoms": 0.5},
    "euclidean structure_aware_l1": {"n_atoms": 0.5, "ranking": "euclidean"},
    "local structure_aware_l1": {"n_atoms": 0.5, "n_neighbors": 2},
}
CODES = {name for name in ARGUMENTS if name.endswith("l1")}
DIRECTED = {"directed knn", "contextual", "centroid contextual", *CODES}
# Graphs of sparse codes need inner products.
NO_DISTANCES = {"delaunay", *CODES}
CONNECTED = [
    "mst",
    "disjoint_mst",
    "complete",
    "gaussian",
    "delaunay",
    "gabriel",
    "relative_neighborhood",
    "beta_skeleton",
]

every_builder = pytest.mark.parametrize("name", ARGUMENTS)
# A triangulation needs coordinates, and Qhull uses one thread.
all_but_delaunay = pytest.mark.parametrize("name", [n for n in ARGUMENTS if n != "delaunay"])
builder_of_distances = pytest.mark.parametrize(
    "name", [n for n in ARGUMENTS if n not in NO_DISTANCES]
)


def builder(name):
    return getattr(graphs, name.rpartition(" ")[2])


def build(name, X, **changes):
    return builder(name)(X, **{**ARGUMENTS[name], **changes})


@pytest.fixture
def points():
    return np.random.default_rng(7).random((40, 3))


def test_every_builder_of_points_is_tested():
    assert {name.rpartition(" ")[2] for name in ARGUMENTS} == set(graphs.__all__) - {
        "Graph",
        "affinity",
        "connecting_neighbors",
        "contextual_distance",
        "edge_scale",
        "grid",
    }


@every_builder
def test_returns_a_graph_that_remembers_its_points(name, points):
    graph = build(name, points)
    assert isinstance(graph, Graph)
    assert graph.n_nodes == len(points)
    assert graph.metric == "euclidean"
    assert graph.directed == (name in DIRECTED)
    np.testing.assert_array_equal(graph.points, points)
    edges = graph.edges()
    assert len(edges) > 0
    if name.endswith("contextual"):
        # Its lengths are not distances between points.
        return
    listed = graph.indices > np.repeat(np.arange(40), graph.degrees)
    lengths = graph.lengths if graph.directed else graph.lengths[listed]
    expected = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    np.testing.assert_allclose(lengths, expected, rtol=1e-12)


@every_builder
def test_input_is_not_changed(name, points):
    before = points.copy()
    build(name, points)
    np.testing.assert_array_equal(points, before)
    assert points.flags.writeable


@every_builder
def test_every_form_of_a_table_gives_the_same_graph(name):
    pandas = pytest.importorskip("pandas")
    whole = np.random.default_rng(3).permutation(200)[:60].reshape(20, 3)
    X = whole.astype(np.float64)
    expected = build(name, X, **({"radius": 60} if name == "epsilon_ball" else {}))
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.zeros((40, 6))
    wide[::2, ::2] = X
    forms = {
        "read-only": frozen,
        "strided": wide[::2, ::2],
        "fortran": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "int": whole,
        "list": X.tolist(),
        "frame": pandas.DataFrame(X),
    }
    for form, table in forms.items():
        graph = build(name, table, **({"radius": 60} if name == "epsilon_ball" else {}))
        assert graph == expected, form


@all_but_delaunay
def test_any_number_of_threads_gives_the_same_bits(name):
    X = np.random.default_rng(5).normal(
        size=(500 if name in {"complete", "gaussian", *CODES} else 3000, 2)
    )
    assert build(name, X, n_jobs=1) == build(name, X, n_jobs=2)


@every_builder
def test_an_unknown_keyword_is_a_type_error(name, points):
    with pytest.raises(TypeError, match="neighbours"):
        build(name, points, neighbours=3)


@every_builder
@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([[0.0, np.nan], [1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], "NaN"),
        ([[0.0, np.inf], [1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], "infinite"),
        ([["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]], "numbers"),
        ([0.0, 1.0, 2.0, 3.0], "reshape"),
        (np.empty((0, 2)), "at least"),
        (np.empty((4, 0)), "at least"),
        (None, "numbers|shape"),
    ],
)
def test_bad_points_are_named_with_a_remedy(name, bad, words):
    with pytest.raises((TypeError, ValueError), match=rf"X .*({words})"):
        build(name, bad)


@builder_of_distances
def test_a_bad_distance_matrix_is_named(name):
    X = np.random.default_rng(0).random((6, 2))
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    asymmetric, negative, wide = distances.copy(), distances.copy(), distances[:, :4]
    asymmetric[0, 1] += 1
    negative[0, 1] = negative[1, 0] = -1
    for bad, words in [(asymmetric, "symmetric"), (negative, "negative"), (wide, "square")]:
        with pytest.raises(ValueError, match=f"X.*{words}"):
            build(name, bad, metric="precomputed")


# Jittered distances are not the distances of jittered points; coding lengths depend on the origin.
@pytest.mark.parametrize(
    "name", [n for n in ARGUMENTS if n not in {*NO_DISTANCES, "perturbed_mst", "contextual"}]
)
def test_distances_give_the_graph_of_their_points(name):
    X = np.random.default_rng(4).random((25, 3))
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    expected = build(name, X)
    graph = build(name, distances, metric="precomputed")
    np.testing.assert_array_equal(graph.edges(), expected.edges())
    atol = 1e-12 if name.endswith("contextual") else 0.0  # differences of distances
    np.testing.assert_allclose(graph.lengths, expected.lengths, rtol=1e-12, atol=atol)
    assert graph.metric == "precomputed"


@every_builder
def test_one_point_has_no_edges(name):
    if name.endswith(("knn", "contextual")):
        with pytest.raises(ValueError, match="n_neighbors=3"):
            build(name, [[1.0, 2.0]])
        return
    changes = {"n_trees": 1} if name == "disjoint_mst" else {}
    graph = build(name, [[1.0, 2.0]], **changes)
    assert (graph.n_nodes, graph.n_edges, graph.n_isolates) == (1, 0, 1)


# A context needs three points, and the origin has no direction to represent.
@pytest.mark.parametrize("name", [n for n in ARGUMENTS if not n.endswith(("contextual", "l1"))])
@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_two_points_have_one_edge(name, n_features):
    X = np.zeros((2, n_features))
    X[1, 0] = 0.25
    changes = {"n_trees": 1} if name in {"disjoint_mst", "perturbed_mst"} else {}
    changes |= {"n_neighbors": 1} if "n_neighbors" in ARGUMENTS[name] else {}
    graph = build(name, X, **changes)
    assert graph.n_edges == (2 if graph.directed else 1)
    np.testing.assert_array_equal(graph.lengths, [0.25, 0.25])


@pytest.mark.parametrize("name", CONNECTED)
def test_duplicates_are_joined_by_edges_of_length_zero(name):
    X = np.random.default_rng(2).random((15, 2))
    X = np.vstack([X, X])
    graph = build(name, X)
    assert graph.n_components == 1
    zero = graph.edges()[
        graph.lengths[np.repeat(np.arange(30), graph.degrees) < graph.indices] == 0
    ]
    np.testing.assert_array_equal(zero, [[i, i + 15] for i in range(15)])
    if name == "mst":
        assert graph.n_edges == 29


@every_builder
def test_points_that_are_all_the_same_work(name):
    # Ties go to the smaller index, so the first tree is a star and leaves its centre no edge.
    changes = {"n_trees": 1} if name == "disjoint_mst" else {}
    graph = build(name, np.ones((6, 3)), **changes)
    assert graph.n_nodes == 6
    assert not graph.lengths.any()


@pytest.mark.parametrize("name", ["mst", "gabriel", "relative_neighborhood", "beta_skeleton"])
def test_points_on_a_line_are_a_path(name):
    steps = np.random.default_rng(1).permutation(12).astype(float)
    X = np.column_stack([steps, 2 * steps, -steps])
    graph = build(name, X)
    rank = np.argsort(np.argsort(steps))
    edges = np.sort(rank[graph.edges()], axis=1)
    assert sorted(map(tuple, edges.tolist())) == [(i, i + 1) for i in range(11)]


# A coding length depends on the units, through the distortion it allows.
@pytest.mark.parametrize("name", [n for n in ARGUMENTS if n != "contextual"])
@pytest.mark.parametrize("factor", [1e-9, 1e9, 1e200])
def test_scale_does_not_matter(name, factor, points):
    expected = build(name, points)
    # A power of two changes no digit of a number, so ties and roundings stay the same too.
    factor = 2.0 ** round(np.log2(factor))
    changes = {"radius": 0.4 * factor} if name == "epsilon_ball" else {}
    graph = build(name, points * factor, **changes)
    np.testing.assert_array_equal(graph.edges(), expected.edges())
    np.testing.assert_allclose(graph.lengths, expected.lengths * factor, rtol=1e-12)
    np.testing.assert_allclose(graph.strengths, expected.strengths, rtol=1e-9)


@every_builder
def test_arguments_after_the_first_of_their_own_are_keyword_only(name):
    parameters = list(inspect.signature(builder(name)).parameters.values())
    assert parameters[0].name == "X"
    for parameter in parameters:
        if parameter.name in {"metric", "n_jobs", "verbose", "random_state"}:
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
