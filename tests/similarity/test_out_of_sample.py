"""New points in a smoothed similarity: rows of fitted points, the kernel, blocks, sparse rows, errors."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import SelfSmoothing, SimilarityVoteClassifier
from vicinal.similarity import smoothing_kernel
from vicinal.similarity.smoothing import _out_of_sample as new_points


def points(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) + 3 * rng.integers(3, size=(n, 1))


def distances_between(X, Y):
    return np.linalg.norm(X[:, None] - Y[None], axis=-1)


@pytest.mark.parametrize("t", [0, 0.1, 0.5, 0.9, 1.5])
@pytest.mark.parametrize("k", [0.1, 3.0])
def test_fitted_points_keep_their_rows_after_fractional_steps(t, k):
    X = points()
    model = SelfSmoothing(t, bandwidth=k).fit(X)
    np.testing.assert_allclose(model.transform(X), model.similarity_, atol=1e-6)
    W = model.affinity_
    by_similarity = SelfSmoothing(t, metric="similarity").fit(W)
    np.testing.assert_allclose(by_similarity.transform(W), by_similarity.similarity_, atol=1e-6)


@pytest.mark.parametrize("t", [0, 0.5, 1, 3])
def test_fitted_items_with_unequal_self_similarities_keep_their_rows(t):
    F = np.random.default_rng(0).random((20, 30))
    W = F @ F.T
    assert np.ptp(np.diagonal(W)) > 1
    model = SelfSmoothing(t, metric="similarity").fit(W)
    np.testing.assert_allclose(model.transform(W), model.similarity_, atol=1e-8)


@pytest.mark.parametrize("width", ["pair", "global"])
def test_new_points_have_the_kernel_itself_without_steps(width):
    X, new = points(40), points(5, seed=1)
    model = SelfSmoothing(0, n_neighbors=7, width=width).fit(X)
    lengths = distances_between(new, X)
    nearest = np.sort(distances_between(X, X), axis=1)[:, 1:8].mean(axis=1)
    scales = (np.sort(lengths, axis=1)[:, :7].mean(axis=1)[:, None] + nearest) / 2
    if width == "global":
        scales = nearest.mean()
    expected = np.exp(-np.square(lengths / scales) / 0.1)
    np.testing.assert_allclose(model.transform(new), expected, rtol=1e-9)
    far = SelfSmoothing(0).fit([[0.0], [1.0], [2.0]]).transform([[100.0]])
    assert far.max() < 1e-3


def test_asymmetric_similarities_are_divided_by_the_diagonal_without_steps():
    W = np.random.default_rng(0).random((12, 12)) + 2 * np.eye(12)
    np.fill_diagonal(W, 4.0)
    model = SelfSmoothing(0, metric="similarity").fit(W)
    np.testing.assert_allclose(model.transform(W[:3]), model.similarity_[:3])
    assert not model.transform(np.zeros((1, 12))).any()


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_an_asymmetric_similarity_cannot_be_extended(method):
    W = np.random.default_rng(0).random((15, 15)) + np.eye(15)
    model = SelfSmoothing(2, metric="similarity", method=method).fit(W)
    with pytest.raises(ValueError, match="cannot extend an asymmetric similarity"):
        model.transform(W)
    with pytest.raises(ValueError, match="cannot extend an asymmetric similarity"):
        model.kneighbors(W, n_neighbors=3)
    unequal = SelfSmoothing(0, metric="similarity", method=method).fit(W)
    with pytest.raises(ValueError, match="self-similarities of fitted items differ"):
        unequal.transform(W)


def test_a_self_similarity_made_negative_by_a_fractional_step_raises():
    # Eigenvalues of both signs, and a new row along a negative one.
    W = np.array([[1.0, 2.0], [2.0, 1.0]])
    model = SelfSmoothing(0.25, metric="similarity").fit(W)
    np.testing.assert_allclose(model.transform(W), model.similarity_, atol=1e-12)
    with pytest.raises(ValueError, match=r"the first is 1 .*positive semi-definite"):
        model.transform([[1.0, 2.0], [0.0, 1.0]])


@pytest.mark.parametrize("t", [0, 0.5, 8])
def test_blocks_of_queries_do_not_change_the_result(monkeypatch, t):
    X, new, y = points(), points(50, seed=1), np.arange(60) % 3
    model = SelfSmoothing(t).fit(X)
    some = np.where(np.arange(60) % 4 > 0, y, -1)
    vote = SimilarityVoteClassifier(5, similarity=SelfSmoothing(t)).fit(X, some)
    whole = model.transform(new), *model.kneighbors(new, 7), vote.predict_proba(new)
    seen = []
    extended = new_points.extended_rows
    monkeypatch.setattr(new_points, "ENTRIES_PER_BLOCK", 240)
    monkeypatch.setattr(
        new_points, "extended_rows", lambda *a: seen.append(len(a[1])) or extended(*a)
    )
    parts = model.transform(new), *model.kneighbors(new, 7), vote.predict_proba(new)
    assert max(seen, default=4) == 4
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(other, one, atol=1e-12)
    # Neighbours of new points are ranked like their rows.
    order = np.argsort(-whole[0], axis=1, kind="stable")[:, :7]
    if t == 0:
        np.testing.assert_array_equal(whole[2], order)


def test_rows_that_do_not_fit_into_memory_raise(monkeypatch):
    model = SelfSmoothing(2).fit(points())
    # Enough memory for a block of rows, but not for all.
    monkeypatch.setattr(new_points, "ENTRIES_PER_BLOCK", 240)
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 20_000)
    with pytest.raises(MemoryError, match="kneighbors"):
        model.transform(points())
    assert model.kneighbors(points(), 3)[0].shape == (60, 3)


@pytest.mark.parametrize("t", [0, 3])
def test_sparse_similarities_give_the_same_result_as_dense_ones(t):
    W = smoothing_kernel(distances_between(points(), points()), bandwidth=1.0)
    W[W < 0.01] = 0.0
    y = np.arange(60) % 3
    for method in ("dense", "sparse"):
        model = SelfSmoothing(t, metric="similarity", method=method).fit(W)
        for form in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
            np.testing.assert_allclose(model.transform(form(W[:9])), model.transform(W[:9]))
        similarity = SelfSmoothing(t, metric="similarity", method=method)
        vote = SimilarityVoteClassifier(3, similarity=similarity).fit(sparse.csr_array(W), y)
        expected = vote.predict_proba(W[:9])
        np.testing.assert_allclose(vote.predict_proba(sparse.csr_array(W[:9])), expected)


@pytest.mark.parametrize("t", [0, 3])
def test_missing_sparse_distances_have_similarity_zero(t):
    """The scale of a point is the mean of its n_neighbors smallest stored distances."""
    X, new = points(), points(8, seed=1)
    model = SelfSmoothing(t, metric="precomputed", n_neighbors=5).fit(distances_between(X, X))
    lengths = distances_between(new, X)
    lengths[0, 0] = 0.0
    near = lengths <= np.sort(lengths, axis=1)[:, 11:12]
    rows = sparse.csr_array((lengths[near], np.nonzero(near)), shape=lengths.shape)
    assert rows.nnz == near.sum()  # the 0 is stored, as a distance
    far = np.where(near, lengths, 1e9)
    np.testing.assert_allclose(model.transform(rows), model.transform(far), atol=1e-9)
    with pytest.raises(ValueError, match=r"X\[1\] has zero similarity to every fitted item"):
        model.transform(sparse.vstack([rows[:1], sparse.csr_array((1, 60))]))


def test_votes_accept_sparse_input_only_if_their_tags_say_so():
    W, y = smoothing_kernel(distances_between(points(), points())), np.arange(60) % 3
    vote = SimilarityVoteClassifier(similarity="precomputed").fit(W, y)
    assert not vote.__sklearn_tags__().input_tags.sparse
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        vote.predict(sparse.csr_array(W))


@pytest.mark.parametrize("method", ["dense", "sparse"])
@pytest.mark.parametrize("t", [0, 3, "auto"])
def test_one_point(method, t):
    model = SelfSmoothing(t, method=method).fit([[1.0, 2.0]])
    rows = model.similarity_.toarray() if method == "sparse" else model.similarity_
    assert rows.tolist() == [[1.0]]
    assert model.transform([[1.0, 2.0]]).tolist() == [[1.0]]


def test_a_pipeline_returns_a_frame_with_one_column_per_fitted_point():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["x", "y"])
    X.index = [f"row {i}" for i in range(30)]
    pipeline = make_pipeline(StandardScaler(), SelfSmoothing(3))
    expected = pipeline.fit(X[:20]).transform(X)
    frame = pipeline.set_output(transform="pandas").fit(X[:20]).transform(X)
    np.testing.assert_array_equal(frame, expected)
    assert list(frame.index) == list(X.index)
    assert list(frame.columns) == [f"selfsmoothing{i}" for i in range(20)]
    assert list(frame.columns) == list(pipeline[-1].get_feature_names_out())
    with pytest.raises(NotFittedError):
        SelfSmoothing().get_feature_names_out()
