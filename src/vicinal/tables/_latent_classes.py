"""Latent classes of the rows of a table (Lazarsfeld and Henry 1968), with columns of any kind.

If rows come in groups and columns depend on nothing else, then within a group the columns are independent.
Classes are a mixture of such groups: within a class, a column of categories has its own probabilities, and a
column of numbers its own normal distribution. The mixture is fitted by expectation maximization over the
values that rows have, and its number of classes minimizes the Bayesian information criterion.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import blocks as row_blocks

MAX_CLASSES = 30
# The number of classes rises until the criterion has been worse this many times in succession.
PATIENCE = 3
# Random starts of each number of classes, their iterations, and those of the starts that are continued.
N_STARTS, START_ITERATIONS = 10, 10
N_CONTINUED, MAX_ITERATIONS = 2, 300
TOLERANCE = 1e-7
ROWS_PER_BLOCK = 8192


class Design(NamedTuple):
    """What rows contribute to the likelihood of a class, as a product with its coefficients.

    Attributes
    ----------
    rows : ndarray (n, p)
        For each category 1 where a row has it; for each number its square, itself, and 1 where it is known.
    columns : tuple of ndarray of int
        Positions of the categories of each column.
    numbers : ndarray of int (3, q)
        Positions of squares, numbers and ones.
    """

    rows: np.ndarray
    columns: tuple[np.ndarray, ...]
    numbers: np.ndarray


class Mixture(NamedTuple):
    """A fitted mixture of classes.

    Attributes
    ----------
    log_prior : ndarray (k,)
        Logarithms of the probabilities of the classes.
    coefficients : ndarray (p, k)
        What a row of the design is multiplied by to get the log-likelihood of each class.
    log_likelihood : float
        Of all rows.
    """

    log_prior: np.ndarray
    coefficients: np.ndarray
    log_likelihood: float

    def posterior(self, rows: np.ndarray) -> np.ndarray:
        """Probability (n, k) of each class, given a row of the design. Equal rows get equal bits."""
        result = np.empty((len(rows), len(self.log_prior)))
        for start, stop in row_blocks(len(rows), ROWS_PER_BLOCK):
            logs = row_products(rows[start:stop], self.coefficients)
            result[start:stop] = _softmax(logs + self.log_prior)[0]
        return result


def row_products(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Rows times a matrix. Equal rows get equal bits, which a product of matrices does not guarantee."""
    return np.einsum("ij,jk->ik", rows, matrix, optimize=False)


def make_design(categories: list[np.ndarray], numbers: np.ndarray) -> Design:
    """Design of rows.

    Parameters
    ----------
    categories : list of ndarray (n, c)
        Indicators of the categories of each column; all 0 where a value is missing.
    numbers : ndarray (n, q)
        Standardised numbers; NaN where a value is missing.
    """
    known = ~np.isnan(numbers)
    filled = np.where(known, numbers, 0.0)
    rows = np.hstack([*categories, filled**2, filled, known.astype(np.float64)])
    ends = np.cumsum([0, *(block.shape[1] for block in categories)])
    columns = tuple(np.arange(a, b) for a, b in pairwise(ends))
    q = numbers.shape[1]
    return Design(np.ascontiguousarray(rows), columns, ends[-1] + np.arange(3 * q).reshape(3, q))


def fit_mixture(design: Design, min_variances: np.ndarray) -> Mixture:
    """The mixture whose number of classes minimizes the Bayesian information criterion.

    ``min_variances`` (q,) are the smallest variances of numbers within a class.
    """
    n = len(design.rows)
    rng = np.random.default_rng(0)
    n_parameters = 1 + sum(len(own) - 1 for own in design.columns) + 2 * design.numbers.shape[1]
    best, least, n_worse = None, np.inf, 0
    for k in range(1, min(MAX_CLASSES, n) + 1):
        mixture = _fit(design, k, min_variances, rng)
        criterion = (k * n_parameters - 1) * np.log(n) - 2.0 * mixture.log_likelihood
        if criterion < least:
            best, least, n_worse = mixture, criterion, 0
        else:
            n_worse += 1
        if n_worse == PATIENCE:
            break
    assert best is not None
    return best


