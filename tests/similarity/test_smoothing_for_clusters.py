"""The number of steps for a kernel with a given number of clusters."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from vicinal import KernelKMeans, SelfSmoothing
from vicinal.datasets import make_two_moons


def effective_rank(affinity, t):
    """From all eigenvalues of the walk."""
    degrees = affinity.sum(axis=1)
    values = np.linalg.eigvalsh(affinity / np.sqrt(np.outer(degrees, degrees)))
    powers = values ** (t + 1)
    return powers.sum() ** 2 / (powers**2).sum()


def clusters(X, k, **params):
    similarity = SelfSmoothing(random_state=0, **params).fit(X).similarity_
    return KernelKMeans(k, kernel="precomputed", psd="project", random_state=0).fit_predict(
        similarity
    )


def test_t_is_where_the_effective_rank_falls_to_the_number_of_clusters():
    X = np.random.default_rng(0).normal(size=(150, 3))
    for k in (3, 10):
        model = SelfSmoothing(n_clusters=k).fit(X)
        for t, rank in model.t_curve_:
            assert rank == pytest.approx(effective_rank(model.affinity_, t))
        assert (model.t_curve_[:-1, 1] > k).all()
        assert effective_rank(model.affinity_, model.t_) == pytest.approx(k, rel=0.1)
    assert SelfSmoothing(n_clusters=3).fit(X).t_ > model.t_


def test_kernel_k_means_finds_what_it_misses_at_the_t_for_retrieval():
    X, truth = make_two_moons(300, noise=0.05, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = adjusted_rand_score(truth, clusters(X, 2))
    assert before < 0.5
    assert adjusted_rand_score(truth, clusters(X, 2, n_clusters=2)) == 1.0


def test_a_table_keeps_its_clusters():
    X, truth = load_wine(return_X_y=True)
    assert adjusted_rand_score(truth, clusters(scale(X), 3, n_clusters=3)) > 0.8


def test_separate_clusters_end_the_search_and_are_found():
    X, truth = make_blobs(200, 2, centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    model = SelfSmoothing(n_clusters=3).fit(X)
    assert model.t_curve_[-1, 1] == pytest.approx(3, rel=0.02)
    assert adjusted_rand_score(truth, clusters(X, 3, n_clusters=3)) == 1.0


def test_a_sample_of_a_sparse_similarity_gives_about_the_same_t():
    X, _ = make_blobs(400, 3, centers=6, random_state=0)
    full = SelfSmoothing(n_clusters=6, method="dense").fit(X).t_
    sampled = SelfSmoothing(n_clusters=6, method="sparse", random_state=0).fit(X).t_
    assert 0.3 < sampled / full < 3


def test_an_asymmetric_similarity_has_a_t_for_clusters_too():
    X, _ = make_blobs(60, 2, centers=3, random_state=1)
    W = np.exp(-np.linalg.norm(X[:, None] - X, axis=2))
    W[0] *= 0.9
    W[0, 0] = 1.0
    model = SelfSmoothing(n_clusters=3, metric="similarity").fit(W)
    assert model.t_ >= 1
    assert model.t_curve_.shape[1] == 2


def test_the_number_of_clusters_does_not_matter_to_a_given_t():
    X = np.random.default_rng(0).normal(size=(40, 2))
    given = SelfSmoothing(7, n_clusters=3).fit(X)
    assert given.t_ == 7
    assert given.t_curve_ is None
    assert (given.similarity_ == SelfSmoothing(7).fit(X).similarity_).all()


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.5, TypeError), ("x", TypeError)])
def test_a_bad_number_of_clusters_is_named(value, error):
    with pytest.raises(error, match="n_clusters="):
        SelfSmoothing(n_clusters=value).fit(np.eye(5))
