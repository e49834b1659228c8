"""The self-smoothing operator against literal matrix powers, for every strategy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import fractional_matrix_power

from vicinal.operators import transition
from vicinal.similarity import SelfSmoothing, self_smooth, smoothing_kernel
from vicinal.similarity.smoothing._auto_t import choose_t
from vicinal.similarity.smoothing._dense import cheap_pairs, normalized, symmetric_power
from vicinal.similarity.smoothing._sparse_powers import nearest_in_power
from vicinal.similarity.smoothing._spectral import all_pairs, count_above, leading_pairs
from vicinal.similarity.smoothing._walks import SparseWalk, power_coefficients
from vicinal.similarity.smoothing.operator import check_self_similarity, project_psd


def kernel(n, seed=0, k=1.0, d=2):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return smoothing_kernel(
        np.linalg.norm(X[:, None] - X[None], axis=-1), bandwidth=k, n_neighbors=10
    )


def asymmetric(n, seed=0):
    W = np.random.default_rng(seed).random((n, n)) ** 3
    np.fill_diagonal(W, 1.0)
    return W


def literal(W, t):
    P = W / W.sum(axis=1, keepdims=True)
    whole = W @ np.linalg.matrix_power(P, int(t))
    if t == int(t):
        return whole
    return np.real(whole @ fractional_matrix_power(P, t - int(t)))


def test_example_of_the_paper():
    truth = np.full((3, 3), 0.9)
    np.fill_diagonal(truth, 1.0)
    W = truth.copy()
    W[0, 2] = W[2, 0] = 0.0
    assert self_smooth(W, 1, normalize=False)[0, 2] == pytest.approx(0.289, abs=5e-4)
    assert np.linalg.norm(W - truth) == pytest.approx(1.273, abs=5e-4)
    assert np.linalg.norm(self_smooth(W, 5) - truth) == pytest.approx(0.346, abs=5e-4)
    assert np.linalg.norm(self_smooth(W, 5, normalize=False) - truth) == pytest.approx(
        0.851, abs=5e-4
    )


@pytest.mark.parametrize("make", [kernel, asymmetric])
@pytest.mark.parametrize("t", [0, 1, 2, 7, 100, 500, 0.5, 1.5, 20.25])
def test_equals_literal_powers(make, t):
    W = make(40)
    np.testing.assert_allclose(self_smooth(W, t, normalize=False), literal(W, t), atol=1e-10)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 12), t=st.integers(0, 40))
def test_equals_literal_powers_for_any_symmetric_similarity(seed, n, t):
    # Not positive semi-definite: eigenvalues of both signs.
    W = np.random.default_rng(seed).random((n, n)) ** 4 + 1e-3
    W = W + W.T
    np.testing.assert_allclose(self_smooth(W, t, normalize=False), literal(W, t), atol=1e-10)


def test_fractional_steps_use_the_real_part_for_negative_eigenvalues():
    W = np.array([[0.1, 1.0], [1.0, 0.1]])
    assert np.linalg.eigvalsh(W)[0] < 0
    np.testing.assert_allclose(self_smooth(W, 0.5, normalize=False), literal(W, 0.5), atol=1e-12)


@pytest.mark.parametrize("k", [0.1, 1.0, 10.0])
def test_every_strategy_for_large_matrices_equals_literal_powers(k):
    W = kernel(700, k=k)
    expected = literal(W, 500)
    np.testing.assert_allclose(self_smooth(W, 500, normalize=False), expected, atol=1e-10)
    roots = np.sqrt(W.sum(axis=1))
    S = normalized(W, roots)
    scale = roots[:, None] * roots
    np.testing.assert_allclose(symmetric_power(S, 501) * scale, expected, atol=1e-10)
    np.testing.assert_allclose(all_pairs(S, roots).matrix(500), expected, atol=1e-10)


def test_a_decaying_spectrum_needs_only_its_leading_pairs():
    W = kernel(700, k=10.0)
    roots = np.sqrt(W.sum(axis=1))
    spectrum = cheap_pairs(normalized(W, roots), roots, 500)
    assert spectrum is not None
    assert len(spectrum.values) < 70
    assert 0 < spectrum.truncation_error(500) <= 1e-13
    W = kernel(700, k=0.02)
    roots = np.sqrt(W.sum(axis=1))
    assert cheap_pairs(normalized(W, roots), roots, 500) is None


def test_leading_pairs_include_all_multiple_eigenvalues_above_the_cutoff():
    W = np.kron(np.eye(6), kernel(60, k=5.0))  # every eigenvalue six times
    roots = np.sqrt(W.sum(axis=1))
    S = normalized(W, roots)
    exact = np.linalg.eigvalsh(S)
    spectrum = leading_pairs(S, roots, 0.8)
    above = np.sort(exact[np.abs(exact) > 0.8])
    np.testing.assert_allclose(np.sort(spectrum.values), above, atol=1e-8)
    assert abs(count_above(S, 0.8, np.random.default_rng(0)) - len(above)) < 0.4 * len(above) + 3
    # The bound of the truncation error holds.
    for t in (5, 20, 60):
        error = np.abs(spectrum.matrix(t) - literal(W, t)) / (roots[:, None] * roots)
        assert error.max() <= spectrum.truncation_error(t) + 1e-12


def test_sparse_input_gives_the_same_result():
    W = kernel(30)
    W[W < 0.1] = 0.0
    np.testing.assert_array_equal(self_smooth(sparse.coo_array(W), 9), self_smooth(W, 9))


def test_normalised_rows_have_self_similarity_one_as_their_maximum():
    smoothed = self_smooth(kernel(50), 30, normalize=False)
    expected = np.minimum(smoothed / np.diagonal(smoothed)[:, None], 1.0)
    result = self_smooth(kernel(50), 30)
    np.testing.assert_array_equal(result, expected)
    assert result.max() == 1.0
    np.testing.assert_array_equal(np.diagonal(result), 1.0)


@pytest.mark.parametrize("rank", [None, 5])
def test_projection_is_the_nearest_positive_semidefinite_matrix(rank):
    A = np.random.default_rng(1).normal(size=(20, 20))
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    values = np.maximum(values, 0)
    if rank:
        values[:-rank] = 0
    np.testing.assert_allclose(project_psd(A, rank), (vectors * values) @ vectors.T, atol=1e-12)
    W = asymmetric(20)
    np.testing.assert_allclose(
        self_smooth(W, 3, psd=True, rank=rank), project_psd(self_smooth(W, 3), rank), atol=1e-12
    )


def test_chebyshev_coefficients_reproduce_the_power():
    x = np.linspace(-1, 1, 101)
    for exponent in (0, 1, 2, 9, 100, 5001):
        values = np.polynomial.chebyshev.chebval(x, power_coefficients(exponent, 1e-14))
        np.testing.assert_allclose(values, x**exponent, atol=1e-12)
    assert len(power_coefficients(5001, 1e-14)) < 700


@pytest.mark.parametrize("symmetric", [True, False])
def test_rows_of_a_sparse_walk_are_exact(symmetric):
    W = kernel(60, k=0.3) if symmetric else asymmetric(60)
    W[W < 0.05] = 0.0
    walk = SparseWalk(sparse.csr_array(W), symmetric, 1)
    items = np.array([3, 50, 7])
    for t in (0, 1, 40, 501):
        np.testing.assert_allclose(walk.rows(t, items), literal(W, t)[items], atol=1e-12)


# Powers are in single precision, and each of up to 30 factors adds a rounding error.
ROUNDING = 30 * 1e-7


@given(seed=st.integers(0, 1000), exponent=st.integers(1, 30), keep=st.integers(1, 40))
def test_pruned_powers_are_lower_bounds_within_their_truncation_error(seed, exponent, keep):
    W = kernel(40, seed=seed, k=0.5)
    W[W < 0.02] = 0.0
    walk = transition(W)
    result = nearest_in_power(walk, exponent, 6, keep=keep, n_jobs=1)
    exact = np.linalg.matrix_power(walk.toarray(), exponent)
    true = np.take_along_axis(exact, result.items, axis=1)
    assert (result.values <= true * (1 + ROUNDING)).all()
    assert ((true - result.values).sum(axis=1) <= result.truncation_error + ROUNDING).all()
    diagonal = np.diagonal(exact)
    assert (result.diagonal <= diagonal * (1 + ROUNDING)).all()
    assert (diagonal - result.diagonal <= result.truncation_error + ROUNDING).all()
    assert (result.items != np.arange(40)[:, None]).all()
    assert all(len(set(row)) == 6 for row in result.items)
    if keep == 40 and exponent < 4:
        np.testing.assert_allclose(result.truncation_error, 0.0, atol=40 * 1e-7)
        others = np.sort(exact - np.diag(np.diagonal(exact)), axis=1)[:, ::-1][:, :6]
        np.testing.assert_allclose(result.values, others, atol=1e-5)


def test_every_integer_power_of_a_symmetric_matrix_equals_the_literal_one():
    matrix = np.random.default_rng(0).random((8, 8))
    matrix = (matrix + matrix.T) / 16
    before = matrix.copy()
    for exponent in range(1, 130):
        power = symmetric_power(matrix, exponent)
        np.testing.assert_allclose(power, np.linalg.matrix_power(matrix, exponent), atol=1e-14)
        assert power is not matrix
    np.testing.assert_array_equal(matrix, before)


def test_an_item_that_the_walk_rarely_leaves_keeps_its_neighbors():
    W = kernel(300, k=0.1)
    W[W < 1e-3] = 0.0
    # The last item is far from all others: its similarities are tiny, but ordered.
    W[-1, :-1] = W[:-1, -1] = 0.0
    W[-1, 10:40] = W[10:40, -1] = 1e-9 * np.arange(30, 0, -1)
    result = nearest_in_power(transition(W), 3, 5, keep=20, n_jobs=1)
    exact = np.linalg.matrix_power(transition(W).toarray(), 3)[-1, :-1]
    assert set(result.items[-1]) == set(np.argsort(-exact)[:5])


@pytest.mark.parametrize("weight", [1e-20, 1e-30, 1e-300])
def test_entries_that_underflow_in_single_precision_are_omitted(weight):
    # Steps along a line are so rare that the probability of two underflows in single precision.
    W = sparse.diags_array([weight, 1.0, weight], offsets=[-1, 0, 1], shape=(60, 60)).tocsr()
    result = nearest_in_power(transition(W), 16, 2, keep=60, n_jobs=1)
    np.testing.assert_allclose(result.diagonal, 1.0, rtol=1e-6)
    if weight > 1e-37:
        assert set(result.items[30]) == {29, 31}
        np.testing.assert_allclose(result.values[30], 16 * weight, rtol=1e-5)


def test_pruned_powers_do_not_depend_on_threads():
    W = kernel(1200, k=0.1)
    W[W < 1e-3] = 0.0
    one, two = (nearest_in_power(transition(W), 21, 8, keep=30, n_jobs=j) for j in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("is_tied", [False, True])
def test_pruned_powers_do_not_depend_on_the_order_in_which_nodes_are_processed(
    is_tied, monkeypatch
):
    if is_tied:  # a cycle with two other components, in which most neighbours are tied
        W = np.eye(60) + np.roll(np.eye(60), 1, axis=0) + np.roll(np.eye(60), -1, axis=0)
        W = sparse.block_diag([W, np.ones((3, 3)), np.ones((1, 1))]).toarray()
        shuffled = np.random.default_rng(0).permutation(len(W))
        W = W[np.ix_(shuffled, shuffled)]
    else:
        W = kernel(300, k=0.1)
        W[W < 1e-3] = 0.0
    given = nearest_in_power(transition(W), 9, 8, keep=64, n_jobs=1)
    monkeypatch.setattr("vicinal.similarity.smoothing._locality.MIN_NODES", 1)
    local = nearest_in_power(transition(W), 9, 8, keep=64, n_jobs=1)
    np.testing.assert_allclose(local.values, given.values, rtol=1e-6)
    np.testing.assert_allclose(local.diagonal, given.diagonal, rtol=1e-6)
    np.testing.assert_allclose(local.truncation_error, given.truncation_error, atol=1e-6)
    if not is_tied:
        np.testing.assert_array_equal(local.items, given.items)
    assert (local.items != np.arange(len(W))[:, None]).all()
    assert all(len(set(row)) == 8 for row in local.items)


def test_chosen_t_is_where_the_correlation_crosses_zero():
    sums = np.arange(1.0, 51.0)
    # Return probabilities change from inversely proportional to proportional to the degree around t = 100.
    returns = lambda t: sums ** (2 * t / (t + 100) - 1)  # noqa: E731
    t, curve = choose_t(returns, sums)
    assert 80 <= t <= 120
    assert curve[0, 1] == pytest.approx(-1)
    assert (curve[:-1, 1] < 0).all()
    assert curve[-1, 1] >= 0


def test_t_is_limited_where_all_items_would_become_equally_similar():
    sums = np.linspace(0.9, 1.1, 50)
    limits = sums / sums.sum()
    # The correlation changes its sign at t = 1000; at t = 100, half of each probability is the limit.
    returns = lambda t: limits * (1 + 100 / t) * (sums ** (0.01 * (t - 1000)))  # noqa: E731
    unlimited, _ = choose_t(returns, sums)
    limited, curve = choose_t(returns, sums, limits=limits)
    assert 800 <= unlimited <= 1200
    assert 50 <= limited <= 200
    assert curve[-1, 0] < unlimited


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_neighbors_of_overlapping_clusters_in_many_dimensions_are_not_smoothed_away(method):
    rng = np.random.default_rng(0)
    classes = np.arange(400) % 4
    X = rng.normal(size=(4, 100))[classes] + 2.0 * rng.normal(size=(400, 100))
    distances = np.linalg.norm(X[:, None] - X, axis=-1)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :20]
    smoothed = SelfSmoothing(method=method, random_state=0).fit(X).kneighbors(n_neighbors=20)[1]
    assert (classes[smoothed] == classes[:, None]).mean() > (
        classes[nearest] == classes[:, None]
    ).mean()


def test_equal_degrees_without_correlation_still_give_a_finite_t():
    ring = np.eye(64) + 0.3 * (np.roll(np.eye(64), 1, 0) + np.roll(np.eye(64), -1, 0))
    spectrum = all_pairs(normalized(ring, np.full(64, np.sqrt(1.6))), np.full(64, np.sqrt(1.6)))
    t, _ = choose_t(lambda t: spectrum.diagonal(t) / 1.6, ring.sum(axis=1))
    assert 1 < t < 1000


@pytest.mark.parametrize(
    ("W", "t", "words"),
    [
        (np.ones((2, 3)), 1, "square"),
        ([[1.0, -0.1], [-0.1, 1.0]], 1, "negative"),
        ([[1.0, np.nan], [0.5, 1.0]], 1, "NaN"),
        ([[1.0, 0.5], [0.5, 1.0]], -1, "t=-1"),
        ([[1.0, 0.5], [0.5, 1.0]], np.inf, "t=inf"),
        ([[0.0, 0.5], [0.5, 0.0]], 0, "cannot self-normalise.*diagonal"),
        ([[0.0, 0.5], [0.5, 0.0]], 2, "cannot self-normalise.*diagonal"),
        ([[1.0, 0.0], [0.0, 0.0]], 3, "cannot self-normalise.*the first is 1"),
    ],
)
def test_invalid_input_is_named_with_a_remedy(W, t, words):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        self_smooth(W, t)


@pytest.mark.parametrize("make", [kernel, asymmetric])
@pytest.mark.parametrize("exponent", [-1050, -600, 600, 1000])
def test_units_do_not_matter(make, exponent):
    W = make(20)
    W[W < 1e-3] = 0.0
    for t in (0, 1, 7, 0.5):
        result = self_smooth(np.ldexp(W, exponent), t)
        # Numbers as small as 2^-1050 have few significant digits.
        np.testing.assert_allclose(
            result, self_smooth(W, t), atol=1e-2 if exponent < -1000 else 1e-9
        )
    plain = self_smooth(np.ldexp(W, exponent), 2, normalize=False)
    np.testing.assert_allclose(np.ldexp(plain, -exponent), self_smooth(W, 2, normalize=False), 1e-2)


def test_tiny_similarities_are_smoothed_alone_and_next_to_larger_ones():
    np.testing.assert_allclose(self_smooth(np.full((3, 3), 1e-310), 1), 1.0)
    W = np.diag([1.0, 1e-310, 1.0])
    W[0, 2] = W[2, 0] = 0.5
    for t in (1, 6, 1.5):
        result = self_smooth(W, t)
        np.testing.assert_allclose(result[np.ix_([0, 2], [0, 2])], self_smooth(W[::2, ::2], t))
        assert result[1].tolist() == [0.0, 1.0, 0.0]
    walk = SparseWalk(sparse.csr_array(W), True, 1)
    np.testing.assert_allclose(walk.rows(3, np.array([1])), [[0.0, 1e-310, 0.0]])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, -1.0])
def test_an_invalid_self_similarity_is_named_by_its_item(bad):
    with pytest.raises(ValueError, match=f"1 item.*the first is 7 with {bad:g}. Do that"):
        check_self_similarity(np.array([1.0, bad, 2.0]), np.array([5, 7, 9]), "Do that")


def test_only_the_message_of_the_function_mentions_normalize():
    W = np.diag([1.0, 0.0])
    with pytest.raises(ValueError, match="normalize=False"):
        self_smooth(W, 1)
    with pytest.raises(ValueError, match="cannot self-normalise") as error:
        SelfSmoothing(1, metric="similarity").fit(W)
    assert "normalize" not in str(error.value)


def test_items_without_similarity_raise_in_a_sparse_fit():
    W = sparse.eye_array(20, format="lil")
    W[0, 1] = W[1, 0] = 0.5
    W[3, 3] = 0.0
    for method in ("dense", "sparse"):
        with pytest.raises(ValueError, match=r"1 item.*the first is 3 with 0"):
            SelfSmoothing(2, metric="similarity", method=method).fit(W.tocsr())
    W[3, 4] = W[4, 3] = 0.5
    # It has neighbours, but at t = 0 its self-similarity is 0.
    model = SelfSmoothing(0, metric="similarity", method="sparse").fit(W.tocsr())
    with pytest.raises(ValueError, match="the first is 3"):
        model.similarity_.rows([2, 3])


def test_a_row_of_zeros_remains_zero_without_normalisation():
    W = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.0]])
    for t in (0, 3, 1.5):
        result = self_smooth(W, t, normalize=False)
        assert not result[2].any()
        np.testing.assert_allclose(result[:2, :2], literal(W[:2, :2], t), atol=1e-12)


def test_rank_without_projection_raises():
    with pytest.raises(ValueError, match="psd=True"):
        self_smooth(kernel(5), 1, rank=2)


def test_input_is_not_changed():
    W = kernel(20)
    W.flags.writeable = False
    before = W.copy()
    for t in (0, 3, 0.5):
        self_smooth(W, t, psd=True)
    np.testing.assert_array_equal(W, before)
