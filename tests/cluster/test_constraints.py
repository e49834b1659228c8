"""Constraints on clusters: pairs that belong together or apart, and limits on size."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal import PerceptualClustering, SpectralClustering
from vicinal.cluster._constraints import constrained_labels, read_constraints

pytestmark = pytest.mark.filterwarnings("ignore:the graph is not fully connected")
KINDS = [SpectralClustering, PerceptualClustering]


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    return centers[truth] + rng.normal(size=(120, 2)), truth


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_all_pairs_are_satisfied(kind, n_clusters, blobs):
    X, _ = blobs
    rng = np.random.default_rng(1)
    together = rng.choice(120, (10, 2), replace=False)
    rest = np.setdiff1d(np.arange(120), together)
    apart = rng.choice(rest, (10, 2), replace=False)
    model = kind(n_clusters, random_state=0)
    labels = model.fit(X, must_link=together, cannot_link=apart).labels_
    assert (labels[together[:, 0]] == labels[together[:, 1]]).all()
    assert (labels[apart[:, 0]] != labels[apart[:, 1]]).all()
    assert (labels[np.r_[together.ravel(), apart.ravel()]] >= 0).all()
    free = kind(n_clusters, random_state=0).fit(X).labels_
    others = np.setdiff1d(rest, apart)
    assert np.mean(labels[others] == free[others]) > 0.95
    assert model.predict(X).max() < model.n_clusters_


@pytest.mark.parametrize("kind", KINDS)
def test_the_automatic_number_is_enough_for_all_pairs(kind, blobs):
    X, _ = blobs
    rows = [0, 1, 2, 45, 46]
    apart = list(itertools.combinations(rows, 2))
    model = kind(random_state=0).fit(X, cannot_link=apart)
    assert len(set(model.labels_[rows].tolist())) == 5
    assert model.n_clusters_ == len(set(model.labels_.tolist()) - {-1})


@pytest.mark.parametrize("kind", KINDS)
def test_constraints_of_one_fit_do_not_affect_the_next(kind, blobs):
    X, _ = blobs
    model = kind(3, random_state=0)
    free = model.fit(X).labels_
    model.fit(X, cannot_link=[[0, 1]])
    assert np.array_equal(model.fit(X).labels_, free)


@pytest.mark.parametrize("kind", KINDS)
def test_no_cluster_is_larger_than_allowed(kind, blobs):
    X, _ = blobs
    model = kind(4, max_cluster_size=32, random_state=0).fit(X)
    counts = np.bincount(model.labels_[model.labels_ >= 0])
    assert counts.max() <= 32
    automatic = kind(max_cluster_size=25, random_state=0).fit(X)
    assert np.bincount(automatic.labels_[automatic.labels_ >= 0]).max() <= 25


@pytest.mark.parametrize("kind", KINDS)
def test_small_clusters_are_dissolved(kind, blobs):
    X, _ = blobs
    far = np.concatenate([X, [[30.0, 30.0], [30.1, 30.0], [30.0, 30.1], [30.1, 30.1]]])
    model = kind(4, random_state=0, min_cluster_size=10)
    model.fit(far)
    counts = np.bincount(model.labels_[model.labels_ >= 0])
    assert counts.min() >= 10
    assert model.n_clusters_ == len(counts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ({"must_link": [[0, 1], [1, 2]], "cannot_link": [[2, 0]]}, "must_link connects these rows"),
        ({"cannot_link": [[3, 3]]}, "of a row with itself"),
        ({"must_link": [[0, 500]]}, "rows 0 to 119"),
        ({"must_link": [0, 1]}, "pairs of row numbers"),
        ({"cannot_link": [[0.0, 1.0]]}, "pairs of row numbers"),
        ({"cannot_link": [[0, 1], [1, 2], [0, 2]]}, "need more than 2 clusters"),
    ],
)
def test_impossible_constraints_are_explained(kind, pairs, message, blobs):
    with pytest.raises((ValueError, TypeError), match=message):
        kind(2, random_state=0).fit(blobs[0], **pairs)


def test_equal_rows_cannot_be_separated_by_contexts(blobs):
    X = blobs[0].copy()
    X[7] = X[3]
    with pytest.raises(ValueError, match="these rows are equal"):
        PerceptualClustering(3).fit(X, cannot_link=[[3, 7]])


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_that_cannot_be_met_are_explained(kind, blobs):
    X, _ = blobs
    with pytest.raises(ValueError, match="leave no room for 1"):
        kind(
            2, max_cluster_size=20, random_state=0, **({"noise": 0} if kind is KINDS[1] else {})
        ).fit(X)
    with pytest.raises(ValueError, match="min_cluster_size"):
        kind(2, min_cluster_size=30, max_cluster_size=20).fit(X)
    with pytest.raises(ValueError, match="connected by must_link"):
        kind(9, max_cluster_size=20).fit(X, must_link=[[0, i] for i in range(1, 30)])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_assignments_satisfy_constraints_at_the_lowest_cost(seed):
    """On few nodes, compared with all assignments: found if there is one, and free nodes are not moved."""
    rng = np.random.default_rng(seed)
    n, c = 6, 3
    costs = rng.random((n, c))
    together, apart = rng.integers(0, n, (2, 2)), rng.integers(0, n, (4, 2))
    apart = apart[apart[:, 0] != apart[:, 1]]
    try:
        constraints = read_constraints(together, apart, None, None, np.ones(n, np.int64))
    except ValueError:
        return
    feasible = [
        labels
        for labels in map(np.array, itertools.product(range(c), repeat=n))
        if (labels[together[:, 0]] == labels[together[:, 1]]).all()
        and (labels[apart[:, 0]] != labels[apart[:, 1]]).all()
    ]
    if not feasible:
        with pytest.raises(ValueError, match="need more than 3"):
            constrained_labels(costs, constraints)
        return
    labels = constrained_labels(costs, constraints)
    assert any(np.array_equal(labels, one) for one in feasible)
    free = np.setdiff1d(np.arange(n), np.r_[together.ravel(), apart.ravel()])
    assert np.array_equal(labels[free], costs[free].argmin(axis=1))
