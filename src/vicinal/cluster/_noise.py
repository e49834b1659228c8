"""Which points are noise, read off the distribution of their distances from the origin."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from vicinal._core.parallel import one_openmp_thread
from vicinal.operators.laplacians import walk_matrix
from vicinal.operators.stationary import edge_weights

SAMPLE = 50_000
# The likeliest of so many fits: a single one may stop at a less likely pair of groups.
STARTS = 5
# Gain in log-likelihood a point, penalised, from which two groups of norms are believed in: 0.2 and more with
# noise, but skewed norms of clean data show that too. Only with noise is there a valley between the groups,
# deeper, as a share of the lower peak, than chance makes it: by this over the root of the number of points.
CLEAR, VALLEY = 0.1, 4.0
# Noise is near the origin: its typical norm is below this share of that of the others. Half-cylinders in
# noise show 0.14 at most, while on a line norms come in two groups of 0.24 and more without any.
NEAR = 0.2
# Share of a nearer group without a valley that is doubted: small ones, the edges, are in most clean sets.
LARGE = 0.25


class NoiseSplit(NamedTuple):
    """A threshold on norms, 0 if there is no noise; how clearly two groups were seen; share of the nearer.

    Of two clear groups without a valley between them nobody knows whether the nearer one is noise. If
    it is large, that is worth a doubt.
    """

    threshold: float
    gain: float
    nearer: float = 0.0

    @property
    def doubtful(self) -> bool:
        return self.threshold == 0 and self.gain >= CLEAR and self.nearer >= LARGE


def split_norms(norms: np.ndarray) -> NoiseSplit:
    """Threshold between points near the origin and the others, if there are two such groups.

    The logarithms of the norms are described by one normal distribution and by a mixture of two; two
    must describe them clearly better (by the Bayesian information criterion), one near the origin as
    compared with the other, and be two peaks.
    """
    from sklearn.mixture import GaussianMixture

    positive = norms[norms > 0]
    if len(positive) < 10 or np.ptp(positive) == 0:
        return NoiseSplit(0.0, 0.0)
    logs = np.log(positive)
    if len(logs) > SAMPLE:
        logs = np.random.default_rng(0).choice(logs, SAMPLE, replace=False)
    # Sorted, so that the order of the points does not matter.
    logs = np.sort(logs)[:, None]
    with one_openmp_thread():  # mixtures start from k-means
        one = GaussianMixture(1).fit(logs)
        two = GaussianMixture(2, n_init=STARTS, random_state=0).fit(logs)
    gain = float(one.bic(logs) - two.bic(logs)) / (2 * len(logs))
    low, high = np.sort(two.means_.ravel())
    nearer = float(two.weights_[np.argmin(two.means_)])
    if low - high > np.log(NEAR):
        return NoiseSplit(0.0, gain)
    between = np.linspace(low, high, 1001)[:, None]
    density = np.exp(two.score_samples(between))
    depth = 1 - density.min() / min(density[0], density[-1])
    if gain < CLEAR or depth * np.sqrt(len(logs)) < VALLEY:
        return NoiseSplit(0.0, gain, nearer)
    far = int(np.argmax(two.means_.ravel()))
    # Where a point belongs to the far group as likely as not.
    at = int(np.argmax(two.predict_proba(between)[:, far] >= 0.5))
    return NoiseSplit(float(np.exp(between[at, 0])), gain, nearer)


def visited(digraph: Any, beta: float) -> np.ndarray:
    """Nodes of a digraph that a walk reaches by edges more often than by teleport.

    The others are the nodes without incoming edges, and those that only such nodes lead to. What teleport
    alone gives them is near the origin, so they are a group of norms of its own; but clean clusters in
    many dimensions have them too, so that group is no sign of noise.
    """
    arrivals = walk_matrix(edge_weights(digraph))[0].T.tocsr()
    reached = np.ones(arrivals.shape[0], dtype=bool)
    while True:
        still = reached & (arrivals @ reached.astype(np.float64) > 1.0 - beta)
        if np.array_equal(still, reached):
            return reached
        reached = still
