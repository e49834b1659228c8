"""Classes of rows within which columns are independent (naive Bayes; Lazarsfeld and Henry 1968)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.tables._constants import FEW, MAX_STEPS

TOLERANCE = 1e-5


class Layout(NamedTuple):
    """What the coordinates of a table are.

    Attributes
    ----------
    column_of, group : ndarray of int (p,)
        Column of each coordinate, and set of copies that the column belongs to.
    nominal : ndarray of bool (p,)
        Whether it is that of a category.
    weight : ndarray (p,)
        Root of 1 by the number of copies of the column, so that they count once together.
    rates, deviations : ndarray (p,)
        Mean and unit of the indicator of a category; 0 and 1 elsewhere.
    """

    column_of: np.ndarray
    group: np.ndarray
    nominal: np.ndarray
    weight: np.ndarray
    rates: np.ndarray
    deviations: np.ndarray


class Classes(NamedTuple):
    """A mixture of classes.

    Attributes
    ----------
    log_prior : ndarray (k,)
        Logarithms of the probabilities of the classes.
    means, variances : ndarray (p, k)
        Of the coordinates in each class.
    log_rates : ndarray (p, k)
        Logarithms of the probabilities of categories; 0 elsewhere.
    """

    log_prior: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    log_rates: np.ndarray

    def coefficients(self, layout: Layout, own: np.ndarray) -> np.ndarray:
        """What the design of these coordinates is multiplied by to get log-likelihoods of the classes."""
        weight = layout.weight[:, None] ** 2
        nominal, other = own[layout.nominal[own]], own[~layout.nominal[own]]
        m, v, w = self.means[other], self.variances[other], weight[other]
        return np.vstack(
            [
                self.log_rates[nominal] * weight[nominal],
                -0.5 * w / v,
                w * m / v,
                -0.5 * w * (m**2 / v + np.log(v)),
            ]
        )


def design(Z: np.ndarray, layout: Layout, own: np.ndarray) -> np.ndarray:
    """Indicators of categories; squares, values and presence of the other coordinates. Gaps say nothing."""
    nominal, other = own[layout.nominal[own]], own[~layout.nominal[own]]
    known = ~np.isnan(Z[:, other])
    X = np.where(known, Z[:, other], 0.0)
    with np.errstate(invalid="ignore"):
        # The coordinate of a category is positive where a row has it, and nowhere else.
        indicators = Z[:, nominal] > 0
    return np.hstack([indicators, X**2, X, known]).astype(np.float64)


def fit_classes(Z: np.ndarray, start: np.ndarray, layout: Layout) -> Classes:
    """Expectation maximization from classes of the rows."""
    p = Z.shape[1]
    everything = np.arange(p)
    D = design(Z, layout, everything)
    n_nominal = int(layout.nominal.sum())
    memberships, last = np.eye(start.max() + 1)[start], -np.inf
    for _ in range(MAX_STEPS):
        classes = _maximize(D, memberships, n_nominal, layout)
        logs = D @ classes.coefficients(layout, everything) + classes.log_prior
        memberships, totals = softmax(logs)
        now = float(totals.sum())
        if now - last < TOLERANCE * abs(now):
            break
        last = now
    return classes


def _maximize(D: np.ndarray, memberships: np.ndarray, n_nominal: int, layout: Layout) -> Classes:
    """Classes with the largest likelihood, with one row of average values added to each."""
    n, k = memberships.shape
    p = len(layout.nominal)
    log_prior = np.log((memberships.sum(axis=0) + 1.0) / (n + k))
    sums = D.T @ memberships
    log_rates, means, variances = np.zeros((p, k)), np.zeros((p, k)), np.ones((p, k))
    nominal, other = np.flatnonzero(layout.nominal), np.flatnonzero(~layout.nominal)
    counts = sums[:n_nominal] + D[:, :n_nominal].mean(axis=0)[:, None]
    columns = layout.column_of[nominal]
    if len(nominal):
        first = np.flatnonzero(np.diff(columns, prepend=-1))
        totals = np.repeat(np.add.reduceat(counts, first), np.diff([*first, len(columns)]), axis=0)
        rates = np.maximum(counts / totals, 1e-12)
        log_rates[nominal] = np.log(rates)
        means[nominal] = (rates - layout.rates[nominal, None]) / layout.deviations[nominal, None]
    squares, linear, ones = sums[n_nominal:].reshape(3, len(other), k)
    means[other] = linear / (ones + 1.0)
    variances[other] = np.maximum((squares + 1.0) / (ones + 1.0) - means[other] ** 2, 1.0 / FEW)
    return Classes(log_prior, means, variances, log_rates)


def softmax(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of exponentials that sum to 1, and the logarithms of their sums."""
    largest = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - largest)
    totals = weights.sum(axis=1, keepdims=True)
    return weights / totals, (largest + np.log(totals))[:, 0]


def predicted(Z: np.ndarray, classes: Classes, layout: Layout) -> np.ndarray:
    """Each column predicted from the other columns, through the classes."""
    everything = np.arange(Z.shape[1])
    logs = design(Z, layout, everything) @ classes.coefficients(layout, everything)
    logs += classes.log_prior
    out = np.zeros(Z.shape)
    for g in np.unique(layout.group):
        own = np.flatnonzero(layout.group == g)
        without = logs - design(Z, layout, own) @ classes.coefficients(layout, own)
        out[:, own] = softmax(without)[0] @ classes.means[own].T
    return out
