"""Neighbourhood graphs equal their definitions, pair by pair."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph
from test_graph import as_dict

from vicinal.graphs import (
    complete,
    connecting_neighbors,
    edge_scale,
    epsilon_ball,
    gaussian,
    knn,
)
from vicinal.neighbors import NeighborSearch

rng = np.random.default_rng(7)
CLOUDS = {
    "random": rng.normal(size=(60, 3)),
    "line": rng.normal(size=(50, 1)),
    "lattice": np.stack(np.meshgrid(range(7), range(7)), -1).reshape(-1, 2).astype(float),
    "duplicates": np.repeat(rng.normal(size=(12, 2)), 4, axis=0),
    "one place": np.zeros((15, 2)),
    "constant column": np.column_stack([rng.normal(size=40), np.full(40, 3.0)]),
    "high": rng.normal(size=(60, 20)),
}


def distance_table(X, metric="euclidean"):
    """All distances, summed feature by feature."""
    table = np.zeros((len(X), len(X)))
    for column in np.asarray(X, dtype=float).T:
        change = np.abs(column[:, None] - column)
        table += change if metric == "manhattan" else change**2
    return table if metric == "manhattan" else np.sqrt(table)


def knn_oracle(table, k, how):
    """Entries by the definition; the smaller index wins a tie."""
    n = len(table)
    nearest = [
        set(sorted((j for j in range(n) if j != i), key=lambda j, i=i: (table[i, j], j))[:k])
        for i in range(n)
    ]
    rule = {
        "directed": lambda i, j: j in nearest[i],
        "union": lambda i, j: j in nearest[i] or i in nearest[j],
        "mutual": lambda i, j: j in nearest[i] and i in nearest[j],
    }[how]
    return {(i, j): table[i, j] for i in range(n) for j in range(n) if i != j and rule(i, j)}


def ball_oracle(table, radius):
    n = len(table)
    return {
        (i, j): table[i, j] for i in range(n) for j in range(n) if i != j and table[i, j] <= radius
    }


def lengths_of(graph):
    return {pair: values[0] for pair, values in as_dict(graph).items()}


def options(how):
    """The kind of graph; every row counts, as in the definition."""
    return {"mutual": how == "mutual", "directed": how == "directed", "duplicates": "keep"}


# --- definitions -------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["union", "mutual", "directed"])
@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize("k", [1, 4])
def test_knn_equals_its_definition_bit_for_bit(cloud, k, how):
    X = CLOUDS[cloud]
    graph = knn(X, k, **options(how))
    assert lengths_of(graph) == knn_oracle(distance_table(X), k, how)
    assert graph.directed == (how == "directed")
    assert (graph.strengths == 1).all()


@pytest.mark.parametrize("cloud", CLOUDS)
def test_epsilon_ball_equals_its_definition_bit_for_bit(cloud):
    table = distance_table(CLOUDS[cloud])
    # A radius that is a distance itself: the ball is closed.
    radius = float(np.quantile(table, 0.2)) or 1.0
    radius = float(table[table <= radius].max()) or 1.0
    assert lengths_of(epsilon_ball(CLOUDS[cloud], radius)) == ball_oracle(table, radius)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("cloud", CLOUDS)
def test_complete_has_every_pair_bit_for_bit(cloud, metric):
    X = CLOUDS[cloud]
    expected = ball_oracle(distance_table(X, metric), np.inf)
    assert lengths_of(complete(X, metric=metric)) == expected


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 25), st.integers(1, 3), st.data())
def test_small_clouds_full_of_ties(seed, n, d, data):
    X = np.random.default_rng(seed).integers(0, 4, (n, d))
    k = data.draw(st.integers(1, n - 1))
    table = distance_table(X)
    for how in ("union", "mutual", "directed"):
        assert lengths_of(knn(X, k, **options(how))) == knn_oracle(table, k, how)
    assert lengths_of(epsilon_ball(X, 2)) == ball_oracle(table, 2)
    assert lengths_of(complete(X)) == ball_oracle(table, np.inf)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev"])
def test_other_metrics_agree_with_scipy(metric):
    X = CLOUDS["random"]
    names = {"manhattan": "cityblock"}
    table = cdist(X, X, names.get(metric, metric))
    assert lengths_of(complete(X, metric=metric)) == pytest.approx(
        ball_oracle(table, np.inf), abs=1e-12
    )
    assert lengths_of(knn(X, 5, metric=metric)) == pytest.approx(
        knn_oracle(table, 5, "union"), abs=1e-12
    )
    radius = float(np.quantile(table, 0.3)) + 1e-6
    assert lengths_of(epsilon_ball(X, radius, metric=metric)) == pytest.approx(
        ball_oracle(table, radius), abs=1e-12
    )


@pytest.mark.parametrize("how", ["union", "mutual", "directed"])
def test_a_distance_matrix_gives_the_graph_of_its_points(how):
    X = CLOUDS["duplicates"]
    table = distance_table(X)
    assert knn(table, 3, metric="precomputed", **options(how)) == knn(X, 3, **options(how))
    assert epsilon_ball(table, 1.0, metric="precomputed") == epsilon_ball(X, 1.0)
    assert complete(table, metric="precomputed") == complete(X)
    assert gaussian(table, metric="precomputed") == gaussian(X)


def test_a_sparse_distance_matrix_keeps_its_explicit_zeros():
    stored = complete(CLOUDS["duplicates"]).to_scipy()
    expected = knn(CLOUDS["duplicates"], 3, duplicates="keep")
    assert knn(stored, 3, metric="precomputed") == expected
    assert epsilon_ball(stored, 1.0, metric="precomputed") == epsilon_ball(
        CLOUDS["duplicates"], 1.0
    )


def test_scikit_learn_has_the_same_graphs():
    X = CLOUDS["random"]
    assert knn(X, 6, directed=True).to_scipy().toarray() == pytest.approx(
        kneighbors_graph(X, 6, mode="distance").toarray()
    )
    assert epsilon_ball(X, 0.9).to_scipy().toarray() == pytest.approx(
        radius_neighbors_graph(X, 0.9, mode="distance").toarray()
    )


@pytest.mark.parametrize("scale", ["auto", "local", 0.8])
def test_gaussian_is_complete_with_affinities_as_strengths(scale):
    X = CLOUDS["random"]
    graph, plain = gaussian(X, scale), complete(X)
    s = edge_scale(plain, scale)
    table = distance_table(X)
    squares = np.outer(s, s) if scale == "local" else s * s
    expected = np.exp(-0.5 * table**2 / squares)
    np.fill_diagonal(expected, 0)
    assert (graph.lengths == plain.lengths).all()
    assert graph.to_scipy("strengths").toarray() == pytest.approx(expected)
    assert abs(graph.affinity(kernel="binary") - graph.to_scipy("strengths")).max() == 0


# --- properties --------------------------------------------------------------------------------


def test_mutual_is_within_union_and_all_are_within_complete():
    X = CLOUDS["random"]
    assert knn(X, 5, mutual=True) < knn(X, 5) < knn(X, 9) < complete(X)
    assert knn(X, 5, directed=True).symmetrize("union") == knn(X, 5)
    assert knn(X, 5, directed=True).symmetrize("intersection") == knn(X, 5, mutual=True)
    assert knn(X, len(X) - 1) == complete(X) == epsilon_ball(X, 1e6)


@pytest.mark.parametrize("factor", [1e-200, 1e-9, 1e9, 1e200])
@pytest.mark.parametrize("cloud", ["random", "duplicates"])
def test_huge_and_tiny_scales(cloud, factor):
    X = CLOUDS[cloud]
    builders = [
        lambda X, unit: knn(X, 4),
        lambda X, unit: epsilon_ball(X, 0.9 * unit),
        lambda X, unit: complete(X),
        lambda X, unit: complete(X, metric="manhattan"),
        lambda X, unit: gaussian(X),
    ]
    # A power of two, so that not even the last bit may differ.
    factor = 2.0 ** np.round(np.log2(factor))
    for build in builders:
        plain, scaled = build(X, 1.0), build(X * factor, factor)
        assert (scaled.indices == plain.indices).all()
        assert (scaled.lengths / factor == plain.lengths).all()
        assert scaled.strengths == pytest.approx(plain.strengths)


@pytest.mark.parametrize(
    "build", [knn, complete, gaussian, lambda X, **o: epsilon_ball(X, 1.0, **o)]
)
def test_threads_do_not_change_a_bit(build):
    X = np.random.default_rng(1).normal(size=(1500, 3))
    assert build(X, n_jobs=1) == build(X, n_jobs=2)


@pytest.mark.parametrize("build", [knn, complete, gaussian, lambda X: epsilon_ball(X, 1.0)])
def test_all_numeric_arrays_are_accepted_and_not_modified(build):
    base = np.random.default_rng(2).integers(-5, 6, (30, 4))
    expected = build(base.astype(float))
    wide = np.zeros((60, 8), dtype=np.float32)
    wide[::2, ::2] = base
    read_only = base.astype(float)
    read_only.flags.writeable = False
    frame = pd.DataFrame(base, columns=list("abcd"))
    for X in (base, base.tolist(), wide[::2, ::2], read_only, frame, np.asfortranarray(base)):
        kept = np.array(X)
        assert build(X) == expected
        assert (np.array(X) == kept).all()


def test_graphs_reference_their_points_so_that_they_can_be_connected():
    X = CLOUDS["random"]
    for graph in (knn(X, 2), epsilon_ball(X, 0.5), complete(X), gaussian(X)):
        assert np.shares_memory(graph.points, X)
    assert knn(X, 2, metric="l1").metric == "manhattan"


def test_neighbour_lists_and_searches_replace_points():
    X = CLOUDS["random"]
    search = NeighborSearch(X)
    lists = search.nearest(8)
    for how in ("union", "mutual", "directed"):
        expected = knn(X, 4, **options(how))
        assert knn(search, 4, **options(how)) == expected
        assert knn(lists, 4, **options(how)) == expected
        assert knn((lists[0][:, 1:], lists[1][:, 1:]), 4, **options(how)) == expected
    assert epsilon_ball(search, 0.9) == epsilon_ball(X, 0.9)


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_points(n):
    X = np.arange(float(n))[:, None]
    for graph in (complete(X), gaussian(X), epsilon_ball(X, 5.0)):
        assert (graph.n_nodes, graph.n_edges) == (n, n - 1)
    if n == 2:
        assert knn(X, 1).edges().tolist() == [[0, 1]]


# --- bad input ---------------------------------------------------------------------------------


X = CLOUDS["random"]
BAD = {
    "k of 0": (lambda: knn(X, 0), ValueError, "n_neighbors=0"),
    "k of n": (lambda: knn(X, 60), ValueError, "n_neighbors=60.*1 to 59.*complete"),
    "one point": (lambda: knn([[1.0]], 1), ValueError, "n_neighbors=1"),
    "k of 2.5": (lambda: knn(X, 2.5), TypeError, "n_neighbors=2.5"),
    "contradiction": (lambda: knn(X, 3, mutual=True, directed=True), ValueError, "contradict"),
    "NaN": (lambda: knn([[0.0], [np.nan]], 1), ValueError, "X.*NaN"),
    "infinity": (lambda: complete([[0.0], [np.inf]]), ValueError, "X.*infinite"),
    "text": (lambda: knn([["a"], ["b"]], 1), TypeError, "X"),
    "one axis": (lambda: knn([1.0, 2.0], 1), ValueError, "reshape"),
    "nothing": (lambda: complete(np.empty((0, 2))), ValueError, r"X has shape \(0, 2\)"),
    "radius of 0": (lambda: epsilon_ball(X, 0), ValueError, "radius=0.*knn"),
    "radius below 0": (lambda: epsilon_ball(X, -1.0), ValueError, "radius=-1"),
    "radius of NaN": (lambda: epsilon_ball(X, np.nan), ValueError, "radius=nan"),
    "radius in words": (lambda: epsilon_ball(X, "far"), TypeError, "radius='far'"),
    "lists for a ball": (
        lambda: epsilon_ball(NeighborSearch(X).nearest(2), 1.0),
        TypeError,
        "pair",
    ),
    "three lists": (lambda: knn((X, X, X), 1), ValueError, "tuple of length 3"),
    "short lists": (lambda: knn(NeighborSearch(X).nearest(2), 3), ValueError, "n_neighbors=3"),
    "negative distances": (
        lambda: complete([[0.0, -1.0], [-1.0, 0.0]], metric="precomputed"),
        ValueError,
        "negative",
    ),
    "asymmetric distances": (
        lambda: knn([[0.0, 1.0], [2.0, 0.0]], 1, metric="precomputed"),
        ValueError,
        "not symmetric",
    ),
    "sparse distances": (
        lambda: complete(sparse.csr_array((3, 3)), metric="precomputed"),
        TypeError,
        "from_scipy",
    ),
    "scale of 0": (lambda: gaussian(X, 0), ValueError, "scale=0"),
    "unknown metric": (lambda: complete(X, metric="warp"), ValueError, "warp"),
    "unknown method": (lambda: knn(X, method="quick"), ValueError, "method='quick'"),
    "unknown keyword": (lambda: knn(X, neighbors=3), TypeError, "neighbors"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_the_invalid_input(case):
    build, error, message = BAD[case]
    with pytest.raises(error, match=message):
        build()


def test_complete_graphs_that_do_not_fit_raise_before_any_work():
    with pytest.raises(MemoryError, match=r"complete graph of 3,000,000 points.*knn"):
        complete(np.zeros((3_000_000, 1)))


def test_neighbours_that_do_not_fit_raise_before_any_work(monkeypatch):
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 100_000)
    monkeypatch.setattr(NeighborSearch, "nearest", lambda *a, **k: pytest.fail("ran"))
    with pytest.raises(MemoryError, match=r"n_neighbors=90 neighbours of 100 points.*fewer"):
        knn(np.arange(100.0)[:, None], 90)


def test_one_point_has_no_neighbours():
    with pytest.raises(
        ValueError, match=r"n_neighbors=1, but X has 1 point, which has no neighbours"
    ):
        knn([[1.0]], 1)
    assert complete([[1.0, 2.0]], metric="cosine").n_edges == 0


def test_invalid_scales_raise_before_distances_are_computed(monkeypatch):
    monkeypatch.setattr("vicinal.graphs._complete.complete", lambda *a, **k: pytest.fail("ran"))
    with pytest.raises(ValueError, match="scale=-1"):
        gaussian(X, -1)


@pytest.mark.parametrize("seed", range(6))
def test_connecting_neighbors_is_the_smallest_number_that_connects(seed):
    rng = np.random.default_rng(seed)
    X = np.repeat([[0.0, 0.0], [4.0, 4.0]], [30, 5 + seed], axis=0) + rng.normal(
        size=(35 + seed, 2)
    )
    if seed % 2:
        X[:12] = X[0]  # duplicates
    k = connecting_neighbors(X)
    assert knn(X, k).n_components == 1
    assert k == 1 or knn(X, k - 1).n_components > 1
