"""Isomap against scikit-learn, against known distances, and on input on which other implementations fail."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap as PeerIsomap

from vicinal import Graph, Isomap, graphs
from vicinal.datasets import make_swiss_roll
from vicinal.embed import classical_scaling, landmark_mds_transform
from vicinal.embed.scaling import CentredSquares
from vicinal.metrics import residual_variance


def same_signs(result, expected):
    """`result` with the sign of each column matched to the expected one."""
    return result * np.where((result * expected).sum(axis=0) < 0, -1.0, 1.0)


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(800, noise=0.2, random_state=0)[0]


@pytest.mark.parametrize("n_points", [200, 800])
def test_embedding_transform_and_error_equal_those_of_scikit_learn(n_points, roll):
    X, new = roll[:n_points], make_swiss_roll(60, noise=0.2, random_state=1)[0]
    ours = Isomap(3, graph_params={"n_neighbors": 12}).fit(X)
    peer = PeerIsomap(n_components=3, n_neighbors=12).fit(X)
    expected = peer.embedding_
    np.testing.assert_allclose(ours.geodesics_, peer.dist_matrix_, rtol=1e-12)
    np.testing.assert_allclose(same_signs(ours.embedding_, expected), expected, atol=1e-6)
    expected = peer.transform(new)
    np.testing.assert_allclose(same_signs(ours.transform(new), expected), expected, atol=1e-6)
    assert ours.reconstruction_error() == pytest.approx(peer.reconstruction_error(), rel=1e-6)


def test_radius_graph_equals_that_of_scikit_learn(roll):
    ours = Isomap(graph="epsilon_ball", graph_params={"radius": 6.0}).fit_transform(roll)
    expected = PeerIsomap(n_neighbors=None, radius=6.0).fit_transform(roll)
    np.testing.assert_allclose(same_signs(ours, expected), expected, atol=1e-6)


def test_training_points_keep_their_positions(roll):
    for n_landmarks in (None, 50):
        isomap = Isomap(n_landmarks=n_landmarks).fit(roll)
        np.testing.assert_allclose(isomap.transform(roll[:40]), isomap.embedding_[:40], atol=1e-7)


@pytest.mark.parametrize(
    ("graph", "parameters"),
    [
        ("mst", {}),
        ("disjoint_mst", {}),
        ("perturbed_mst", {}),
        ("gabriel", {}),
        ("relative_neighborhood", {}),
        ("delaunay", {}),
        ("epsilon_ball", {"radius": 4.0}),
        ("knn", {"n_neighbors": 8, "mutual": True}),
    ],
)
@pytest.mark.parametrize("n_landmarks", [None, 40])
def test_training_points_keep_their_positions_on_every_graph(graph, parameters, n_landmarks, roll):
    X = roll[:200]
    isomap = Isomap(
        graph=graph, graph_params=parameters, n_landmarks=n_landmarks, random_state=0
    ).fit(X)
    np.testing.assert_allclose(isomap.transform(X), isomap.embedding_, atol=1e-9)


def test_new_points_of_a_radius_graph_equal_those_of_scikit_learn(roll):
    """Neighbours beyond the radius would be shortcuts."""
    X, rng = roll[:300], np.random.default_rng(0)
    new = X[:50] + 0.05 * rng.standard_normal((50, 3))
    ours = Isomap(graph="epsilon_ball", graph_params={"radius": 7.0}).fit(X)
    peer = PeerIsomap(n_neighbors=None, radius=7.0).fit(X)
    expected = peer.transform(new)
    np.testing.assert_allclose(same_signs(ours.transform(new), expected), expected, atol=1e-6)
    far = ours.transform([[1e3, 0.0, 0.0]])
    assert np.isfinite(far).all()
    # A Graph is used as it is; ``graph`` is ignored.
    given = Isomap(graph="epsilon_ball").fit(ours.graph_)
    assert given.transform([[1e3, 0.0, 0.0], *X[:2]]).shape == (3, 2)


def test_all_points_as_landmarks_equal_no_landmarks(roll):
    everything, plain = Isomap(n_landmarks=800).fit(roll), Isomap().fit(roll)
    result = same_signs(everything.embedding_, plain.embedding_)
    np.testing.assert_allclose(result, plain.embedding_, atol=1e-6)
    assert everything.reconstruction_error() == pytest.approx(plain.reconstruction_error())
    np.testing.assert_allclose(everything.residual_variance_, plain.residual_variance_)


def test_few_landmarks_approximate_the_full_embedding(roll):
    plain, few = Isomap().fit(roll), Isomap(n_landmarks=40).fit(roll)
    assert few.geodesics_.shape == (800, 40)
    difference = same_signs(few.embedding_, plain.embedding_) - plain.embedding_
    assert np.linalg.norm(difference) < 0.03 * np.linalg.norm(plain.embedding_)


def test_the_swiss_roll_is_unrolled():
    X, sheet = make_swiss_roll(1000, random_state=0)
    isomap = Isomap(3, graph="disjoint_mst").fit(X)
    correlation = np.corrcoef(isomap.embedding_[:, 0], sheet[:, 0])[0, 1]
    assert abs(correlation) > 0.999
    one, two, three = isomap.residual_variance_
    assert one > 0.01 > 5 * two
    assert three <= two


def test_residual_variance_equals_the_metric(roll):
    isomap = Isomap(2, n_landmarks=30).fit(roll)
    expected = [
        residual_variance(isomap.geodesics_, isomap.embedding_[:, :d], landmarks=isomap.landmarks_)
        for d in (1, 2)
    ]
    np.testing.assert_allclose(isomap.residual_variance_, expected)
    again = clone(isomap).set_params(n_landmarks=None).fit(roll)
    assert isomap.fit(roll[:500]).residual_variance_[0] != expected[0]
    assert again.residual_variance_.shape == (2,)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), n_landmarks=st.sampled_from([None, 10]))
def test_row_order_rotation_and_units_do_not_matter(seed, n_landmarks):
    rng = np.random.default_rng(seed)
    X = rng.random((40, 3)) * [9.0, 4.0, 1.0]
    # The first landmark depends on which point is called 0, so that one stays.
    order = np.r_[0, 1 + rng.permutation(39)]
    rotation, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    unit = 10.0 ** rng.integers(-8, 9)
    moved = unit * (X[order] @ rotation + rng.standard_normal(3))
    isomap = Isomap(2, n_landmarks=n_landmarks, graph_params={"n_neighbors": 6})
    expected = isomap.fit_transform(X)[order]
    embedding = isomap.fit_transform(moved) / unit
    np.testing.assert_allclose(cdist(embedding, embedding), cdist(expected, expected), atol=1e-5)


@pytest.mark.parametrize("n_landmarks", [None, 60])
def test_any_number_of_threads_gives_the_same_bits(roll, n_landmarks):
    one, two = (Isomap(n_landmarks=n_landmarks, n_jobs=jobs).fit(roll) for jobs in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.geodesics_, two.geodesics_)
    np.testing.assert_array_equal(one.residual_variance_, two.residual_variance_)
    np.testing.assert_array_equal(one.transform(roll), two.transform(roll))


def test_distant_clusters_stay_distant_and_compact():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((60, 2)), rng.random((40, 2)) + 1e4])
    isomap = Isomap().fit(X)
    assert isomap.graph_.n_components == 1
    sides = isomap.embedding_[:, 0] > 0
    assert set(sides[:60]) != set(sides[60:])
    with pytest.raises(ValueError, match="2 components"):
        Isomap(disconnected="raise").fit(X)


def test_a_disconnected_graph_without_points_raises():
    components = Graph.from_edges(4, [[0, 1], [2, 3]], lengths=[1.0, 1.0])
    with pytest.raises(ValueError, match="2 components"):
        Isomap(1).fit(components)


def test_graph_and_precomputed_lengths_give_the_same_result_as_points(roll):
    X = roll[:200]
    expected = Isomap().fit_transform(X)
    graph = graphs.knn(X, 10)
    np.testing.assert_array_equal(Isomap().fit_transform(graph), expected)
    for lengths in (graph.to_scipy(), graph.to_scipy().tocsc()):
        isomap = Isomap(graph="precomputed")
        np.testing.assert_array_equal(isomap.fit_transform(lengths), expected)
        with pytest.raises(ValueError, match="fitted on a graph or matrix without points"):
            isomap.transform(X)
    complete = Isomap(graph="precomputed").fit_transform(cdist(X, X))
    np.testing.assert_allclose(cdist(complete, complete), cdist(X, X), atol=20.0)


def test_metric_distances_are_used(roll):
    distances = cdist(roll[:150], roll[:150])
    parameters = {"n_neighbors": 10, "metric": "precomputed"}
    embedding = Isomap(graph_params=parameters).fit_transform((distances + distances.T) / 2)
    expected = Isomap().fit_transform(roll[:150])
    np.testing.assert_allclose(same_signs(embedding, expected), expected, atol=1e-6)


@pytest.mark.parametrize("n", [5, 700])
def test_duplicates_share_one_position(n):
    isomap = Isomap().fit(np.ones((n, 3)))
    np.testing.assert_array_equal(isomap.embedding_, np.zeros((n, 2)))
    np.testing.assert_array_equal(isomap.transform(np.ones((2, 3))), np.zeros((2, 2)))
    assert isomap.reconstruction_error() == 0.0


@pytest.mark.parametrize("scale", [1e-250, 1e-9, 1e9, 1e200])
def test_extreme_units(scale):
    X = np.random.default_rng(0).random((80, 2))
    model = Isomap().fit(scale * X)
    expected = Isomap().fit_transform(X)
    np.testing.assert_allclose(same_signs(model.embedding_ / scale, expected), expected, atol=1e-6)
    assert np.isfinite(model.transform(scale * X)).all()
    assert model.reconstruction_error() >= 0.0


def test_points_on_a_line_have_one_dimension():
    line = np.linspace(0.0, 1.0, 50)[:, None]
    isomap = Isomap(2).fit(line)
    np.testing.assert_allclose(abs(isomap.embedding_[:, 0]), abs(line[:, 0] - 0.5), atol=1e-9)
    np.testing.assert_array_equal(isomap.embedding_[:, 1], 0.0)
    np.testing.assert_array_equal(isomap.transform([[0.2], [7.0]])[:, 1], 0.0)


def test_two_points_and_one_dimension():
    np.testing.assert_allclose(abs(Isomap(1).fit_transform([[0.0], [3.0]])), 1.5)


def test_read_only_tables_of_other_dtypes_are_not_changed(roll):
    X = np.asfortranarray(roll[:100].astype(np.float32))
    X.setflags(write=False)
    expected = Isomap().fit_transform(X.astype(np.float64))
    np.testing.assert_allclose(Isomap().fit_transform(X), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("isomap", "X", "message"),
    [
        (Isomap(5), np.eye(5), "n_components=5"),
        (Isomap(0), np.eye(5), "n_components=0"),
        (Isomap(), [[1.0, 2.0]], "n_samples=1"),
        (Isomap(), [[0.0, np.nan]] * 5, "NaN"),
        (Isomap(3, n_landmarks=3), np.eye(9), "n_landmarks=3"),
        (Isomap(n_landmarks=10), np.eye(9), "n_landmarks=10"),
        (Isomap(disconnected="drop"), np.eye(9), "disconnected='drop'"),
        (Isomap(graph="nearest"), np.eye(9), "graph='nearest'"),
        (Isomap(graph="precomputed"), np.triu(np.ones((5, 5)), 1), "not symmetric"),
        (Isomap(graph="precomputed"), -np.ones((5, 5)) + np.eye(5), "negative"),
    ],
)
def test_invalid_input_is_named_in_the_error(isomap, X, message):
    with pytest.raises(ValueError, match=message):
        isomap.fit(X)


def test_insufficient_memory_raises_with_a_remedy(monkeypatch):
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 10**8)
    with pytest.raises(MemoryError, match="n_landmarks"):
        Isomap().fit(np.random.default_rng(0).random((900, 2)))


def test_methods_raise_before_fit():
    with pytest.raises(NotFittedError):
        Isomap().transform(np.eye(3))
    assert not hasattr(Isomap(), "residual_variance_")


def test_classical_scaling_recovers_points_from_distances():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((60, 3))
    scaling = classical_scaling(cdist(points, points), 3)
    result = scaling.coordinates
    np.testing.assert_allclose(cdist(result, result), cdist(points, points), atol=1e-9)
    new = rng.standard_normal((10, 3))
    placed = landmark_mds_transform(scaling, cdist(new, points))
    np.testing.assert_allclose(cdist(placed, result), cdist(new, points), atol=1e-9)


def test_the_centred_operator_equals_the_centred_matrix():
    distances = cdist(*[np.random.default_rng(0).random((37, 2))] * 2)
    centring = np.eye(37) - 1.0 / 37
    expected = -0.5 * centring @ distances**2 @ centring
    np.testing.assert_allclose(CentredSquares(distances, 1.0) @ np.eye(37), expected, atol=1e-13)


def test_ordinary_data_does_not_warn(roll):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Isomap().fit(roll[:300]).transform(roll[:5])