def _fit(design: Design, k: int, min_variances: np.ndarray, rng: np.random.Generator) -> Mixture:
    """Mixture of k classes: the best of several starts."""
    n_starts = N_STARTS if k > 1 else 1
    starts = [
        _iterate(design, _start(design, k, rng), min_variances, START_ITERATIONS)
        for _ in range(n_starts)
    ]
    starts.sort(key=lambda start: -start[0].log_likelihood)
    finished = [
        _iterate(design, memberships, min_variances, MAX_ITERATIONS)[0]
        for _, memberships in starts[:N_CONTINUED]
    ]
    return max(finished, key=lambda mixture: mixture.log_likelihood)


def _start(design: Design, k: int, rng: np.random.Generator) -> np.ndarray:
    """Memberships (n, k) in the classes of k rows, drawn one by one far from those drawn before."""
    _, linear, _ = design.numbers
    # Different categories have a squared distance of 2, and so have two numbers on average.
    places = design.rows[:, np.concatenate([*design.columns, linear])]
    squares = np.einsum("ij,ij->i", places, places)
    nearest, memberships = np.full(len(places), np.inf), np.zeros(len(places), dtype=np.int64)
    for c in range(k):
        total = nearest.sum()
        even = c == 0 or not 0 < total < np.inf
        row = rng.choice(len(places), p=None if even else nearest / total)
        distances = np.maximum(squares + squares[row] - 2.0 * places @ places[row], 0.0)
        memberships[distances < nearest] = c
        nearest = np.minimum(nearest, distances)
    return np.eye(k)[memberships]


def _iterate(
    design: Design, memberships: np.ndarray, min_variances: np.ndarray, n_iterations: int
) -> tuple[Mixture, np.ndarray]:
    """Expectation maximization from memberships; also returns the last ones."""
    last = -np.inf
    for _ in range(n_iterations):
        log_prior, coefficients = _maximize(design, memberships, min_variances)
        memberships, normalizers = _softmax(design.rows @ coefficients + log_prior)
        log_likelihood = float(normalizers.sum())
        if log_likelihood - last < TOLERANCE * abs(log_likelihood):
            break
        last = log_likelihood
    return Mixture(log_prior, coefficients, log_likelihood), memberships


def _maximize(
    design: Design, memberships: np.ndarray, min_variances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Prior and coefficients with the largest likelihood, with one row of average values added per class.

    The added row keeps probabilities above 0 and variances from shrinking to single values.
    """
    n, k = memberships.shape
    sums = design.rows.T @ memberships
    means = design.rows.mean(axis=0)
    log_prior = np.log((memberships.sum(axis=0) + 1.0) / (n + k))
    coefficients = np.empty_like(sums)
    for own in design.columns:
        frequencies = means[own] / max(means[own].sum(), 1e-300)
        counts = sums[own] + frequencies[:, None]
        with np.errstate(divide="ignore"):
            logs = np.log(counts / counts.sum(axis=0))
        coefficients[own] = np.maximum(logs, -1e3)
    squares, linear, ones = design.numbers
    counts = sums[ones] + 1.0
    centers = sums[linear] / counts
    # The added row has the mean of the class, and the variance of k classes that share the range.
    variances = (sums[squares] + (centers**2) + 1.0 / k**2) / counts - centers**2
    variances = np.maximum(variances, min_variances[:, None])
    coefficients[squares] = -0.5 / variances
    coefficients[linear] = centers / variances
    coefficients[ones] = -0.5 * (centers**2 / variances + np.log(2.0 * np.pi * variances))
    return log_prior, coefficients


def _softmax(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of exponentials that sum to 1, and the logarithms of their sums."""
    largest = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - largest)
    totals = weights.sum(axis=1, keepdims=True)
    return weights / totals, (largest + np.log(totals))[:, 0]
