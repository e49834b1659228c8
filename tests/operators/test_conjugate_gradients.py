"""Conjugate gradients solve positive definite systems, column by column, whatever the threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import spsolve

from vicinal import graphs
from vicinal.operators._conjugate_gradients import PositiveDefiniteSolver, solve_positive_definite
from vicinal.operators.laplacians import degrees, normalized_affinity
from with_threads import with_threads


def shifted_laplacian(weights, shift):
    return sparse.csr_array(sparse.diags_array(weights.sum(axis=1) + shift) - weights)


def neighbour_system(n, seed=0, shift=1e-3):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return shifted_laplacian(graphs.knn(X, 6).affinity(), shift)


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 10_000))
def test_agrees_with_the_dense_solution(n, n_columns, seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.4)
    dense = factor @ factor.T + np.eye(n)
    right = rng.normal(size=(n, n_columns))
    result = solve_positive_definite(dense, right)
    assert result.values == pytest.approx(np.linalg.solve(dense, right), rel=1e-7, abs=1e-8)
    assert (result.residuals <= 1e-10).all()


def test_reported_residuals_are_those_of_the_solution():
    matrix = neighbour_system(500)
    right = np.random.default_rng(1).normal(size=(500, 6))
    result = solve_positive_definite(matrix, right, tolerance=1e-4)
    left = np.abs(right - matrix @ result.values) / matrix.diagonal()[:, None]
    expected = left.max(axis=0) / np.abs(result.values).max(axis=0)
    assert result.residuals == pytest.approx(expected, rel=1e-6)
    assert (expected > 1e-12).all()


def test_a_column_is_bit_identical_alone_and_among_others_for_any_n_jobs():
    matrix = neighbour_system(700)
    right = np.random.default_rng(2).normal(size=(700, 11)) * 10.0 ** np.arange(-5, 6)
    right[:, 4] = 0.0
    together = with_threads(1, solve_positive_definite, matrix, right).values
    again = with_threads(3, solve_positive_definite, matrix, right).values
    assert (again == together).all()
    for column in (0, 4, 7, 10):
        alone = solve_positive_definite(matrix, right[:, column]).values
        assert (alone == together[:, column]).all()
    assert (together[:, 4] == 0).all()


@pytest.mark.parametrize("coarse", [False, True])
def test_single_precision_reaches_the_same_tolerance(coarse):
    matrix = neighbour_system(3000, shift=1e-2)
    right = np.random.default_rng(2).normal(size=(3000, 20)) * 10.0 ** np.arange(-200, 200, 20)
    right[:, 4] = 0.0
    solver = PositiveDefiniteSolver(matrix, coarse=coarse, single=True)
    result = solver.solve(right, tolerance=1e-12)
    assert (result.residuals <= 1e-12).all()
    left = np.abs(right - matrix @ result.values) / matrix.diagonal()[:, None]
    largest = np.abs(result.values).max(axis=0)
    assert (left.max(axis=0) <= 1.1e-12 * largest).all()
    exact = spsolve(matrix.tocsc(), right)
    assert (np.abs(result.values - exact).max(axis=0) <= 1e-9 * largest).all()


def test_single_precision_is_bit_identical_alone_and_among_others_for_any_n_jobs():
    solver = PositiveDefiniteSolver(neighbour_system(700), single=True)
    right = np.random.default_rng(2).normal(size=(700, 37)) * 10.0 ** np.arange(-18, 19)
    # Sparse right-hand sides take other numbers of iterations.
    right[1:, ::3] = 0.0
    together = with_threads(1, solver.solve, right).values
    assert (with_threads(3, solver.solve, right).values == together).all()
    for column in (0, 4, 15, 16, 36):
        assert (solver.solve(right[:, column]).values == together[:, column]).all()


def test_single_precision_underflows_to_zero_along_a_path():
    # Solutions fall by a factor of 20 per node, below the smallest float.
    n = 400
    matrix = sparse.diags_array([-1.0, 20.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
    right = np.zeros(n)
    right[0] = 1.0
    values = PositiveDefiniteSolver(matrix, single=True).solve(right, tolerance=1e-13).values
    assert np.isfinite(values).all()
    assert values[:5] == pytest.approx(spsolve(matrix.tocsc(), right)[:5], abs=1e-14)


def test_a_tree_is_solved_in_one_step():
    X = np.random.default_rng(3).normal(size=(2000, 2))
    matrix = shifted_laplacian(graphs.mst(X).affinity(scale=np.inf), 1e-6)
    rng = solve_positive_definite(matrix, np.random.default_rng(4).normal(size=(2000, 2)))
    # One step, and one more where rounding is above the tolerance.
    assert rng.n_iter <= 2


def test_a_long_thin_grid_is_solved():
    matrix = shifted_laplacian(graphs.grid((4, 3000)).affinity(scale=np.inf), 1e-8)
    right = np.zeros(12_000)
    right[[0, -1]] = 1.0, -1.0
    result = solve_positive_definite(matrix, right, tolerance=1e-13)
    assert result.values == pytest.approx(sparse.linalg.spsolve(matrix.tocsc(), right), rel=1e-5)


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e300])
def test_rescaling_the_system_rescales_the_solution(unit):
    matrix, right = neighbour_system(60), np.random.default_rng(5).normal(size=60)
    plain = solve_positive_definite(matrix, right).values
    assert solve_positive_definite(matrix, right * unit).values == pytest.approx(plain * unit)


def test_inputs_are_unchanged_and_may_be_read_only():
    matrix, right = neighbour_system(50), np.ones((100, 2))[::2]
    right.flags.writeable = False
    before = matrix.copy()
    solve_positive_definite(matrix, right)
    assert (matrix != before).nnz == 0
    assert (right == 1).all()


def test_an_indefinite_matrix_raises_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="residual"):
        solve_positive_definite([[1.0, 2.0], [2.0, 1.0]], [1.0, -1.0])


def test_too_few_iterations_raise_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="in 2 iterations"):
        solve_positive_definite(neighbour_system(500), np.arange(500.0), max_iter=2)


@pytest.mark.parametrize(
    ("matrix", "right", "message"),
    [
        (np.ones((2, 3)), [1.0, 1.0], r"matrix has shape \(2, 3\)"),
        ([[1.0, 0.0], [0.0, 0.0]], [1.0, 1.0], "diagonal entry 1 is 0"),
        ([[1.0, np.nan], [np.nan, 1.0]], [1.0, 1.0], "NaN"),
        (np.eye(2), [1.0, 2.0, 3.0], r"right_sides has shape \(3,\)"),
        (np.eye(2), [1.0, np.inf], "right_sides contains"),
    ],
)
def test_invalid_systems_are_rejected(matrix, right, message):
    with pytest.raises(ValueError, match=message):
        solve_positive_definite(matrix, right)


@pytest.mark.parametrize(("name", "value"), [("tolerance", 0.0), ("max_iter", 0)])
def test_invalid_limits_are_rejected(name, value):
    with pytest.raises(ValueError, match=f"{name}="):
        solve_positive_definite(np.eye(2), [1.0, 1.0], **{name: value})


@pytest.mark.parametrize("n", [1500, 4000])
def test_coarse_levels_reach_the_same_solution_in_fewer_iterations(n):
    rng = np.random.default_rng(n)
    walk = normalized_affinity(*_weights_and_degrees(graphs.knn(rng.random((n, 2)), 8)))
    system = sparse.csr_array(sparse.eye_array(n) - 0.9999 * walk)
    right_sides = np.eye(n)[:, rng.choice(n, 5, replace=False)]
    fine, coarse = (
        PositiveDefiniteSolver(system, coarse=coarse).solve(right_sides, tolerance=1e-12)
        for coarse in (False, True)
    )
    scale = np.abs(fine.values).max(axis=0)
    np.testing.assert_allclose(coarse.values / scale, fine.values / scale, atol=1e-7)
    expected = spsolve(sparse.csc_array(system), right_sides)
    np.testing.assert_allclose(coarse.values / scale, expected / scale, atol=1e-7)
    assert coarse.n_iter < 0.5 * fine.n_iter


def test_coarse_levels_give_the_same_bits_for_any_threads_and_other_columns():
    X = np.random.default_rng(0).random((1500, 3))
    walk = normalized_affinity(*_weights_and_degrees(graphs.knn(X, 8)))
    solver = PositiveDefiniteSolver(
        sparse.csr_array(sparse.eye_array(1500) - 0.999 * walk), coarse=True
    )
    right_sides = np.eye(1500)[:, :9]
    one = with_threads(1, solver.solve, right_sides).values
    two = with_threads(2, solver.solve, right_sides).values
    np.testing.assert_array_equal(two, one)
    np.testing.assert_array_equal(solver.solve(right_sides[:, 7]).values, one[:, 7])


def test_coarse_levels_of_matrices_that_cannot_be_coarsened():
    n = 1200
    diagonal = sparse.diags_array(np.arange(1.0, n + 1))
    values = PositiveDefiniteSolver(diagonal, coarse=True).solve(np.ones(n)).values
    np.testing.assert_allclose(values, 1.0 / np.arange(1, n + 1))
    # Two halves that are not connected.
    path = sparse.diags_array(
        [-np.ones(n - 1), np.full(n, 2.001), -np.ones(n - 1)], offsets=(-1, 0, 1)
    )
    halves = sparse.block_diag([path, path], format="csr")
    right_sides = np.random.default_rng(0).random(2 * n)
    values = PositiveDefiniteSolver(halves, coarse=True).solve(right_sides).values
    np.testing.assert_allclose(halves @ values, right_sides, atol=1e-7)


def _weights_and_degrees(graph):
    weights = graph.affinity()
    return weights, degrees(weights)
