"""Spectra of ultrametric matrices against LAPACK, where eigenvalues are close or repeated."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh, eigvalsh, subspace_angles

from vicinal.operators._ultrametric_kernels import factor, solve
from vicinal.operators.ultrametric import (
    Ultrametric,
    _Pencil,
    centered_ultrametric_pairs,
    normalized_ultrametric_pairs,
)
from vicinal.similarity.paths._merge_tree import MergeTree


def random_tree(seed, n, kind="random"):
    """Merges along random edges: of any height, of few heights, a chain, or several components."""
    rng = np.random.default_rng(seed)
    edges = np.array([[rng.integers(0, i), i] for i in range(1, n)]).reshape(-1, 2)
    if kind == "chain":
        edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    heights = rng.random(n - 1) * rng.choice([0.1, 2.0, 8.0])
    if kind == "tied":
        heights = np.round(heights * 2) / 2
    if kind == "components":
        keep = rng.random(n - 1) < 0.8
        edges, heights = edges[keep], heights[keep]
    return MergeTree(n, edges, heights)


def dense(operator):
    return operator @ np.eye(operator.shape[0])


kinds = st.sampled_from(["random", "tied", "chain", "components"])


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 40), kind=kinds)
def test_it_is_the_matrix_of_heights_of_common_ancestors(seed, n, kind):
    tree = random_tree(seed, n, kind)
    A = dense(Ultrametric(tree))
    heights = tree.rows(np.arange(n), np.nan)
    finite = heights[np.isfinite(heights)]
    with np.errstate(under="ignore"):
        expected = np.exp(-(heights - (finite.min() if len(finite) else 0.0)))
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(A, expected, atol=1e-13)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 40), kind=kinds, shift=st.floats(-0.5, 20.0))
def test_counts_and_solves_at_any_shift(seed, n, kind, shift):
    operator = Ultrametric(random_tree(seed, n, kind))
    rng = np.random.default_rng(seed)
    leaves = operator.tree.leaves
    diagonal = 0.5 + rng.random(n)
    A = dense(operator)[np.ix_(leaves, leaves)]
    shifted = shift * np.diag(diagonal) - A
    values = eigvalsh(shifted)
    if np.abs(values).min() < 1e-6:
        return
    pivots, grown = np.empty(n - 1), np.empty(n - 1)
    below = factor(*operator.structure, diagonal, shift, pivots, grown)
    assert below == np.count_nonzero(values < 0)
    B = rng.normal(size=(n, 2))
    result = np.empty_like(B)
    solve(*operator.structure, diagonal, shift, pivots, grown, B, result)
    error = np.abs(shifted @ result - B).max()
    assert error < 1e-8 * max(1.0, np.abs(result).max()) * np.abs(values).max()
    assert grown[0] == pytest.approx(np.linalg.inv(shifted).sum(), rel=1e-6, abs=1e-6)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(5, 60), kind=kinds)
def test_leading_pairs_are_those_of_lapack(seed, n, kind):
    operator = Ultrametric(random_tree(seed, n, kind))
    A = dense(operator)
    sums = A.sum(axis=1)
    walk = A / np.sqrt(np.outer(sums, sums))
    centring = np.eye(n) - 1.0 / n
    for matrix, find in (
        (walk, normalized_ultrametric_pairs),
        (centring @ A @ centring, centered_ultrametric_pairs),
    ):
        values, vectors = eigh(matrix)
        values, vectors = values[::-1], vectors[:, ::-1]
        pairs = find(operator, 4)
        np.testing.assert_allclose(pairs.values, values[:4], atol=1e-11 * n)
        np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(4), atol=1e-9)
        assert pairs.residuals.max() < 1e-10 * n
        if values[3] - values[4] > 1e-5:
            assert subspace_angles(pairs.vectors, vectors[:, :4]).max() < 1e-6


def test_many_equal_eigenvalues_are_all_found():
    # Ten equal clusters: eigenvalue 1, then nine equal ones, then all others.
    n = 200
    within = [[10 * (i // 10), i] for i in range(n) if i % 10]
    across = [[0, 10 * i] for i in range(1, n // 10)]
    heights = np.concatenate([np.zeros(len(within)), np.ones(len(across))])
    tree = MergeTree(n, np.array(within + across), heights)
    pairs = normalized_ultrametric_pairs(Ultrametric(tree), 21)
    repeated = (10 - 10 * np.exp(-1)) / (10 + 190 * np.exp(-1))
    np.testing.assert_allclose(pairs.values[1:20], repeated, rtol=1e-12)
    assert abs(pairs.values[20]) < 1e-12
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(21), atol=1e-10)


def similar_by_quarters(n, edges, powers):
    """Similarities 1/4 to whole powers, exact on any platform."""
    operator = Ultrametric(MergeTree(n, np.array(edges), np.array(powers) * 2 * np.log(2.0)))
    operator.drops, operator.leaf_drops = operator.drops.round(9), operator.leaf_drops.round(9)
    return operator


def exact_shift(pencil, value):
    """Eigenvalue argument of `_vector` for which the shift is the value itself."""
    given = value - 2.0 * np.spacing(pencil.largest)
    assert given + 2.0 * np.spacing(pencil.largest) == value
    return given


def test_a_shift_that_is_an_eigenvalue_of_the_centred_matrix_gives_its_vector():
    # Similarities 1 within a pair and 1/4 to a third point: all of the solution is exact, and the
    # ones solved for at the eigenvalue 1 have the sum 0, which the multiplier divides by.
    operator = similar_by_quarters(3, [[0, 1], [1, 2]], [0, 1])
    pencil = _Pencil(operator, np.ones(3), np.full((3, 1), 3**-0.5), 2.25, centered=True)
    pencil._factor(1.0)
    assert pencil.grown[0] == 0.0
    rng = np.random.default_rng(0)
    result = pencil._vector(exact_shift(pencil, 1.0), pencil.known, rng)[operator.tree.positions]
    np.testing.assert_allclose(abs(result), np.array([1, 1, 2]) / np.sqrt(6), rtol=1e-12)
    assert result[0] * result[2] < 0
    pairs = centered_ultrametric_pairs(operator, 2)
    np.testing.assert_allclose(pairs.values, [1.0, 0.0], atol=1e-14)


@pytest.mark.parametrize(
    ("edges", "powers", "value"),
    [
        # The pivots of both pairs vanish, ...
        ([[0, 1], [2, 3], [0, 2]], [0, 0, 1], 1.5),
        # ... that of the root, ...
        ([[0, 1], [1, 2], [2, 3]], [0, 1, 1], 1.0),
        # ... and the entries of two leaves.
        ([[0, 1], [1, 2], [2, 3]], [0, 1, 1], 0.75),
    ],
)
def test_a_shift_with_zero_pivots_gives_its_vector(edges, powers, value):
    operator = similar_by_quarters(4, edges, powers)
    leaves = operator.tree.leaves
    A = dense(operator)[np.ix_(leaves, leaves)]
    values, vectors = eigh(A)
    pencil = _Pencil(operator, np.ones(4), vectors[:, -1:], values[-1])
    pencil._factor(value)
    vanished = (np.abs(pencil.pivots) <= 1e-60).any() or (value == operator.leaf_drops).any()
    assert vanished
    shift = exact_shift(pencil, value)
    rng = pencil._vector(shift, pencil.known, np.random.default_rng(0))
    np.testing.assert_allclose(A @ rng, value * rng, atol=1e-13)
    assert np.linalg.norm(rng) == pytest.approx(1.0)


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_new_leaves_have_the_ancestors_of_their_point(power):
    tree = random_tree(3, 30)
    operator = Ultrametric(tree, (tree.heights - tree.heights.min()) ** power)
    A, X = dense(operator), np.random.default_rng(0).normal(size=(30, 2))
    points = np.array([0, 4, 4, 17, 29])
    heights = np.array([0.0, 0.3, 50.0, 1e-9, 0.8])
    rows = np.minimum(A[points], np.exp(-heights)[:, None])
    products = operator.attached_to(X).products(points, heights)
    np.testing.assert_allclose(products, rows @ np.column_stack([X, np.ones(30)]), atol=1e-12)
    for row, point, height in zip(products, points, heights, strict=True):
        one = operator.attached_to(X).products(np.array([point]), np.array([height]))
        np.testing.assert_array_equal(one[0], row)


def test_products_of_new_leaves_are_kept_for_the_same_vectors():
    operator, X = Ultrametric(random_tree(3, 30)), np.eye(30)
    assert operator.attached_to(X) is operator.attached_to(X)
    assert operator.attached_to(X) is not operator.attached_to(X.copy())
    assert pickle.loads(pickle.dumps(operator))._attached is None


def test_a_single_point_is_its_own_matrix():
    operator = Ultrametric(MergeTree(1, np.empty((0, 2), int), np.empty(0)))
    np.testing.assert_array_equal(operator @ np.array([3.0]), [3.0])
    np.testing.assert_array_equal(normalized_ultrametric_pairs(operator, 1).values, [1.0])
