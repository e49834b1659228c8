"""The L1 graph: codes that are optimal, exact where requested, and correct on difficult data."""

import pickle

import numpy as np
import pytest
from code_oracles import basis_pursuit, dense, lasso, relative_gap, unit_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vicinal import SpectralClustering
from vicinal.codes._sparse_codes import sparse_codes
from vicinal.graphs import l1


def table(n, n_features, seed=0):
    return np.random.default_rng(seed).standard_normal((n, n_features))


@pytest.mark.parametrize(
    ("n", "n_features", "penalty"),
    [(60, 5, 0.1), (60, 5, 0.01), (40, 60, 0.2), (50, 2, 0.05), (30, 30, 0.5)],
)
def test_codes_are_those_of_the_positive_lasso(n, n_features, penalty):
    X = table(n, n_features)
    W, Z = dense(l1(X, penalty)), unit_rows(X)
    for i in range(0, n, 7):
        others = np.delete(np.arange(n), i)
        np.testing.assert_allclose(W[i, others], lasso(Z[others], Z[i], penalty), atol=1e-6)


def test_signed_codes_are_those_of_the_lasso():
    Z = unit_rows(table(50, 12))
    codes = sparse_codes(Z, penalty=0.1, signed=True)
    assert (codes.values < 0).any()
    assert (codes.values > 0).any()
    for i in range(0, 50, 9):
        others = np.delete(np.arange(50), i)
        ours = np.zeros(50)
        part = slice(codes.indptr[i], codes.indptr[i + 1])
        ours[codes.indices[part]] = codes.values[part]
        np.testing.assert_allclose(ours[others], lasso(Z[others], Z[i], 0.1, False), atol=1e-6)


@pytest.mark.parametrize("n_features", [1, 2, 3, 10, 80])
@pytest.mark.parametrize("penalty", [1e-6, 0.01, 0.3, "auto"])
def test_duality_gaps_are_zero(n_features, penalty):
    X = table(120, n_features, seed=3)
    graph = l1(X, penalty)
    W, Z = dense(graph), unit_rows(X)
    assert graph.metadata["codes"].gaps.max() < 1e-8
    for i in range(0, 120, 17):
        others = np.delete(np.arange(120), i)
        penalty = graph.metadata["codes"].penalties[i]
        if penalty > 0:
            assert relative_gap(Z[others], Z[i], W[i, others], penalty) < 1e-8


@pytest.mark.parametrize(("n", "n_features"), [(60, 4), (80, 15), (40, 2)])
def test_exact_codes_are_as_short_as_those_of_the_linear_program(n, n_features):
    X = table(n, n_features, seed=1)
    graph = l1(X, equality=True)
    W, Z = dense(graph), unit_rows(X)
    assert graph.metadata["codes"].gaps.max() < 1e-8
    for i in range(n):
        others = np.delete(np.arange(n), i)
        best = basis_pursuit(Z[others], Z[i])
        assert (best is None) == (i in graph.metadata["codes"].inexact)
        if best is not None:
            np.testing.assert_allclose(W[i] @ Z, Z[i], atol=1e-8)
            assert W[i].sum() == pytest.approx(best, abs=1e-8)
            assert graph.metadata["codes"].penalties[i] == 0
            assert graph.metadata["codes"].explained[i] == pytest.approx(1.0)


def test_points_without_an_exact_code_are_listed_and_get_a_penalised_code():
    # In the positive quadrant, the two outermost directions are no combination of the others.
    angles = np.linspace(0.1, 1.4, 12)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    graph = l1(X, 0.05, equality=True)
    np.testing.assert_array_equal(graph.metadata["codes"].inexact, [0, 11])
    penalised = dense(l1(X, 0.05))
    np.testing.assert_allclose(dense(graph)[[0, 11]], penalised[[0, 11]], atol=1e-12)
    np.testing.assert_array_equal(graph.metadata["codes"].penalties[[0, 5, 11]], [0.05, 0.0, 0.05])


def test_codes_are_nonnegative_with_a_zero_diagonal_and_explain_what_they_report():
    X = table(100, 8)
    graph = l1(X, 0.1)
    W, Z = dense(graph), unit_rows(X)
    assert graph.directed
    assert W.min() >= 0
    assert not W.diagonal().any()
    np.testing.assert_array_equal(graph.metadata["codes"].support_sizes, (W > 0).sum(axis=1))
    np.testing.assert_allclose(
        graph.metadata["codes"].explained, 1 - ((Z - W @ Z) ** 2).sum(axis=1)
    )
    assert len(graph.metadata["codes"].inexact) == 0


def test_without_normalisation_codes_use_the_raw_points():
    X = 100 * table(40, 6)
    penalty = 300.0
    graph = l1(X, penalty, normalize=False)
    np.testing.assert_allclose(graph.metadata["codes"].penalties, penalty)
    W = dense(graph)
    others = np.arange(1, 40)
    np.testing.assert_allclose(W[0, others], lasso(X[others], X[0], penalty), atol=1e-6)


