"""`knn` counts distinct points if needed, so that duplicates do not disconnect the graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from vicinal import GraphClassifier, SpectralClustering, graphs


def survey(seed, n=600):
    """Two questions answered from 1 to 9 by people of three kinds."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 3, n)
    centres = np.array([[2, 2], [5, 6], [8, 2]])
    return np.clip(np.rint(centres[kinds] + rng.normal(size=(n, 2))), 1, 9), kinds


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 6), st.integers(1, 4))
def test_each_row_connects_to_its_nearest_distinct_points_and_a_duplicate(seed, n, k, n_values):
    X = np.random.default_rng(seed).integers(0, n_values, (n, 2)).astype(float)
    k = min(k, n - 1)
    plain, graph = graphs.knn(X, k, duplicates="keep"), graphs.knn(X, k)
    # Distinct points in the order of their first rows, which breaks ties.
    rows = [tuple(row) for row in X.tolist()]
    places = list(dict.fromkeys(rows))
    group = np.array([places.index(row) for row in rows])
    starts = plain.indptr
    blind = any(plain.lengths[starts[i] : starts[i + 1]].max() == 0 for i in range(n))
    if not blind or len(places) == 1:
        assert graph == plain
        return
    between = graphs.knn(places, min(k, len(places) - 1))
    for i in range(n):
        result = graph.indices[graph.indptr[i] : graph.indptr[i + 1]]
        lengths = graph.lengths[graph.indptr[i] : graph.indptr[i + 1]]
        np.testing.assert_allclose(lengths, np.linalg.norm(X[result] - X[i], axis=1))
        wanted = set(between.indices[between.indptr[group[i]] : between.indptr[group[i] + 1]])
        assert wanted <= set(group[result])
        assert set(group[result]) <= wanted | {group[i]}
        assert (group[result] == group[i]).any() == (np.sum(group == group[i]) > 1)
    assert graph.n_edges <= between.degrees[group].sum() + n * max(1, k // 2)


@pytest.mark.parametrize(("n_distinct", "n_neighbors"), [(3, 5), (4, 4), (4, 3), (6, 2), (2, 1)])
def test_merged_edges_are_the_literal_ones(n_distinct, n_neighbors):
    """At most n_distinct - 1 distinct neighbours, and n_neighbors // 2 next duplicates in a ring."""
    n_equal = 9
    positions = 2.0 ** np.arange(n_distinct)
    X = np.repeat(positions, n_equal)[:, None]
    expected = set()
    for a in range(n_distinct):
        others = sorted(
            (b for b in range(n_distinct) if b != a), key=lambda b: abs(positions[b] - positions[a])
        )
        for turn in range(n_equal):
            row = a * n_equal + turn
            for b in others[: min(n_neighbors, n_distinct - 1)]:
                expected.add(tuple(sorted((row, b * n_equal + turn))))
            for step in range(1, max(1, n_neighbors // 2) + 1):
                expected.add(tuple(sorted((row, a * n_equal + (turn + step) % n_equal))))
    assert {tuple(edge) for edge in graphs.knn(X, n_neighbors).edges().tolist()} == expected


def test_without_many_duplicates_it_is_the_knn_graph():
    X = np.random.default_rng(0).normal(size=(80, 3))
    assert graphs.knn(X, 5) == graphs.knn(X, 5, duplicates="keep")
    X[:4] = X[0]
    assert graphs.knn(X, 5) == graphs.knn(X, 5, duplicates="keep")


def test_identical_rows_keep_the_knn_graph():
    assert graphs.knn(np.ones((7, 2)), 3) == graphs.knn(np.ones((7, 2)), 3, duplicates="keep")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_clusters_of_answers_are_found(seed):
    X, kinds = survey(seed)
    assert graphs.knn(X, duplicates="keep").n_components > 3
    model = SpectralClustering("auto", random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(kinds, model.labels_) > 0.9


def test_labels_propagate_between_distinct_points():
    X, kinds = survey(0)
    y = np.full(len(X), -1)
    for kind, centre in enumerate([[2, 2], [5, 6], [8, 2]]):
        y[np.flatnonzero((centre == X).all(axis=1))[0]] = kind
    assert np.mean(GraphClassifier().fit(X, y).predict(X) == kinds) > 0.9


def test_two_distinct_points_are_two_clusters():
    X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 30, axis=0)
    labels = SpectralClustering(2, random_state=0).fit_predict(X)
    assert adjusted_rand_score(np.repeat([0, 1], 30), labels) == 1.0


def test_no_mutual_neighbours_if_all_duplicates_list_the_first_rows():
    X = np.repeat([[0.0], [1.0]], 12, axis=0)
    graph = graphs.knn(X, 3, mutual=True)
    assert graph.n_components == 1
    assert graph.degrees.min() > 0
