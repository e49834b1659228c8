"""Validation of input: what is accepted, what is corrected, and what errors say."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances

from vicinal import (
    ClusterPreservingEmbedding,
    GraphClassifier,
    GraphRegressor,
    Isomap,
    KernelKMeans,
    LaplacianEigenmaps,
    PerceptualClustering,
    SelfSmoothing,
    SpectralClustering,
    graphs,
    segment,
)
from vicinal._core.array_checks import check_points
from vicinal._core.matrix_checks import check_affinity, check_distances
from vicinal._core.symmetry import first_asymmetric_row, symmetrize_in_place
from vicinal.metrics import (
    bulls_eye,
    geodesic_error,
    global_consistency_error,
    rand_index,
)
from vicinal.operators import transition
from vicinal.operators._conjugate_gradients import solve_positive_definite
from vicinal.similarity.smoothing.operator import check_similarity

POINTS = np.random.default_rng(0).normal(size=(200, 4))
DISTANCES = np.sqrt(np.square(POINTS[:, None] - POINTS).sum(axis=2))


def rounded(seed, size=1e-12):
    """Distances with an error of rounding in every entry, other ones above and below the diagonal."""
    return DISTANCES + size * np.random.default_rng(seed).normal(size=DISTANCES.shape)


def test_distances_from_scikit_learn_are_accepted_everywhere():
    D = pairwise_distances(POINTS)
    assert (D != D.T).any()
    before = D.copy()
    expected = check_distances(DISTANCES)
    np.testing.assert_allclose(check_distances(D), expected, atol=1e-14)
    for builder in (graphs.knn, graphs.mst, graphs.complete, graphs.gabriel):
        result = builder(D, metric="precomputed")
        assert (result.indices == builder(DISTANCES, metric="precomputed").indices).all()
    Isomap(graph="precomputed").fit(D)
    Isomap(graph="precomputed").fit(sparse.csr_array(D))
    SpectralClustering(3, graph_params={"metric": "precomputed"}).fit(D)
    np.testing.assert_array_equal(D, before)


def test_rounding_errors_of_correlation_distances_are_corrected():
    D = 1 - np.corrcoef(POINTS)
    assert np.diagonal(D).any()
    D[3, 5] = D[5, 3] = -1e-16
    distances = check_distances(D)
    assert distances.min() == 0
    assert not np.diagonal(distances).any()
    np.testing.assert_array_equal(distances, distances.T)
    np.testing.assert_allclose(distances, D, atol=1e-15)
    narrow = check_distances(D.astype(np.float32) + np.triu(np.full(D.shape, 2e-7, np.float32)))
    np.testing.assert_array_equal(narrow, narrow.T)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_asymmetric_rounding_is_averaged_on_a_copy(form):
    given = form(rounded(1))
    before = given.copy()
    result = check_distances(given)
    assert abs(given - before).max() == 0
    result = result.toarray() if sparse.issparse(result) else result
    off = ~np.eye(len(result), dtype=bool)
    expected = (rounded(1) + rounded(1).T) / 2
    np.testing.assert_array_equal(result[off], result.T[off])
    np.testing.assert_allclose(result[off], expected[off], rtol=1e-15)


def test_symmetric_distances_are_not_copied():
    assert check_distances(DISTANCES) is DISTANCES
    one_sided = sparse.csr_array(np.triu(DISTANCES))
    for matrix in (sparse.csr_array(DISTANCES), one_sided):
        assert np.shares_memory(check_distances(matrix).data, matrix.data)


def test_sparse_distances_keep_zeros_and_pairs_stored_once():
    values, where = [0.0, 2.0, 2.0 + 1e-15, 3.0, 3.5], ([0, 1, 2, 0, 2], [1, 2, 1, 2, 0])
    distances = check_distances(sparse.csr_array((values, where), shape=(3, 3)))
    assert distances.nnz == 5
    assert distances[1, 2] == distances[2, 1]
    assert (distances[0, 2], distances[2, 0]) == (3.0, 3.5)
    distances = check_distances(sparse.csr_array([[0, -1e-17], [1.0, 0]]))
    np.testing.assert_array_equal(distances.toarray(), [[0, 0], [1, 0]])


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (
            (3, 7),
            DISTANCES[3, 7] + 1e-8,
            r"not symmetric: X\[3, 7\] = (\S+) but X\[7, 3\] = (?!\1)",
        ),
        ((3, 7), -1e-8, r"X\[3, 7\] = -1e-08 is negative"),
        ((7, 7), 1e-8, r"X\[7, 7\] = 1e-08, but the distance of a point to itself"),
    ],
)
def test_errors_beyond_rounding_are_rejected_with_enough_digits(place, value, words):
    bad = rounded(2)
    bad[place] = value
    with pytest.raises(ValueError, match=words):
        check_distances(bad)


def test_an_asymmetric_affinity_is_rejected_with_enough_digits():
    with pytest.raises(ValueError, match=r"= 1 but affinity\[1, 0\] = 1.00000001;"):
        check_affinity([[0, 1.0], [1.00000001, 0]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_float32_rounding_is_averaged_too(form):
    W = np.exp(-DISTANCES).astype(np.float32)
    W[3, 7] = np.nextafter(W[3, 7], np.float32(2))
    assert W[3, 7] - W[7, 3] > 1e-10
    result = check_affinity(form(W)).toarray()
    np.testing.assert_array_equal(result, result.T)
    assert check_similarity(form(W))[1]


def test_large_matrices_are_symmetrized_in_blocks():
    rng = np.random.default_rng(3)
    for scale in (1.0, 1e308, 5e-324):
        array = np.floor(rng.random((1500, 1500)) * 10) / 10 * scale
        expected = array / 2 + array.T / 2 if scale > 1e-300 else None
        symmetrize_in_place(array)
        assert first_asymmetric_row(array) is None
        if expected is not None:
            np.testing.assert_allclose(array, expected, rtol=1e-15)


RAGGED = [[1.0, 2.0], [3.0]]
COMPLEX = np.array([[0, 1j], [1j, 0]])
MASKED = np.ma.masked_array([[0, 1.0], [1.0, 0]], [[0, 1], [1, 0]])
TAKERS = [
    check_points,
    check_distances,
    check_affinity,
    check_similarity,
    SpectralClustering(2).fit,
    SpectralClustering(2, graph="precomputed").fit,
    Isomap(graph="precomputed").fit,
    SelfSmoothing().fit,
    ClusterPreservingEmbedding().fit,
    KernelKMeans(2).fit,
    PerceptualClustering(2).fit,
    transition,
    lambda X: graphs.knn(X, 1),
    lambda X: segment(X, 2),
    lambda X: solve_positive_definite(np.eye(2), X),
    lambda X: GraphRegressor().fit(POINTS[:2], X),
    lambda X: geodesic_error(X, np.zeros((2, 2))),
    lambda X: geodesic_error(np.zeros((2, 2)), X),
]


@pytest.mark.parametrize("take", TAKERS)
def test_ragged_masked_and_complex_input_is_rejected(take):
    with pytest.raises(ValueError, match="rows have different lengths"):
        take(RAGGED)
    with pytest.raises(ValueError, match=r"2 value\(s\) are masked.*filled"):
        take(MASKED)
    with pytest.raises((TypeError, ValueError), match=r"dtype complex128, but real|Complex data"):
        take(COMPLEX)


def test_masked_arrays_without_masked_values_are_accepted():
    whole = np.ma.masked_array(POINTS, np.zeros(POINTS.shape))
    np.testing.assert_array_equal(check_points(whole), POINTS)
    expected = SpectralClustering(2, random_state=0).fit_predict(POINTS)
    assert (SpectralClustering(2, random_state=0).fit_predict(whole) == expected).all()


@pytest.mark.parametrize("matrix", [COMPLEX, sparse.csr_array(COMPLEX)])
@pytest.mark.parametrize("check", [check_distances, check_affinity, check_similarity])
def test_complex_matrices_are_rejected_with_the_remedy(check, matrix):
    with pytest.raises(TypeError, match=r"complex128, but real numbers are needed; take \w+\.real"):
        check(matrix)


LABELS = np.arange(len(POINTS)) % 2


@pytest.mark.parametrize(
    "take",
    [
        lambda y: GraphClassifier().fit(POINTS, y),
        lambda y: rand_index(LABELS, y),
        lambda y: bulls_eye(DISTANCES, y),
        lambda y: global_consistency_error(y.reshape(20, 10), [LABELS.reshape(20, 10)]),
    ],
)
def test_masked_labels_are_rejected(take):
    y = np.ma.masked_array(LABELS, np.arange(len(POINTS)) > 5)
    with pytest.raises(ValueError, match=r"is a masked array.*filled"):
        take(y)


@pytest.mark.parametrize("model", [SpectralClustering, SelfSmoothing, LaplacianEigenmaps])
def test_n_jobs_is_checked_even_if_unused(model):
    options = {"metric": "similarity"} if model is SelfSmoothing else {"graph": "precomputed"}
    with pytest.raises(TypeError, match="n_jobs='abc', but a number of threads is needed"):
        model(n_jobs="abc", **options).fit(np.exp(-DISTANCES))
