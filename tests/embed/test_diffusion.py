"""Diffusion maps against the distances of the literal walk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from vicinal import DiffusionMaps, LaplacianEigenmaps, graphs
from vicinal.embed import diffusion_distance
from vicinal.embed.diffusion import diffusion_spectrum
from vicinal.operators.eigenpairs import nystrom


def literal_distance(W, t, alpha=0.0):
    """Formula (6): rows of the t-step walk, squares over the stationary distribution."""
    q = W.sum(axis=1) ** alpha
    W = W / q[:, None] / q[None]
    d = W.sum(axis=1)
    P = np.linalg.matrix_power(W / d[:, None], t)
    phi = d / d.sum()
    n = len(W)
    return np.array(
        [
            [np.sqrt(sum((P[i, k] - P[j, k]) ** 2 / phi[k] for k in range(n))) for j in range(n)]
            for i in range(n)
        ]
    )


@st.composite
def connected_affinities(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(2, 12))
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.5)
    W = W + W.T + np.diag(rng.random(n))
    chain = np.diag(rng.random(n - 1) + 0.1, 1)
    return W + chain + chain.T


@pytest.fixture(scope="module")
def strip():
    return np.random.default_rng(0).random((200, 2)) * [5, 1]


@settings(max_examples=60)
@given(connected_affinities(), st.integers(0, 30), st.sampled_from([0.0, 0.5, 1.0]))
def test_distances_equal_those_of_the_literal_walk(W, t, alpha):
    distances = diffusion_distance(W, t, alpha=alpha)
    np.testing.assert_allclose(distances, literal_distance(W, t, alpha), atol=2e-7)
    np.testing.assert_array_equal(distances, distances.T)
    assert not np.diagonal(distances).any()


@settings(max_examples=20)
@given(connected_affinities(), st.integers(0, 12), st.sampled_from([0.0, 1.0]))
def test_all_dimensions_together_give_the_distances(W, t, alpha):
    model = DiffusionMaps(len(W) - 1, t=t, alpha=alpha, graph="precomputed").fit(W)
    places = model.embedding_
    np.testing.assert_allclose(cdist(places, places), literal_distance(W, t, alpha), atol=1e-6)
    assert model.truncation_error_ == 0


def test_a_walk_that_alternates_on_a_star_has_a_negative_first_eigenvalue():
    W = np.zeros((6, 6))
    W[0, 1:] = W[1:, 0] = 1.0
    model = DiffusionMaps(1, t=3, graph="precomputed").fit(W)
    places = model.embedding_
    np.testing.assert_allclose(cdist(places, places), literal_distance(W, 3), atol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_, [-1.0])
    assert model.truncation_error_ == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("graph", "n"), [("mst", 80), ("mst", 700), ("knn", 80), ("gabriel", 80), ("gabriel", 700)]
)
def test_omitted_eigenvalues_bound_the_error_of_the_distances(graph, n):
    """Also for trees and other graphs with few triangles, on which walks oscillate."""
    X = np.random.default_rng(0).random((n, 2))
    for n_components, t in [(5, "auto"), (30, 4.0)]:
        model = DiffusionMaps(n_components, t=t, graph=graph).fit(X)
        exact = diffusion_spectrum(model.affinity_)
        rates = np.sort(np.abs(exact.values))[::-1][1:] ** model.t_
        np.testing.assert_allclose(
            np.abs(model.eigenvalues_) ** model.t_, rates[:n_components], atol=1e-6
        )
        assert model.truncation_error_ == pytest.approx(rates[n_components] / rates[0], abs=1e-6)
        places = model.embedding_
        missing = exact.distances(model.t_) ** 2 - cdist(places, places) ** 2
        # The discarded directions weigh at most this much, in vectors of mean square 1 under the walk.
        lightest = exact.stationary.min()
        assert missing.min() > -1e-6
        assert missing.max() <= 2 * rates[n_components] ** 2 / lightest + 1e-6


def test_new_points_are_extended_along_negative_eigenvalues_too():
    sides = np.arange(40) % 2
    W = np.where(sides[:, None] != sides, 1.0, 0.01)
    model = DiffusionMaps(1, graph="precomputed").fit(W)
    assert model.eigenvalues_[0] < -0.9
    steps = (W / W.sum(axis=1, keepdims=True)) @ model.embedding_
    np.testing.assert_allclose(nystrom(steps, model.eigenvalues_), model.embedding_, atol=1e-9)


def test_fractional_steps_interpolate_integer_steps(strip):
    W = graphs.gaussian(strip[:50]).affinity().toarray() + np.eye(50)
    before, middle, after = (diffusion_distance(W, t) for t in (2, 2.5, 3))
    off = ~np.eye(50, dtype=bool)
    assert (before[off] >= middle[off]).all()
    assert (middle[off] >= after[off]).all()


def test_distances_vanish_within_a_component_and_remain_between_components():
    W = np.kron(np.eye(2), np.ones((3, 3)) + np.eye(3))
    distances = diffusion_distance(W, 1000)
    np.testing.assert_allclose(distances[:3, :3], 0, atol=1e-7)
    # Each component has half of the mass: 1 / (1/2) from either side.
    np.testing.assert_allclose(distances[:3, 3:], 2.0, atol=1e-7)


def test_alpha_zero_gives_the_directions_of_laplacian_eigenmaps(strip):
    ours = DiffusionMaps(3, t=2).fit(strip)
    theirs = LaplacianEigenmaps(3, graph="precomputed_affinity").fit(ours.affinity_)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_)
    total = np.sqrt(ours.affinity_.sum())
    np.testing.assert_allclose(
        ours.embedding_, theirs.embedding_ * total * theirs.eigenvalues_**2, atol=1e-7
    )


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_eigenvalues_on_a_circle_equal_those_of_its_heat_kernel(alpha):
    """Frequency m fades by exp(-m^2 scale^2 / 2); pyDiffMap tests its eigenvalues on a circle too."""
    n, scale = 120, 0.06
    angles = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    model = DiffusionMaps(6, alpha=alpha, graph="complete", scale=scale).fit(X)
    frequencies = np.array([1, 1, 2, 2, 3, 3])
    rates = -2 * np.log(model.eigenvalues_) / scale**2
    np.testing.assert_allclose(rates, frequencies**2, rtol=0.01)
    kernel = np.exp(-0.5 * np.square(2 * np.sin(angles / 2) / scale))
    exact = np.fft.fft(kernel).real / kernel.sum()
    np.testing.assert_allclose(model.eigenvalues_, exact[frequencies], rtol=1e-9)


def test_eigenvalues_equal_those_of_the_dense_kernel_with_its_diagonal(strip):
    model = DiffusionMaps(5, graph="complete", scale=0.2).fit(strip)
    kernel = np.exp(-0.5 * np.square(cdist(strip, strip) / 0.2))
    expected = np.sort(np.linalg.eigvals(kernel / kernel.sum(axis=1, keepdims=True)).real)[::-1]
    np.testing.assert_allclose(model.eigenvalues_, expected[1:6], rtol=1e-8)
    np.testing.assert_array_equal(model.affinity_.diagonal(), 1.0)


def test_new_points_equal_the_literal_nystrom_extension(strip):
    """With the diagonal, the formula for new points also holds at training points, without a jump."""
    model = DiffusionMaps(2, t=1, graph="complete", scale=0.3).fit(strip)
    beside = model.transform(strip + 1e-9)
    np.testing.assert_allclose(beside, model.embedding_, atol=1e-3 * np.ptp(model.embedding_))


def test_alpha_one_removes_the_sampling_density_of_a_line():
    """On a segment the first direction is a cosine of the position, whatever the density."""
    x = np.sort(np.random.default_rng(0).beta(0.6, 1.5, 1500))
    expected = np.cos(np.pi * (x - x[0]) / np.ptp(x))
    fit = {}
    for alpha in (0.0, 1.0):
        model = DiffusionMaps(
            1, alpha=alpha, graph="epsilon_ball", graph_params={"radius": 0.06}, scale=0.02
        )
        fit[alpha] = abs(np.corrcoef(model.fit_transform(x[:, None])[:, 0], expected)[0, 1])
    assert fit[1.0] > 0.999
    assert fit[1.0] > fit[0.0]


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_training_points_keep_their_positions_and_new_points_lie_between(strip, alpha):
    model = DiffusionMaps(2, t=10, alpha=alpha).fit(strip)
    np.testing.assert_allclose(model.transform(strip), model.embedding_, rtol=1e-12)
    middle = (strip[:50] + strip[model.graph_.indices[model.graph_.indptr[:50]]]) / 2
    spread = np.ptp(model.embedding_, axis=0)
    assert np.all(np.abs(model.transform(middle) - model.embedding_[:50]) < 0.15 * spread)
    assert np.isfinite(model.transform([[1e9, 0.5]])).all()


def test_automatic_t_is_the_smallest_with_negligible_omitted_eigenvalues(strip):
    model = DiffusionMaps(2, t="auto").fit(strip)
    fewer = DiffusionMaps(2, t=model.t_ - 1).fit(strip)
    assert model.truncation_error_ <= 0.1 < fewer.truncation_error_
    assert model.t_ == int(model.t_)
    assert DiffusionMaps(1, t="auto", graph="precomputed").fit(np.ones((2, 2))).t_ == 1


@pytest.mark.parametrize("factor", [2.0**-300, 2.0**300])
def test_units_of_affinity_do_not_matter(factor):
    W = graphs.gaussian(np.random.default_rng(1).random((30, 2))).affinity().toarray()
    np.testing.assert_allclose(
        diffusion_distance(W * factor, 3, alpha=1), diffusion_distance(W, 3, alpha=1), rtol=1e-9
    )


def test_every_form_of_affinity_gives_the_same_result(strip):
    graph = graphs.knn(strip, 5)
    W = graph.affinity()
    expected = diffusion_distance(W.toarray() + np.eye(len(strip)), 4)
    np.testing.assert_allclose(diffusion_distance(graph, 4), expected, atol=1e-12)
    expected = diffusion_distance(W.toarray(), 4)
    for form in (W, sparse.csr_matrix(W), sparse.coo_array(W)):
        np.testing.assert_allclose(diffusion_distance(form, 4), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("W", "options", "words"),
    [
        ([[0, 1], [1, np.nan]], {}, "NaN"),
        ([[1, 2], [3, 1]], {}, "not symmetric"),
        ([[1, 0], [0, 0]], {}, "node 1 has no affinity"),
        ([[1, -1], [-1, 1]], {}, "negative"),
        (np.ones((2, 3)), {}, "square"),
        (np.ones((2, 2)), {"t": -1}, "t=-1"),
        (np.ones((2, 2)), {"t": np.inf}, "t=inf"),
        (np.ones((2, 2)), {"alpha": 2}, "alpha=2"),
    ],
)
def test_invalid_input_is_named_in_the_error(W, options, words):
    with pytest.raises(ValueError, match=words):
        diffusion_distance(W, **options)


@pytest.mark.parametrize(
    "options", [{"t": "many"}, {"t": -1}, {"alpha": -1}, {"n_components": 200}, {"disconnected": 1}]
)
def test_invalid_parameters_are_named_in_the_error(strip, options):
    with pytest.raises((ValueError, TypeError), match=next(iter(options))):
        DiffusionMaps(**options).fit(strip)
