"""Kernel k-means: k-means in feature space, and matrices that are not kernels."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from vicinal import KernelKMeans, SelfSmoothing
from vicinal.cluster._kernel_kmeans import (
    FactoredKernel,
    FullKernel,
    SparseKernel,
    kernel_kmeans,
    kmeans_plus_plus,
)
from vicinal.similarity.smoothing.operator import project_psd


def literal_costs(K, labels):
    """|phi_i - mean of c|^2 of every item and cluster."""
    n, c = len(K), labels.max() + 1
    costs = np.empty((n, c))
    for i in range(n):
        for k in range(c):
            members = np.flatnonzero(labels == k)
            inside = sum(K[a, b] for a in members for b in members) / len(members) ** 2
            costs[i, k] = K[i, i] - 2 * sum(K[i, j] for j in members) / len(members) + inside
    return costs


@st.composite
def factors(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(2, 20))
    F = rng.normal(size=(n, draw(st.integers(1, 4))))
    return F[rng.integers(n, size=n)] if draw(st.booleans()) else F  # with duplicates


@settings(max_examples=60)
@given(factors(), st.data())
def test_a_result_is_a_fixed_point_and_its_inertia_that_of_the_definition(F, data):
    c = data.draw(st.integers(1, len(F)))
    K = F @ F.T
    model = KernelKMeans(c, kernel="precomputed", n_init=2, random_state=0).fit(K)
    labels = model.labels_
    costs = literal_costs(K, labels)
    assigned = costs[np.arange(len(K)), labels]
    assert labels.max() + 1 == c
    assert model.inertia_ == pytest.approx(assigned.sum(), abs=1e-9)
    assert (assigned <= costs.min(axis=1) + 1e-9).all() or len(np.unique(F, axis=0)) < c
    # Clusters are numbered by their first items.
    assert np.unique(labels, return_index=True)[1].tolist() == sorted(
        np.unique(labels, return_index=True)[1]
    )


# Two points and their duplicates, whose distances are rounding errors in one of the kernels.
DUPLICATES = np.random.default_rng(0).normal(size=(2, 4))[[0, 0, 1, 0, 1]]


@settings(max_examples=30)
@example(DUPLICATES, 0)
@given(factors(), st.integers(0, 5))
def test_full_sparse_and_factored_kernels_give_the_same_clusters(F, seed):
    c = min(3, len(F))
    K = F @ F.T
    kernels = [FullKernel(K), SparseKernel(sparse.csr_array(K)), FactoredKernel(F)]
    starts = [kmeans_plus_plus(kernel, c, np.random.default_rng(seed)) for kernel in kernels]
    assert len({tuple(start) for start in starts}) == 1
    results = [kernel_kmeans(kernel, c, seed, 100) for kernel in kernels]
    assert results[0].inertia == pytest.approx(results[1].inertia, abs=1e-8)
    assert results[0].inertia == pytest.approx(results[2].inertia, abs=1e-8)


def test_linear_kernel_is_k_means():
    X, _ = make_blobs(300, centers=5, cluster_std=1.5, random_state=1)
    ours = KernelKMeans(5, kernel="linear", random_state=0).fit(X)
    theirs = KMeans(5, n_init=10, random_state=0).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    new = X[:50] + 0.1
    assert adjusted_rand_score(ours.predict(new), theirs.predict(new)) == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{}, {"kernel": "linear"}])
@pytest.mark.parametrize(
    ("factor", "shift"), [(1.0, 1e9), (1e-300, 0.0), (1e-160, 0.0), (1e160, 0.0), (1e307, 0.0)]
)
def test_neither_shift_nor_unit_of_the_data_matters(factor, shift, options):
    X, truth = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    usual = KernelKMeans(3, random_state=0, **options).fit(X[::2])
    moved = (X + shift) * factor
    model = KernelKMeans(3, random_state=0, **options).fit(moved[::2])
    assert adjusted_rand_score(truth[::2], model.labels_) == 1.0
    np.testing.assert_array_equal(model.labels_, usual.labels_)
    np.testing.assert_array_equal(model.predict(moved), usual.predict(X))


@pytest.mark.parametrize(("factor", "shift"), [(1.0, 1e9), (1e-100, 0.0), (1e100, 0.0)])
def test_a_given_gamma_is_in_the_unit_of_the_data(factor, shift):
    X, _ = make_blobs(80, centers=3, random_state=0)
    expected = KernelKMeans(3, kernel=lambda A, B: rbf_kernel(A, B, 0.1), random_state=0).fit(X)
    moved, gamma = (X + shift) * factor, 0.1 / factor**2
    model = KernelKMeans(3, gamma=gamma, random_state=0).fit(moved)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-6)
    np.testing.assert_array_equal(model.predict(moved), model.labels_)


def test_inertia_is_in_the_unit_of_the_data():
    X, _ = make_blobs(60, centers=3, random_state=0)
    model = KernelKMeans(3, kernel="linear", random_state=0).fit(100.0 + 7.0 * X)
    means = np.array([X[model.labels_ == c].mean(axis=0) for c in range(3)])
    expected = 49.0 * np.sum((X - means[model.labels_]) ** 2)
    assert model.inertia_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.filterwarnings("error")
def test_a_gaussian_too_narrow_for_floats_sees_every_point_alone():
    X = np.random.default_rng(0).normal(size=(6, 2)) * 1e200
    model = KernelKMeans(6, gamma=1.0, random_state=0).fit(X)
    assert model.labels_.tolist() == list(range(6))
    assert model.predict([[1e308, -1e308]]).shape == (1,)


def test_a_kernel_sees_what_lines_cannot():
    X, y = make_circles(200, factor=0.2, noise=0.05, random_state=0)
    squares = KernelKMeans(2, kernel=lambda A, B: (A @ B.T) ** 2 + A @ B.T, random_state=0)
    radial = KernelKMeans(2, kernel=lambda A, B: ((A**2).sum(1)[:, None]) * (B**2).sum(1))
    assert adjusted_rand_score(y, radial.fit_predict(X)) == 1
    assert adjusted_rand_score(y, squares.fit_predict(X)) < 0.5


def test_every_form_of_a_kernel_is_the_same():
    X, _ = make_blobs(120, centers=4, random_state=0)
    K = rbf_kernel(X, gamma=0.2)
    K[K < 0.05] = 0
    options = {"kernel": "precomputed", "psd": "project", "random_state": 0}
    expected = KernelKMeans(4, **options).fit(K)
    frozen = np.asfortranarray(K)
    frozen.flags.writeable = False
    for form in (frozen, sparse.csr_array(K), sparse.coo_matrix(K), K.astype(np.float32)):
        model = KernelKMeans(4, **options).fit(form)
        assert adjusted_rand_score(model.labels_, expected.labels_) == 1
    by_points = KernelKMeans(4, gamma=0.2, random_state=0).fit(X)
    assert adjusted_rand_score(by_points.labels_, expected.labels_) == 1


@pytest.mark.parametrize("psd", ["check", "project"])
def test_fitted_items_keep_their_clusters(psd):
    X, _ = make_blobs(150, centers=4, random_state=2)
    K = rbf_kernel(X, gamma=0.5)
    model = KernelKMeans(4, kernel="precomputed", psd=psd, random_state=0).fit(K)
    np.testing.assert_array_equal(model.predict(K), model.labels_)
    by_points = KernelKMeans(4, gamma=0.5, random_state=0).fit(X)
    np.testing.assert_array_equal(by_points.predict(X), by_points.labels_)


def test_projection_makes_a_kernel_of_a_smoothed_similarity():
    X, y = make_blobs(150, centers=3, cluster_std=0.5, random_state=0)
    W = SelfSmoothing(t=50).fit(X).similarity_
    with pytest.raises(ValueError, match=r"not symmetric.*psd='project'"):
        KernelKMeans(3, kernel="precomputed").fit(W)
    model = KernelKMeans(3, kernel="precomputed", psd="project", random_state=0).fit(W)
    by_hand = KernelKMeans(3, kernel="precomputed", random_state=0).fit(project_psd(W))
    assert model.inertia_ == pytest.approx(by_hand.inertia_, rel=1e-6)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    # Rows of the symmetric part are projected as the fitted rows were; those of W are others.
    np.testing.assert_array_equal(model.predict((W + W.T) / 2), model.labels_)


@pytest.mark.parametrize("n", [3, 150])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_matrix_that_is_not_positive_semi_definite_raises(n, form):
    K = np.eye(n)
    K[0, 1] = K[1, 0] = 1.5
    with pytest.raises(ValueError, match=r"eigenvalue -0\.5.*psd='project'"):
        KernelKMeans(2, kernel="precomputed").fit(form(K))
    assert KernelKMeans(2, kernel="precomputed", psd="project").fit(form(K)).inertia_ >= 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_items_with_zero_kernel_have_zero_inertia(form):
    model = KernelKMeans(3, kernel="precomputed", random_state=0).fit(form(np.zeros((200, 200))))
    assert model.inertia_ == 0
    assert np.bincount(model.labels_).min() >= 1


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda A, B: np.full((len(A), len(B)), np.nan), "NaN"),
        (lambda A, B: np.ones(len(A)), r"shape \(4,\).*shape \(4, 4\)"),
    ],
)
@pytest.mark.parametrize("psd", ["check", "project"])
def test_a_function_that_is_not_a_kernel_raises(kernel, psd, words):
    with pytest.raises(ValueError, match=words):
        KernelKMeans(2, kernel=kernel, psd=psd).fit(np.eye(4))


def test_any_number_of_threads_gives_the_same_bits():
    X = np.random.default_rng(0).normal(size=(200, 3))
    one, two = (KernelKMeans(6, n_jobs=j, random_state=3).fit(X) for j in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.inertia_ == two.inertia_


def test_more_clusters_than_different_points_leaves_none_empty():
    model = KernelKMeans(4, random_state=0).fit(np.ones((6, 2)))
    assert np.bincount(model.labels_).min() >= 1
    assert model.inertia_ == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        (np.eye(3), {"n_clusters": 4}, "n_clusters=4.*n_samples=3"),
        (np.ones((3, 2)), {"kernel": "precomputed"}, "square"),
        (np.eye(3), {"kernel": "sigmoid"}, "kernel='sigmoid'"),
        (np.eye(3), {"psd": "shift"}, "psd='shift'"),
        (np.eye(3), {"gamma": -1.0}, "gamma=-1"),
        (np.eye(3), {"n_init": 0}, "n_init=0"),
        (np.full((2, 2), np.nan), {"kernel": "precomputed"}, "NaN"),
    ],
)
def test_bad_input_is_named(X, options, words):
    with pytest.raises(ValueError, match=words):
        KernelKMeans(**{"n_clusters": 2, **options}).fit(X)


def test_a_kernel_of_far_larger_rank_than_clusters_warns():
    kernel = np.eye(60) + 1e-3
    model = KernelKMeans(3, kernel="precomputed", psd="project", random_state=0)
    with pytest.warns(
        UserWarning, match=r"effective rank of about 60.*SelfSmoothing\(n_clusters=3\)"
    ):
        model.fit(kernel)
    blocks = np.kron(np.eye(3), np.ones((20, 20))) + 1e-3 * np.eye(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(blocks)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed", linear_kernel])
def test_membership_is_inverse_to_squared_distances(kernel):
    X, _ = make_blobs(90, 3, centers=3, random_state=0)
    items = X @ X.T if kernel == "precomputed" else X
    model = KernelKMeans(3, kernel=kernel, random_state=0).fit(items)
    fitted = model.probabilities_
    assert fitted.shape == (90, 4)
    np.testing.assert_allclose(fitted.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted[:, -1], 0.0)
    np.testing.assert_array_equal(fitted.argmax(axis=1), model.labels_)
    new = model.predict_proba(items)
    np.testing.assert_array_equal(new.argmax(axis=1), model.predict(items))
    np.testing.assert_allclose(new.sum(axis=1), 1.0)
    if kernel != "precomputed":
        np.testing.assert_allclose(new, fitted, atol=1e-9)
    if kernel == "linear":
        means = np.array([X[model.labels_ == c].mean(axis=0) for c in range(3)])
        inverse = 1.0 / np.square(X[:, None] - means).sum(axis=2)
        np.testing.assert_allclose(fitted[:, :3], inverse / inverse.sum(axis=1, keepdims=True))


def test_membership_of_equal_points_is_shared():
    model = KernelKMeans(2, random_state=0).fit(np.ones((5, 2)))
    np.testing.assert_array_equal(model.probabilities_, [[0.5, 0.5, 0.0]] * 5)
