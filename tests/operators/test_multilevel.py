import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles

from vicinal.graphs import grid, knn
from vicinal.operators._eigen.multilevel import (
    CoarseningStalled,
    coarsen,
    multilevel_eigenpairs,
    v_cycle,
)
from vicinal.operators._threaded_matmul import ThreadedSparseOperator
from vicinal.operators.laplacians import degrees, normalized_affinity
from with_threads import with_threads


def walk(weights):
    sums = degrees(weights)
    return normalized_affinity(weights, sums), np.sqrt(sums)


def noisy_grid(shape=(40, 35)):
    image = np.random.default_rng(0).random(shape)
    image[:, 20:] += 3
    return walk(grid(image=image).affinity(1.0))


@pytest.mark.parametrize(
    "given",
    [
        noisy_grid(),
        noisy_grid((1500, 1)),
        noisy_grid((12, 11)),
        walk(knn(np.random.default_rng(1).random((1200, 2)), 8).connect().affinity()),
    ],
    ids=["grid", "line", "few", "points"],
)
def test_pairs_are_those_of_the_dense_matrix(given):
    matrix, roots = given
    values, vectors, residuals = multilevel_eigenpairs(matrix, roots, 6, accuracy=1e-5)
    exact, columns = eigh(matrix.toarray(), subset_by_index=(len(roots) - 6, len(roots) - 1))
    np.testing.assert_allclose(values, exact[::-1], atol=1e-9)
    assert subspace_angles(vectors, columns).max() < 1e-4
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-10)
    assert residuals.max() < 1e-4
    np.testing.assert_allclose(
        residuals, np.linalg.norm(matrix @ vectors - vectors * values, axis=0), atol=1e-14
    )


def test_more_pairs_than_nodes_of_the_coarsest_level():
    matrix, roots = walk(knn(np.random.default_rng(0).random((520, 3)), 15).connect().affinity())
    kernel = roots / np.linalg.norm(roots)
    assert len(coarsen((_identity(520) - matrix).tocsr(), kernel).values) < 24
    values, vectors, _ = multilevel_eigenpairs(matrix, roots, 24, accuracy=1e-5)
    exact, columns = eigh(matrix.toarray(), subset_by_index=(496, 519))
    np.testing.assert_allclose(values, exact[::-1], atol=1e-9)
    assert subspace_angles(vectors, columns).max() < 1e-4


def test_two_weakly_connected_halves_are_resolved():
    image = np.random.default_rng(0).random((40, 50))
    image[:, 25:] += 100
    weights = grid(image=image).affinity(1.0)
    weights.data = np.maximum(weights.data, 1e-11)
    matrix, roots = walk(weights)
    values, vectors, _ = multilevel_eigenpairs(matrix, roots, 3, accuracy=1e-3)
    sides = (vectors[:, 1] / roots).reshape(40, 50)
    assert 0 < 1 - values[1] < 1e-10 < 1 - values[2]
    assert np.ptp(sides[:, :25]) < 1e-3 * np.ptp(sides)
    assert np.ptp(sides[:, 25:]) < 1e-3 * np.ptp(sides)


def test_any_number_of_threads_gives_the_same_bits():
    matrix, roots = noisy_grid((120, 110))
    one = with_threads(1, multilevel_eigenpairs, matrix, roots, 5)
    three = with_threads(3, multilevel_eigenpairs, matrix, roots, 5)
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_v_cycle_is_a_symmetric_positive_preconditioner():
    matrix, roots = noisy_grid((28, 25))
    n = len(roots)
    kernel = roots / np.linalg.norm(roots)
    laplacian = np.eye(n) - matrix.toarray()
    hierarchy = coarsen((ThreadedSparseOperator(matrix).matrix * -1 + _identity(n)).tocsr(), kernel)
    assert len(hierarchy.levels) >= 1
    project = np.eye(n) - np.outer(kernel, kernel)
    cycle = project @ v_cycle(hierarchy, project.copy())
    np.testing.assert_allclose(cycle, cycle.T, atol=1e-9 * np.abs(cycle).max())
    left = np.sort(np.linalg.eigvals(cycle @ laplacian).real)[1:]
    assert left[0] > 0.1
    assert left[-1] < 1.5


def _identity(n):
    from scipy import sparse

    return sparse.eye_array(n, format="csr")


def test_a_graph_that_does_not_coarsen_is_left_to_lanczos():
    X = np.random.default_rng(0).standard_normal((4000, 30))
    matrix, roots = walk(knn(X, 5).connect().affinity())
    with pytest.raises(CoarseningStalled, match="aggregates were left"):
        multilevel_eigenpairs(matrix, roots, 3)
