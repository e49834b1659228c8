"""Fusion of several similarities: literal averages, missing items, improvement on noisy sources."""

import numpy as np
import pytest
from scipy import sparse

from vicinal.metrics import bulls_eye
from vicinal.similarity import SelfSmoothing, self_smooth, smoothing_kernel

FUSIONS = ["before", "after", "cross"]


def sources(n=60, n_sources=3, noise=0.8, seed=0):
    """The same clusters with different noise."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 4
    X = rng.normal(size=(4, 3))[labels] * 2
    views = [X + noise * rng.normal(size=X.shape) for _ in range(n_sources)]
    return [
        smoothing_kernel(np.linalg.norm(V[:, None] - V[None], axis=-1), n_neighbors=10)
        for V in views
    ], labels


def without(W, items):
    W = W.copy()
    W[items] = np.nan
    W[:, items] = np.nan
    return W


def test_before_is_the_smoothed_average():
    (a, b, _), _ = sources()
    fused = SelfSmoothing(8).fuse([a, b], how="before").similarity_
    np.testing.assert_allclose(fused, self_smooth((a + b) / 2, 8), atol=1e-12)


def test_after_is_the_average_of_the_smoothed_sources():
    (a, b, _), _ = sources()
    fused = SelfSmoothing(8).fuse([a, b], how="after").similarity_
    np.testing.assert_allclose(fused, (self_smooth(a, 8) + self_smooth(b, 8)) / 2, atol=1e-12)


def test_cross_smooths_each_source_along_the_other():
    (a, b, _), _ = sources()
    steps = [np.linalg.matrix_power(W / W.sum(axis=1, keepdims=True), 4) for W in (a, b)]
    mean = (steps[0] @ b @ steps[0].T + steps[1] @ a @ steps[1].T) / 2
    expected = np.minimum(mean / np.diagonal(mean)[:, None], 1.0)
    fused = SelfSmoothing(8).fuse([a, b], how="cross").similarity_
    np.testing.assert_allclose(fused, expected, atol=1e-10)


@pytest.mark.parametrize("how", FUSIONS)
def test_a_single_source_or_weight_gives_that_source(how):
    (a, b, _), _ = sources()
    alone = SelfSmoothing(6).fuse([a], how=how).similarity_
    if how != "cross":
        np.testing.assert_allclose(alone, self_smooth(a, 6), atol=1e-12)
        weighted = SelfSmoothing(6).fuse([a, b], how=how, weights=[2, 0]).similarity_
        np.testing.assert_allclose(weighted, alone, atol=1e-12)
    same = SelfSmoothing(6).fuse([a, a, a], how=how).similarity_
    np.testing.assert_allclose(same, alone, atol=1e-10)


@pytest.mark.parametrize("how", FUSIONS)
def test_fusion_is_better_than_each_source(how):
    views, labels = sources(n=120)
    alone = max(bulls_eye(self_smooth(W, 20), labels) for W in views)
    assert bulls_eye(SelfSmoothing(20).fuse(views, how=how).similarity_, labels) > alone


@pytest.mark.parametrize("how", FUSIONS)
def test_missing_items_get_their_similarity_from_the_other_sources(how):
    views, labels = sources(n=120)
    holes = [np.arange(0, 20), np.arange(20, 40), np.arange(40, 60)]
    partial = [without(W, items) for W, items in zip(views, holes, strict=True)]
    before = [W.copy() for W in partial]
    model = SelfSmoothing(20).fuse(partial, how=how)
    assert np.isfinite(model.similarity_).all()
    np.testing.assert_allclose(np.diagonal(model.similarity_), 1.0)
    full = bulls_eye(SelfSmoothing(20).fuse(views, how=how).similarity_, labels)
    assert bulls_eye(model.similarity_, labels) > full - 0.12
    for W, old in zip(partial, before, strict=True):
        np.testing.assert_array_equal(W, old)


def test_before_averages_each_pair_over_the_sources_that_contain_it():
    (a, b, _), _ = sources()
    model = SelfSmoothing(5).fuse([a, without(b, [3, 4])])
    mean = (a + b) / 2
    mean[3:5], mean[:, 3:5] = a[3:5], a[:, 3:5]
    np.testing.assert_allclose(model.affinity_, mean)


def test_cross_fusion_with_missing_items_equals_the_literal_one():
    """Each source smooths the mean of the others, or itself where no other contains a pair."""
    views, _ = sources(n=24)
    unknown = [[0, 1], [1, 2, 3], [3, 4]]
    weights = np.array([1.0, 2.0, 3.0])
    n, n_steps = 24, 6
    known = [[i not in items for i in range(n)] for items in unknown]
    total, norm = np.zeros((n, n)), np.zeros((n, n))
    for s, W in enumerate(views):
        inside = np.flatnonzero(known[s])
        start = np.zeros((len(inside), len(inside)))
        for a, i in enumerate(inside):
            for b, j in enumerate(inside):
                others = [o for o in range(3) if o != s and known[o][i] and known[o][j]]
                start[a, b] = (
                    np.average([views[o][i, j] for o in others], weights=weights[others])
                    if others
                    else W[i, j]
                )
        block = W[np.ix_(inside, inside)]
        step = np.linalg.matrix_power(block / block.sum(axis=1, keepdims=True), n_steps // 2)
        total[np.ix_(inside, inside)] += weights[s] * (step @ start @ step.T)
        norm[np.ix_(inside, inside)] += weights[s]
    mean = np.divide(total, norm, out=np.zeros((n, n)), where=norm > 0)
    expected = np.minimum(mean / np.diagonal(mean)[:, None], 1.0)
    partial = [without(W, items) for W, items in zip(views, unknown, strict=True)]
    model = SelfSmoothing(n_steps).fuse(partial, how="cross", weights=weights)
    np.testing.assert_allclose(model.similarity_, expected, atol=1e-12)


@pytest.mark.parametrize("how", FUSIONS)
def test_a_fused_model_has_t_neighbors_and_at(how):
    views, labels = sources()
    model = SelfSmoothing().fuse(views, how=how)
    assert model.t_ >= 1
    _, indices = model.kneighbors(n_neighbors=5)
    assert (labels[indices] == labels[:, None]).mean() > 0.8
    np.testing.assert_allclose(model.at(model.t_), model.similarity_, atol=1e-9)


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize("metric", ["similarity", "precomputed"])
def test_fitted_items_given_as_new_items_keep_their_rows(how, metric):
    views, _ = sources(n=40)
    if metric == "precomputed":
        rng = np.random.default_rng(1)
        points = [rng.normal(size=(40, 3)) for _ in views]
        views = [np.linalg.norm(V[:, None] - V, axis=-1) for V in points]
    model = SelfSmoothing(6, metric=metric, n_neighbors=10).fuse(views, how=how)
    rows = model.transform([view[:7] for view in views])
    np.testing.assert_allclose(rows, model.similarity_[:7], rtol=1e-8, atol=1e-10)
    indices = model.kneighbors([view[:7] for view in views], 5)[1]
    assert (indices == np.argsort(-rows, axis=1, kind="stable")[:, :5]).mean() > 0.9


def test_new_items_are_extended_by_the_mean_similarity_of_the_sources_that_contain_them():
    (a, b, _), labels = sources(n=50)
    fitted, new = np.arange(40), np.arange(40, 50)
    views = [W[np.ix_(fitted, fitted)] for W in (a, b)]
    rows = [W[np.ix_(new, fitted)] for W in (a, b)]
    rows[1] = rows[1].copy()
    rows[1][0] = np.nan
    mean = (rows[0] + np.where(np.isnan(rows[1]), rows[0], rows[1])) / 2
    fused = SelfSmoothing(6).fuse(views).transform(rows)
    single = SelfSmoothing(6, metric="similarity").fit(sum(views) / 2)
    np.testing.assert_allclose(fused, single.transform(mean), rtol=1e-9)
    separate = [SelfSmoothing(6, metric="similarity").fit(W) for W in views]
    expected = separate[0].transform(rows[0])
    expected[1:] = (expected[1:] + separate[1].transform(rows[1][1:])) / 2
    after = SelfSmoothing(6).fuse(views, how="after").transform(rows)
    np.testing.assert_allclose(after, expected, rtol=1e-7)
    assert (labels[fused.argmax(axis=1)] == labels[new]).mean() > 0.5


@pytest.mark.parametrize(
    ("how", "change", "message"),
    [
        ("cross", lambda rows: rows, "how='cross'"),
        ("before", lambda rows: rows[:1], "1 matrices, but 3 sources"),
        ("before", lambda rows: [row[:, :5] for row in rows], r"\(m, 40\) is needed"),
        ("after", lambda rows: [rows[0][:1], *rows[1:]], "1"),
        ("after", lambda rows: [-row for row in rows], "negative"),
        ("before", lambda rows: [row * np.nan for row in rows], "every source"),
        ("before", lambda rows: [row * 0 for row in rows], "zero similarity"),
    ],
)
def test_invalid_new_items_of_a_fusion_are_named(how, change, message):
    views, _ = sources(n=40)
    model = SelfSmoothing(4).fuse(views, how=how)
    with pytest.raises(ValueError, match=message):
        model.transform(change([view[:3] for view in views]))


def test_fit_after_fuse_takes_points_again():
    views, _ = sources(n=40)
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = SelfSmoothing(3).fuse(views).fit(X)
    assert model.transform(X[:2]).shape == (2, 40)


@pytest.mark.parametrize("how", FUSIONS)
def test_an_item_that_only_a_source_of_weight_zero_contains_raises(how):
    (a, b, _), _ = sources()
    with pytest.raises(
        ValueError, match=r"1 item.*every source of positive weight, the first is 7"
    ):
        SelfSmoothing(2).fuse([a, without(b, [7])], how=how, weights=[0, 1])


@pytest.mark.parametrize("how", FUSIONS)
def test_a_fusion_resets_an_earlier_fit(how):
    pandas = pytest.importorskip("pandas")
    (a, b, _), _ = sources()
    names = [f"item {i}" for i in range(60)]
    model = SelfSmoothing(3, metric="similarity").fit(pandas.DataFrame(a, columns=names))
    model.fuse([a, b], how=how)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 60
    if how == "before":
        np.testing.assert_allclose(model.affinity_, (a + b) / 2)
    else:
        assert not hasattr(model, "affinity_")


@pytest.mark.parametrize("how", FUSIONS)
def test_sparse_sources(how):
    (a, b, _), _ = sources()
    a, b = (np.where(W > 0.01, W, 0.0) for W in (a, b))
    fused = SelfSmoothing(4).fuse([sparse.csr_array(a), sparse.coo_array(b)], how=how)
    np.testing.assert_allclose(
        fused.similarity_, SelfSmoothing(4).fuse([a, b], how=how).similarity_, atol=1e-12
    )


@pytest.mark.parametrize(
    ("views", "arguments", "words"),
    [
        ([], {}, "sources is empty"),
        ([np.eye(2), np.eye(3)], {}, r"\(2, 2\), \(3, 3\).*same items"),
        ([np.eye(3)], {"how": "mean"}, "how='mean'"),
        ([np.eye(3)], {"weights": [1, 2]}, "weights has 2"),
        ([np.eye(3)], {"weights": [0]}, "all 0"),
        ([np.eye(3), np.eye(3)], {"weights": [1, -1]}, r"weights\[1\]=-1"),
        ([np.ones((2, 3))], {}, r"sources\[0\]"),
        ([np.eye(3), -np.ones((3, 3))], {}, r"sources\[1\].*negative"),
        ([np.full((3, 3), np.nan)], {}, r"sources\[0\] contains only NaN"),
        ([without(np.ones((3, 3)), [1])] * 2, {}, "missing in every source"),
        ([np.array([[1.0, np.nan], [1.0, 1.0]])], {}, "NaN"),
    ],
)
def test_invalid_sources_are_named_in_the_error(views, arguments, words):
    with pytest.raises(ValueError, match=words):
        SelfSmoothing(1).fuse(views, **arguments)


@pytest.mark.parametrize("how", FUSIONS)
def test_precomputed_sources_are_distances_as_in_fit(how):
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(40, 3)), rng.normal(size=(40, 2))]
    distances = [np.linalg.norm(X[:, None] - X, axis=2) for X in tables]
    options = {"bandwidth": 0.3, "n_neighbors": 7}
    fused = SelfSmoothing(4, metric="precomputed", **options).fuse(distances, how=how)
    kernels = [smoothing_kernel(D, **options) for D in distances]
    expected = SelfSmoothing(4).fuse(kernels, how=how)
    np.testing.assert_allclose(fused.similarity_, expected.similarity_, atol=1e-12)
    alone = SelfSmoothing(4, metric="precomputed", **options)
    np.testing.assert_allclose(
        alone.fuse(distances[:1]).similarity_, alone.fit(distances[0]).similarity_, atol=1e-12
    )
    partial = [distances[0], without(distances[1], [3])]
    model = SelfSmoothing(4, metric="precomputed").fuse(partial, how=how)
    assert np.isfinite(model.similarity_).all()


def test_distances_and_similarities_are_not_confused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    W = smoothing_kernel(D)
    for metric in ("euclidean", "similarity"):
        with pytest.raises(ValueError, match=r"sources\[1\] is 0 on the diagonal and nowhere else"):
            SelfSmoothing(2, metric=metric).fuse([W, D])
    with pytest.raises(ValueError, match="X is 0 on the diagonal and nowhere else"):
        SelfSmoothing(2, metric="similarity").fit(D)
    with pytest.raises(ValueError, match=r"sources\[1\]\[0, 0\] = 1.*itself must be 0"):
        SelfSmoothing(2, metric="precomputed").fuse([D, W])