def test_coefficients_above_one_are_kept_by_their_unit():
    # x = 5 (u + v) for nearly opposite u and v.
    X = np.array([[1.0, 0.0], [0.1, 1.0], [0.1, -1.0]])
    graph = l1(X, equality=True)
    assert graph.strengths.max() == 1.0
    assert graph.metadata["codes"].unit == pytest.approx(np.hypot(0.1, 1.0) / 0.2)
    np.testing.assert_allclose(dense(graph)[0] @ unit_rows(X), X[0], atol=1e-12)


@pytest.mark.parametrize("equality", [False, True])
def test_duplicates_serve_as_atoms(equality):
    X = np.repeat(table(10, 3), 3, axis=0)
    graph = l1(X, 0.1, equality=equality)
    W = dense(graph)
    same = np.kron(np.eye(10), np.ones((3, 3)))
    assert graph.metadata["codes"].gaps.max() < 1e-8
    np.testing.assert_allclose((W * same).sum(axis=1), 1.0 if equality else 0.9, atol=1e-9)


def test_the_graph_follows_the_order_of_the_points_and_ignores_their_lengths():
    X = table(60, 6)
    order = np.random.default_rng(1).permutation(60)
    W = dense(l1(X, 0.1))
    np.testing.assert_allclose(dense(l1(X[order], 0.1)), W[np.ix_(order, order)], atol=1e-9)
    lengths = np.random.default_rng(2).uniform(0.1, 10, (60, 1))
    np.testing.assert_allclose(dense(l1(X * lengths, 0.1)), W, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    X=arrays(
        np.int64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.integers(-3, 3)
    ),
    penalty=st.sampled_from([0.001, 0.1, 0.7, "auto"]),
    equality=st.booleans(),
)
def test_ties_lines_and_duplicates_have_optimal_codes(X, penalty, equality):
    X = X[X.any(axis=1)]
    if len(X) == 0:
        return
    graph = l1(X, penalty, equality=equality)
    W, Z = dense(graph), unit_rows(X.astype(float))
    assert graph.metadata["codes"].gaps.max() < 1e-8
    for i in range(len(X)):
        others = np.delete(np.arange(len(X)), i)
        penalty = graph.metadata["codes"].penalties[i]
        if penalty > 0 and len(others):
            assert relative_gap(Z[others], Z[i], W[i, others], penalty) < 1e-8
        if equality and len(others):
            best = basis_pursuit(Z[others], Z[i])
            assert (best is None) == (i in graph.metadata["codes"].inexact)
            if best is not None:
                assert W[i].sum() == pytest.approx(best, abs=1e-8)


def test_points_without_positive_products_have_no_edges():
    graph = l1(np.vstack([np.eye(3), -np.eye(3)]))
    assert graph.n_edges == 0
    assert not graph.metadata["codes"].explained.any()
    assert l1(np.array([[1.0, 2.0]])).n_edges == 0


def test_one_feature_gives_two_components():
    W = dense(l1(np.array([[1.0], [2.0], [-1.0], [-5.0], [3.0]]), 0.1))
    sides = np.array([1, 1, -1, -1, 1])
    np.testing.assert_allclose(W.sum(axis=1), 0.9)
    assert not W[np.not_equal.outer(sides, sides)].any()


def test_clustering_uses_the_mean_of_both_directions():
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(3) * 5, 30, axis=0)
    X = centres + 0.5 * rng.standard_normal(centres.shape)
    model = SpectralClustering(3, graph="l1", graph_params={"penalty": 0.1}, random_state=0).fit(X)
    W = dense(l1(X, 0.1)) / model.graph_.metadata["codes"].unit
    np.testing.assert_allclose(model.affinity_.toarray(), (W + W.T) / 2)
    assert model.scale_ == np.inf
    assert model.graph_.metadata["codes"].support_sizes.shape == (90,)
    assert (model.labels_.reshape(3, 30) == model.labels_[::30, None]).all()
    np.testing.assert_array_equal(model.predict(X[::7]), model.labels_[::7])


def test_quality_survives_pickling():
    graph = pickle.loads(pickle.dumps(l1(table(20, 3))))
    assert graph.metadata["codes"].gaps.shape == (20,)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"penalty": 0}, "penalty=0.*> 0"),
        ({"penalty": -1.0}, "penalty"),
        ({"penalty": np.nan}, "penalty"),
        ({"penalty": "small"}, "penalty='small'.*'auto'"),
        ({"penalty": None}, "penalty=None"),
    ],
)
def test_errors_name_the_invalid_penalty(changes, words):
    with pytest.raises((TypeError, ValueError), match=words):
        l1(table(10, 3), **changes)


def test_errors_name_zero_rows():
    X = table(10, 3)
    X[[2, 7]] = 0.0
    with pytest.raises(ValueError, match=r"2 row\(s\) of zeros, row\(s\) 2, 7"):
        l1(X)
    with pytest.raises(ValueError, match=r"row\(s\) 2, 7"):
        l1(X, normalize=False)
