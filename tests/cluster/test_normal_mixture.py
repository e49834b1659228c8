"""Mixtures of normal distributions in one dimension."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from vicinal._core.parallel import one_openmp_thread
from vicinal.cluster._normal_mixture import normal_mixture


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("gap", [0.0, 1.0, 6.0])
def test_the_fit_is_that_of_scikit_learn(n_components, gap):
    rng = np.random.default_rng(int(gap))
    values = np.sort(np.concatenate([rng.normal(0, 1, 80), rng.normal(gap, 0.5, 40)]))
    mixture = normal_mixture(values, n_components, n_init=5, seed=0)
    with one_openmp_thread():
        peer = GaussianMixture(n_components, n_init=5, random_state=0).fit(values[:, None])
    np.testing.assert_allclose(mixture.weights, peer.weights_, rtol=1e-9)
    np.testing.assert_allclose(mixture.means, peer.means_.ravel(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mixture.variances, peer.covariances_.ravel(), rtol=1e-9)
    assert mixture.bic(values) == pytest.approx(peer.bic(values[:, None]), rel=1e-10)
    np.testing.assert_allclose(
        mixture.log_density(values), peer.score_samples(values[:, None]), rtol=1e-9
    )
    np.testing.assert_allclose(
        mixture.probabilities(values), peer.predict_proba(values[:, None]), atol=1e-9
    )


def test_equal_values_have_the_smallest_variance():
    mixture = normal_mixture(np.full(20, 3.0), 2)
    np.testing.assert_allclose(mixture.means[np.argmax(mixture.weights)], 3.0)
    assert np.isfinite(mixture.bic(np.full(20, 3.0)))
