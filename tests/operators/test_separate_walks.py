"""Eigenpairs of walks on digraphs of several components, and of almost disconnected graphs."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

from vicinal.operators import leading_eigenpairs
from vicinal.operators._eigen import solvers as eigensolvers
from vicinal.operators._eigen.block_davidson import block_eigenpairs
from vicinal.operators._eigen.separate_walks import MAX_BLOCK_WIDTH, component_vectors
from vicinal.operators._eigen.solvers import FALLBACK_MAX_NODES
from vicinal.operators.aligned_laplacian import AlignedWalk
from vicinal.operators.digraph import SymmetricWalk
from vicinal.operators.eigenpairs import walk_eigenpairs
from with_threads import with_threads


def separate_digraph(sizes, seed=0, links=0.0):
    """A digraph of random components, each node with six successors; weak links tie them in a ring."""
    rng = np.random.default_rng(seed)
    rows, columns, start = [], [], 0
    for size in sizes:
        rows.append(np.repeat(np.arange(size), 6) + start)
        columns.append(rng.integers(0, size, 6 * size) + start)
        start += size
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    weights = sparse.csr_array((rng.random(len(rows)) + 0.1, (rows, columns)), shape=(start, start))
    if links:
        firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        ring = sparse.csr_array(
            (np.full(len(sizes), links), (firsts, np.roll(firsts, 1))), shape=weights.shape
        )
        weights = sparse.csr_array(weights + ring)
    return weights


@pytest.mark.parametrize("kind", [SymmetricWalk, AlignedWalk])
@pytest.mark.parametrize("n_pairs", [1, 2, 5, 6, 9])
@pytest.mark.parametrize("links", [0.0, 1e-9])
def test_all_eigenvalues_next_to_one_are_found_for_any_number_of_pairs(kind, n_pairs, links):
    walk = kind(separate_digraph([90, 100, 110, 120, 130, 140], links=links), 0.99999)
    n = walk.shape[0]
    expected, vectors = eigh(walk @ np.eye(n), subset_by_index=(n - 12, n - 1))
    pairs = walk_eigenpairs(walk, n_pairs)
    np.testing.assert_allclose(pairs.values, expected[::-1][1 : n_pairs + 1], rtol=0, atol=1e-9)
    assert pairs.residuals.max() < 1e-8
    every = np.column_stack([walk.trivial_vector, pairs.vectors])
    np.testing.assert_allclose(every.T @ every, np.eye(n_pairs + 1), atol=1e-7)
    # Six components: if all of their pairs are requested, they span what the dense solution does.
    if n_pairs >= 5:
        np.testing.assert_allclose(
            np.linalg.norm(vectors[:, ::-1][:, :6].T @ every[:, :6], axis=0), 1, atol=1e-6
        )


def test_more_components_than_the_block_size_converge():
    walk = SymmetricWalk(
        separate_digraph([12 + i % 5 for i in range(2 * MAX_BLOCK_WIDTH)]), 0.99999
    )
    assert component_vectors(walk).shape[1] >= 2 * MAX_BLOCK_WIDTH
    n = walk.shape[0]
    pairs = walk_eigenpairs(walk, 3)
    expected = eigh(walk @ np.eye(n), eigvals_only=True, subset_by_index=(n - 4, n - 2))[::-1]
    np.testing.assert_allclose(pairs.values, expected, rtol=0, atol=1e-9)
    assert pairs.residuals.max() < 1e-8


def test_isolated_nodes_are_not_slow_components():
    digraph = sparse.block_diag(
        [separate_digraph([300, 320]), sparse.csr_array((30, 30))], format="csr"
    )
    walk = SymmetricWalk(digraph, 0.99999)
    assert component_vectors(walk).shape[1] == 2
    n = walk.shape[0]
    expected = eigh(walk @ np.eye(n), eigvals_only=True, subset_by_index=(n - 5, n - 2))[::-1]
    np.testing.assert_allclose(walk_eigenpairs(walk, 4).values, expected, atol=1e-9)


def test_any_number_of_threads_gives_the_same_bits():
    walk = separate_digraph([3000] * 7)
    one, two = (
        with_threads(j, lambda: walk_eigenpairs(SymmetricWalk(walk, 0.99999), 9)) for j in (1, 2)
    )
    assert one.values.tobytes() == two.values.tobytes()
    assert one.vectors.tobytes() == two.vectors.tobytes()


def test_equal_eigenvalues_that_lanczos_missed_are_found():
    # One start vector finds one direction of each eigenspace: copies of one matrix have equal values.
    rng = np.random.default_rng(0)
    block = rng.standard_normal((150, 150))
    block = block + block.T
    matrix = sparse.csr_array(sparse.block_diag([block] * 5))
    pairs = leading_eigenpairs(matrix, 12, normalized=False, tolerance=1e-6)
    expected = np.repeat(np.linalg.eigvalsh(block)[::-1][:3], 5)[:12]
    np.testing.assert_allclose(pairs.values, expected, rtol=1e-8)


def test_a_path_with_weights_of_many_magnitudes_is_solved():
    n = FALLBACK_MAX_NODES + 3000
    weights = 10.0 ** np.random.default_rng(0).uniform(-6, 6, n - 1)
    path = sparse.diags_array([weights, weights], offsets=[-1, 1], format="csr")
    pairs = leading_eigenpairs(path, 4)
    assert pairs.residuals.max() < 1e-7
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(4), atol=1e-9)


def test_the_block_solver_is_the_last_resort(monkeypatch):
    def not_coarse(*args, **kwargs):
        raise eigensolvers.CoarseningStalled

    monkeypatch.setattr(eigensolvers, "MAX_RESTARTS", 1)
    monkeypatch.setattr(eigensolvers, "FALLBACK_MAX_NODES", 500)
    monkeypatch.setattr(eigensolvers, "MAX_BAND_ENTRIES", 0.0)
    monkeypatch.setattr(eigensolvers, "multilevel_eigenpairs", not_coarse)
    weights = separate_digraph([150] * 6, links=1e-3)
    weights = sparse.csr_array(weights + weights.T)
    sums = np.sqrt(weights.sum(axis=1))
    pairs = leading_eigenpairs(weights, 8)
    expected = np.linalg.eigvalsh(weights.toarray() / np.outer(sums, sums))[::-1][:8]
    np.testing.assert_allclose(pairs.values, expected, rtol=0, atol=1e-10)


def test_a_block_keeps_its_residual_and_orthogonality():
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((400, 400)))[0]
    values = np.concatenate([1 - 1e-8 * np.arange(6), np.linspace(0.9, -1, 394)])
    matrix = (axes * values) @ axes.T
    start = rng.standard_normal((400, 8))
    result, vectors, residuals = block_eigenpairs(matrix, start, 3, 1e-11, max_iter=200)
    np.testing.assert_allclose(result, values[:3], rtol=0, atol=1e-12)
    assert residuals.max() <= 1e-11
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
