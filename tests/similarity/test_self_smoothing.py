"""`SelfSmoothing`: equal results of all strategies, new points, choice of t, real data."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import squareform
from sklearn.datasets import load_digits, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal.metrics import bulls_eye, retrieval_rate
from vicinal.similarity import SelfSmoothing, self_smooth, smoothing_kernel
from vicinal.similarity.smoothing._lazy_similarity import SmoothedSimilarity

DATA = Path(os.environ.get("VICINAL_DATA", ""))
needs_mpeg7 = pytest.mark.skipif(
    not (DATA / "mpeg7_dist.npz").is_file(), reason="needs mpeg7_dist.npz in $VICINAL_DATA"
)
needs_orl = pytest.mark.skipif(
    not (DATA / "orl_faces.npz").is_file(), reason="needs orl_faces.npz in $VICINAL_DATA"
)


def points(n=80, seed=0, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 3 * rng.integers(3, size=(n, 1))


def distances_of(X):
    return np.linalg.norm(X[:, None] - X[None], axis=-1)


@parametrize_with_checks([SelfSmoothing()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("t", [0, 25, 3.5])
def test_points_distances_and_similarities_give_the_same_result(t):
    X = points()
    distances = distances_of(X)
    W = smoothing_kernel(distances)
    expected = self_smooth(W, t)
    for metric, table in [("euclidean", X), ("precomputed", distances), ("similarity", W)]:
        model = SelfSmoothing(t, metric=metric).fit(table)
        np.testing.assert_allclose(model.similarity_, expected, atol=1e-9)
        np.testing.assert_allclose(model.affinity_, W, atol=1e-12)
        assert model.t_ == t
        assert model.t_curve_ is None


def test_at_and_sweep_equal_self_smooth_at_each_t():
    model = SelfSmoothing(10).fit(points())
    W = model.affinity_
    ts = [0, 0.5, 1, 30, 900]
    np.testing.assert_allclose(model.at(30), self_smooth(W, 30), atol=1e-10)
    swept = dict(model.sweep(ts))
    assert list(swept) == ts
    for t in ts:
        np.testing.assert_allclose(swept[t], self_smooth(W, t), atol=1e-10)
    np.testing.assert_allclose(model.similarity_, self_smooth(W, 10), atol=1e-10)


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_swept_neighbors_are_those_of_a_model_with_that_t(method):
    X, ts = points(200), [0, 3, 40]
    model = SelfSmoothing(10, method=method).fit(X)
    for t, (similarities, indices) in model.sweep_neighbors(ts, 7):
        expected = SelfSmoothing(t, method=method).fit(X).kneighbors(n_neighbors=7)
        np.testing.assert_allclose(similarities, expected[0], atol=1e-9)
        assert (indices == expected[1]).mean() > 0.99  # rounding may swap equal neighbours
    with pytest.raises(ValueError, match="n_neighbors=200"):
        model.sweep_neighbors(ts, 200)


def test_sweeps_of_large_matrices_by_leading_pairs_are_exact():
    model = SelfSmoothing(50, bandwidth=5.0).fit(points(700, d=2))
    for t, similarity in model.sweep([40, 200, 1000]):
        np.testing.assert_allclose(similarity, self_smooth(model.affinity_, t), atol=1e-9)
    assert len(model._walk._spectrum.values) < 700


def test_asymmetric_similarities():
    W = np.random.default_rng(0).random((30, 30)) ** 4 + np.eye(30)
    model = SelfSmoothing(7, metric="similarity").fit(W)
    np.testing.assert_allclose(model.similarity_, self_smooth(W, 7), atol=1e-12)
    assert SelfSmoothing(metric="similarity").fit(W).t_ >= 1


def test_neighbors_are_ranked_before_clipping_and_exclude_the_item():
    model = SelfSmoothing(300).fit(points(60))
    smoothed = self_smooth(model.affinity_, 300, normalize=False)
    similarities, indices = model.kneighbors(n_neighbors=8)
    for i in range(60):
        others = sorted((j for j in range(60) if j != i), key=lambda j: -smoothed[i, j])
        np.testing.assert_allclose(smoothed[i, indices[i]], smoothed[i, others[:8]], rtol=1e-9)
        assert i not in indices[i]
        np.testing.assert_array_equal(similarities[i], model.similarity_[i, indices[i]])


@pytest.mark.parametrize("k", [0.1, 10.0])
@pytest.mark.parametrize("t", [0, 1, 20])
def test_sparse_neighbors_are_those_of_the_exact_rows(k, t):
    X = points(900, d=2)
    model = SelfSmoothing(t, bandwidth=k, method="sparse").fit(X)
    assert isinstance(model.similarity_, SmoothedSimilarity)
    assert sparse.issparse(model.affinity_)
    exact = self_smooth(model.affinity_, t)
    np.testing.assert_allclose(model.similarity_.rows([5, 800]), exact[[5, 800]], atol=1e-10)
    similarities, indices = model.kneighbors(n_neighbors=10)
    np.fill_diagonal(exact, -1)
    best = -np.sort(-exact, axis=1)[:, :10]
    reached = np.take_along_axis(exact, indices, axis=1)
    assert (reached >= best[:, -1:] - 1e-6).mean() > 0.99
    np.testing.assert_allclose(similarities, reached, atol=0.02)
    assert model.similarity_.recall > 0.95
    assert np.max(model.similarity_.truncation_error) < 0.05


def test_many_steps_use_leading_eigenpairs():
    # The walk reaches all 3000 points, with different probabilities.
    X = np.random.default_rng(0).random((3000, 1))
    model = SelfSmoothing(3000, bandwidth=20.0, n_neighbors=60, method="sparse").fit(X)
    similarities, indices = model.kneighbors(n_neighbors=20)
    assert model.similarity_.method == "leading eigenpairs"
    assert model.similarity_.recall > 0.9
    assert 0 < model.similarity_.truncation_error < 1e-4
    rows = model.similarity_.rows([17, 1234])
    np.testing.assert_allclose(
        similarities[[17, 1234]], np.take_along_axis(rows, indices[[17, 1234]], axis=1), atol=0.02
    )


def test_sparse_results_do_not_depend_on_threads():
    X = points(1500, d=2)
    one, two = (SelfSmoothing(30, method="sparse", n_jobs=j).fit(X) for j in (1, 2))
    for a, b in zip(one.kneighbors(), two.kneighbors(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_sparse_choice_of_t_is_close_to_that_from_all_points():
    X, _ = load_digits(return_X_y=True)
    dense = SelfSmoothing().fit(X[:800])
    near = SelfSmoothing(method="sparse", random_state=0).fit(X[:800])
    assert 1 / 3 < near.t_ / dense.t_ < 3


@pytest.mark.parametrize("t", [0, 1, 12, 2.5])
@pytest.mark.parametrize("width", ["pair", "global"])
def test_fitted_points_keep_their_rows(t, width):
    X = points()
    model = SelfSmoothing(t, width=width).fit(X)
    np.testing.assert_allclose(model.transform(X[:7]), model.similarity_[:7], atol=1e-8)
    distances = distances_of(X)
    by_distance = SelfSmoothing(t, width=width, metric="precomputed").fit(distances)
    np.testing.assert_allclose(
        by_distance.transform(distances[:7]), model.similarity_[:7], atol=1e-6
    )
    W = model.affinity_
    by_similarity = SelfSmoothing(t, metric="similarity").fit(W)
    np.testing.assert_allclose(by_similarity.transform(W[:7]), model.similarity_[:7], atol=1e-8)


def test_neighbors_of_new_points_have_their_class_and_distant_points_are_finite():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    train = rng.random(150) < 0.7
    for method in ("dense", "sparse"):
        model = SelfSmoothing(50, method=method).fit(X[train])
        _, indices = model.kneighbors(X[~train], n_neighbors=5)
        classes = y[train][indices]
        assert (np.median(classes, axis=1) == y[~train]).mean() > 0.9
        far = model.transform(X[:2] + 1e6)
        assert np.isfinite(far).all()
        assert far.max() > 0


def test_one_and_two_points_duplicates_and_constant_columns():
    assert SelfSmoothing(3).fit([[1.0, 2.0]]).similarity_.tolist() == [[1.0]]
    two = SelfSmoothing(3).fit([[0.0], [1.0]])
    assert two.similarity_.shape == (2, 2)
    assert SelfSmoothing().fit([[0.0], [1.0]]).t_ >= 1
    X = np.repeat(points(20), 3, axis=0)
    X[:, 0] = 1.0
    model = SelfSmoothing(5).fit(X)
    np.testing.assert_allclose(model.similarity_[0, :3], 1.0)


@pytest.mark.parametrize("factor", [1e-9, 1e9, 1e200])
def test_units_do_not_matter(factor):
    X = points()
    factor = 2.0 ** round(np.log2(factor))
    np.testing.assert_allclose(
        SelfSmoothing(9).fit(X * factor).similarity_, SelfSmoothing(9).fit(X).similarity_, atol=1e-9
    )


def test_disconnected_components_keep_similarity_zero():
    X = np.vstack([points(40), points(40) + 1e6])
    model = SelfSmoothing().fit(X)
    assert model.similarity_[:40, 40:].max() < 1e-9
    assert np.isfinite(model.similarity_).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"t": -1}, "t=-1"),
        ({"t": "best"}, "t='best'"),
        ({"bandwidth": -1}, "bandwidth=-1"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"width": "x"}, "width='x'"),
        ({"method": "x"}, "method='x'"),
        ({"t": 1.5, "method": "sparse"}, "t=1.5, but a sparse similarity needs an integer"),
    ],
)
def test_invalid_parameters_are_named_in_the_error(arguments, words):
    with pytest.raises(ValueError, match=words):
        SelfSmoothing(**arguments).fit(points())


def test_invalid_requests_are_named_in_the_error():
    model = SelfSmoothing(2).fit(points(20))
    with pytest.raises(ValueError, match="n_neighbors=20"):
        model.kneighbors(n_neighbors=20)
    with pytest.raises(ValueError, match="t=-2"):
        model.at(-2)
    with pytest.raises(ValueError, match="t=-2"):
        model.sweep([1, -2])
    with pytest.raises(ValueError, match=r"X\[0\] has zero similarity to every fitted item"):
        SelfSmoothing(2, metric="similarity").fit(np.eye(3)).transform(np.zeros((1, 3)))


def test_chosen_t_is_within_a_point_of_the_best_on_digits():
    X, y = load_digits(return_X_y=True)
    model = SelfSmoothing().fit(X)
    assert model.t_curve_[0, 1] < -0.9
    scores = [bulls_eye(s, y) for _, s in model.sweep([0, 100, 1000, 2000, 4000, 8000, 16000])]
    assert bulls_eye(model.similarity_, y) > max(scores) - 0.01
    assert scores[0] < 0.8


def mpeg7(names):
    stored = np.load(DATA / "mpeg7_dist.npz")
    # A few stored distances are negative by rounding.
    kernels = [smoothing_kernel(squareform(np.maximum(stored[name], 0))) for name in names]
    return np.mean(kernels, axis=0), stored["labels"]


@needs_mpeg7
@pytest.mark.parametrize(
    ("names", "before", "after"),
    [(["sc", "idsc"], 0.8945, 0.9434), (["sc", "idsc", "hf"], 0.9138, 0.9513)],
)
def test_shapes_of_mpeg7(names, before, after):
    W, labels = mpeg7(names)
    assert bulls_eye(W, labels) == pytest.approx(before, abs=5e-5)
    assert bulls_eye(self_smooth(W, 500), labels) == pytest.approx(after, abs=5e-5)
    model = SelfSmoothing(metric="similarity").fit(W)
    best = max(bulls_eye(s, labels) for _, s in model.sweep([500, 1000, 2000, 4000]))
    assert bulls_eye(model.similarity_, labels) > best - 0.01
    _, neighbors = model.kneighbors(n_neighbors=39)
    assert bulls_eye(neighbors, labels) == pytest.approx(
        bulls_eye(model.similarity_, labels), abs=2e-3
    )


@needs_orl
def test_faces_of_orl():
    Image = pytest.importorskip("PIL.Image")
    stored = np.load(DATA / "orl_faces.npz")
    small = [
        np.asarray(Image.fromarray(face).resize((16, 16), Image.Resampling.BOX)).ravel()
        for face in stored["X"]
    ]
    X = np.array(small, dtype=float)
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    model = SelfSmoothing(n_neighbors=15).fit(X)
    score = retrieval_rate(model.similarity_, stored["y"], 20)
    scores = [
        retrieval_rate(s, stored["y"], 20) for _, s in model.sweep([0, 500, 2000, 4000, 8000])
    ]
    assert score > max(scores) - 0.01
    assert score > scores[0] + 0.08


def uneven(rng):
    """Clumps of near-duplicates, and items that are far from all others."""
    clumps = [0.001 * rng.normal(size=(8, 6)) + 3 * rng.normal(size=6) for _ in range(25)]
    return np.vstack([*clumps, 3 * rng.normal(size=(200, 6))])


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_without_a_common_clock_items_rank_by_distance(method):
    X = uneven(np.random.default_rng(0))
    model = SelfSmoothing(method=method).fit(X)
    assert model.rate_factor_ > 8
    assert (model.t_, model.t_curve_) == (0, None)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    for found, distances in (
        (model.kneighbors(n_neighbors=10)[1], D + np.diag(np.full(400, np.inf))),
        (model.kneighbors(X[:50] + 0.5, 10)[1], np.linalg.norm(X[:50, None] + 0.5 - X, axis=2)),
    ):
        lengths = np.take_along_axis(distances, found, axis=1)
        expected = np.sort(distances, axis=1)[:, :10]
        # Sparse similarities are in single precision, so that nearly equal distances may swap.
        np.testing.assert_allclose(lengths, expected, atol=1e-3)


def test_a_given_number_of_steps_is_taken_without_a_common_clock_too():
    X = uneven(np.random.default_rng(0))
    model = SelfSmoothing(50).fit(X)
    assert (model.t_, model.rate_factor_) == (50, None)


def test_one_far_item_takes_no_clock_from_the_others():
    X = np.random.default_rng(0).normal(size=(300, 4))
    factors = [SelfSmoothing().fit(rows).rate_factor_ for rows in (X, np.vstack([X, [1e30] * 4]))]
    assert factors[1] < 8
    assert factors[1] == pytest.approx(factors[0], rel=0.3)
