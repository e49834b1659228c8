"""Labels that the neighbourhood contradicts, with the probability that each label is wrong.

The nearest labelled rows vote with weights that decrease with their distance. The class of a row has the
probability p(c) proportional to (votes for c + s * frequency of c)^a, and a label is wrong with probability
e, then any of the other classes. The parameters a, s, e and the number of neighbours maximise the likelihood
of the given labels, each predicted without itself, so the probabilities are calibrated by the
labels themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from vicinal._core.parallel import blocks
from vicinal.neighbors import NeighborSearch

# Candidate numbers of voting neighbours.
NEIGHBOR_COUNTS = (5, 10, 20)
# The likelihood is maximised on at most this many rows, starting from these error rates.
MAX_FITTED_ROWS, START_ERROR_RATES = 5000, (0.01, 0.1)
ROWS_PER_BLOCK = 4096
# Total votes that classes may have without any neighbour. A larger prior would explain labels that all
# neighbours contradict, so that a few wrong labels are not found.
MAX_PRIOR_VOTES = 0.125
# Votes count at least this much, so that logarithms are finite.
MIN_VOTE = 1e-12


class LabelDoubts(NamedTuple):
    """How well each label fits its neighbourhood.

    Attributes
    ----------
    probability : ndarray (n,)
        Estimated probability that the label is wrong; NaN for rows without a label.
    support : ndarray (n,)
        Probability of the given label by the votes of the neighbours alone, low for labels that disagree
        with their neighbourhood; NaN for rows without a label.
    suggested : ndarray of str (n,)
        Most probable class by the neighbourhood; empty for rows without a label.
    error_rate : float
        Estimated fraction of wrong labels.
    n_neighbors : int
        Number of voting neighbours.
    """

    probability: np.ndarray
    support: np.ndarray
    suggested: np.ndarray
    error_rate: float
    n_neighbors: int


class Votes(NamedTuple):
    """Votes of the neighbours, as logarithms of the probabilities need them.

    ``own`` (n,) are the votes for the given label; ``listed`` (n, k) those for the class of each neighbour,
    and ``is_first`` (n, k) selects each listed class once.
    """

    own: np.ndarray
    listed: np.ndarray
    is_first: np.ndarray
    classes: np.ndarray

    def of_rows(self, rows: np.ndarray) -> Votes:
        return Votes(*(values[rows] for values in self))


def doubt_labels(
    points: np.ndarray,
    labels: np.ndarray,
    neighbors: tuple[np.ndarray, np.ndarray] | None = None,
    n_jobs: int | None = -1,
) -> LabelDoubts:
    """Score every label against the labels of the nearest rows; an empty label is missing.

    ``neighbors`` are the 20 nearest rows of each row and their distances, the row itself first, or all rows
    if there are not as many. They are used if all rows have labels.
    """
    rows = np.flatnonzero(labels != "")
    classes, codes = np.unique(labels[rows], return_inverse=True)
    probability = np.full(len(labels), np.nan)
    support = np.full(len(labels), np.nan)
    suggested = np.full(len(labels), "", dtype=object)
    if len(rows) < 3 or len(classes) < 2:
        probability[rows], support[rows], suggested[rows] = 0.0, 1.0, labels[rows]
        return LabelDoubts(probability, support, suggested, 0.0, 0)
    k = min(NEIGHBOR_COUNTS[-1], len(rows) - 1)
    if neighbors is None or len(rows) < len(labels):
        neighbors = NeighborSearch(points[rows], n_jobs=n_jobs).nearest(k)
    indices, distances = neighbors
    indices, weights = indices[:, 1:], vote_weights(indices[:, 1:], distances[:, 1:])
    frequency = np.bincount(codes) / len(codes)
    sample = np.unique(np.linspace(0, len(rows) - 1, MAX_FITTED_ROWS).astype(np.int64))
    best = None
    for count in sorted({min(size, k) for size in NEIGHBOR_COUNTS}):
        votes = count_votes(codes, indices[:, :count], weights[:, :count])
        parameters, loss = fit_parameters(votes.of_rows(sample), codes[sample], frequency)
        if best is None or loss < best[0]:
            best = loss, count, votes, parameters
    assert best is not None
    _, count, votes, parameters = best
    own, listed = class_probabilities(votes, codes, frequency, parameters)
    error_rate = parameters[2]
    given = probability_of_label(own, error_rate, len(classes))
    probability[rows] = 1.0 - (1.0 - error_rate) * own / given
    support[rows] = own
    # Ties go to the given label.
    winner = votes.classes[np.arange(len(rows)), listed.argmax(axis=1)]
    suggested[rows] = classes[np.where(listed.max(axis=1) > own, winner, codes)]
    return LabelDoubts(probability, support, suggested, float(np.mean(probability[rows])), count)


def vote_weights(indices: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Gaussian weights whose widths are the distances of both rows to their last neighbours."""
    reach = distances[:, -1]
    scale = reach[:, None] * reach[indices]
    exponent = np.divide(np.square(distances), scale, out=np.zeros_like(distances), where=scale > 0)
    # Rows of a group of duplicates have no width: only equal rows vote for them.
    exponent[(scale == 0) & (distances > 0)] = np.inf
    return np.exp(-exponent)


