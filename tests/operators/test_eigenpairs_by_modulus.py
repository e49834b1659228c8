"""Both ends of the spectrum of a walk where Lanczos gives up at the lower one."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

from vicinal import DiffusionMaps
from vicinal.operators._eigen import eigenpairs_by_modulus as both_ends
from vicinal.operators._eigen import solvers as eigensolvers
from vicinal.operators._eigen.eigenpairs_by_modulus import eigenpairs_by_modulus
from vicinal.operators._eigen.solvers import FALLBACK_MAX_NODES, EigenpairsNotConverged

N = FALLBACK_MAX_NODES + 1001


def ring(n):
    """A ring of n nodes; if n is odd, it is almost bipartite."""
    nodes = np.arange(n)
    half = sparse.csr_array((np.ones(n), (nodes, (nodes + 1) % n)), shape=(n, n))
    return sparse.csr_array(half + half.T)


@pytest.fixture
def impatient(monkeypatch):
    """So few restarts that Lanczos converges only for wide gaps."""
    monkeypatch.setattr(eigensolvers, "MAX_RESTARTS", 3)


def test_the_lower_end_of_a_long_odd_ring_is_exact(impatient):
    pairs = eigenpairs_by_modulus(ring(N), 5)
    swinging, slow = -np.cos(np.pi / N), np.cos(2 * np.pi / N)
    expected = [1.0, swinging, swinging, slow, slow]
    np.testing.assert_allclose(pairs.values, expected, rtol=0, atol=1e-13)
    assert pairs.residuals.max() < 1e-9
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(5), atol=1e-7)


def test_the_fallback_is_the_dense_solution(monkeypatch):
    monkeypatch.setattr(both_ends, "FALLBACK_MAX_NODES", 0)
    monkeypatch.setattr(eigensolvers, "MAX_RESTARTS", 3)
    rng = np.random.default_rng(0)
    W = ring(701).toarray()
    W *= 0.5 + rng.random(701)
    W = (W + W.T) / 2
    roots = np.sqrt(W.sum(axis=1))
    values, vectors = eigh(W / np.outer(roots, roots))
    result = both_ends._lowest(sparse.csr_array(W / np.outer(roots, roots)), 4, 0.0, 1e-9, 0)
    np.testing.assert_allclose(result.values, values[:4], rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        np.abs(np.sum(result.vectors * vectors[:, :4], axis=0)), 1, atol=1e-9
    )


def test_the_error_suggests_the_lazy_walk_which_converges(impatient, monkeypatch):
    monkeypatch.setattr(eigensolvers, "MAX_BAND_ENTRIES", 0.0)
    model = DiffusionMaps(2, graph="precomputed", random_state=0)
    with pytest.raises(
        EigenpairsNotConverged, match=r"4 eigenpairs did not converge .* make the walk lazy"
    ):
        model.fit(ring(N))
    lazy = ring(N) + sparse.diags_array(ring(N).sum(axis=1))
    expected = (1 + np.cos(2 * np.pi / N)) / 2
    np.testing.assert_allclose(model.fit(lazy).eigenvalues_, expected, rtol=1e-13)