def count_votes(codes: np.ndarray, indices: np.ndarray, weights: np.ndarray) -> Votes:
    """Votes for the given label and for the class of each neighbour."""
    n, k = indices.shape
    classes = codes[indices]
    listed, is_first = np.empty((n, k)), np.empty((n, k), dtype=bool)
    earlier = np.tri(k, k, -1, dtype=bool)
    for a, b in blocks(n, ROWS_PER_BLOCK):
        same = classes[a:b, :, None] == classes[a:b, None, :]
        listed[a:b] = np.einsum("ijl,il->ij", same, weights[a:b])
        is_first[a:b] = ~(same & earlier).any(axis=2)
    own = np.where(classes == codes[:, None], weights, 0.0).sum(axis=1)
    return Votes(own, listed, is_first, classes)


def class_probabilities(
    votes: Votes,
    codes: np.ndarray,
    frequency: np.ndarray,
    parameters: tuple[float, float, float],
) -> tuple[np.ndarray, np.ndarray]:
    """Probability of the given class (n,), and of the class of each neighbour (n, k)."""
    power, prior_weight, _ = parameters
    prior = prior_weight * frequency + MIN_VOTE
    own = np.log(votes.own + prior[codes])
    listed = np.log(votes.listed + prior[votes.classes])
    top = np.maximum(own, listed.max(axis=1))
    own = np.exp(power * (own - top))
    listed = np.exp(power * (listed - top[:, None]))
    # Classes that no neighbour has: all of them without the listed ones.
    log_prior = power * np.log(prior)
    in_lists = np.exp(log_prior[votes.classes] - power * top[:, None]) * votes.is_first
    absent = np.exp(logsumexp(log_prior) - power * top) - in_lists.sum(axis=1)
    total = (listed * votes.is_first).sum(axis=1) + np.clip(absent, 0.0, None)
    # A label that no neighbour has is among the absent classes, which may round to 0.
    total = np.maximum(total, own)
    return own / total, listed / total[:, None]


def probability_of_label(own: np.ndarray, error_rate: float, n_classes: int) -> np.ndarray:
    """Probability that a row has the label it has, if labels may be wrong."""
    given = (1.0 - error_rate) * own + error_rate / (n_classes - 1) * (1.0 - own)
    return np.maximum(given, np.finfo(np.float64).tiny)


def fit_parameters(
    votes: Votes, codes: np.ndarray, frequency: np.ndarray
) -> tuple[tuple[float, float, float], float]:
    """Power, prior weight and error rate of maximum likelihood, and the mean negative log-likelihood."""
    n_classes = len(frequency)
    lowest, highest = [-7, -12, -20], [5, np.log(MAX_PRIOR_VOTES), 20]

    def read(theta: np.ndarray) -> tuple[float, float, float]:
        log_power, log_weight, logit = np.clip(theta, lowest, highest)
        # With more wrong labels than this, a label would speak against its class.
        max_rate = 1.0 - 1.0 / n_classes
        return np.exp(log_power), np.exp(log_weight), max_rate / (1.0 + np.exp(-logit))

    def loss(theta: np.ndarray) -> float:
        parameters = read(theta)
        own = class_probabilities(votes, codes, frequency, parameters)[0]
        return -float(np.log(probability_of_label(own, parameters[2], n_classes)).mean())

    results = [
        minimize(
            loss,
            [0.5, np.log(MAX_PRIOR_VOTES), np.log(rate / (1.0 - rate))],
            method="Nelder-Mead",
            options={"maxiter": 200, "xatol": 1e-3, "fatol": 1e-7},
        )
        for rate in START_ERROR_RATES
    ]
    best = min(results, key=lambda result: float(result.fun))
    return read(best.x), float(best.fun)
