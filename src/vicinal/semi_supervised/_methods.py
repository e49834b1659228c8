"""The methods of `GraphClassifier`: from the codes of a few nodes to class probabilities of all.

All solve systems of the Laplacian by `absorb`. In a component, classes without a label have probability 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal.operators._components import affinity_structure
from vicinal.semi_supervised._absorption import Spread
from vicinal.semi_supervised._calibration import Calibration, calibrate, rehearsal_labels
from vicinal.semi_supervised._class_mass import (
    class_densities,
    class_proportions,
    rescale_by_mass,
)
from vicinal.semi_supervised._labels import frequencies
from vicinal.semi_supervised._poisson import (
    label_counts,
    poisson_potentials,
    refine_by_volumes,
)
from vicinal.semi_supervised.graph_prior import spread_classes
from vicinal.semi_supervised.propagation import spread_steps

METHODS = ("harmonic", "laplace", "poisson", "poisson_mbo", "prior")
# Potentials, divided by their standard deviation, times this are log probabilities.
POTENTIAL_FACTOR = 2.0


class Options(NamedTuple):
    """Parameters of all methods."""

    class_prior: Any
    ridge: float
    smoothness: float


def spread_by_method(
    method: str, weights: sparse.csr_array, codes: np.ndarray, options: Options
) -> tuple[Spread, Calibration | None]:
    """Class probabilities of all nodes by one of `METHODS`, and how their power was chosen, if it was."""
    if method == "prior":
        spread = spread_classes(
            weights,
            codes,
            options.ridge,
            options.smoothness,
            options.class_prior,
        )
        return spread, None
    if method == "harmonic":
        return _harmonic(weights, codes, options)
    if method == "laplace":
        return _rescaled_steps(_standardize, weights, codes, options), None
    return _poisson(method, weights, codes, options), None


def _rescaled_steps(
    rescale: Callable[..., np.ndarray],
    weights: sparse.csr_array,
    codes: np.ndarray,
    options: Options,
) -> Spread:
    """Harmonic functions, rescaled at the unlabelled nodes."""
    spread = spread_steps(weights, codes, None)
    unlabelled = spread.reached & (codes < 0)
    if unlabelled.any():
        spread.values[unlabelled] = rescale(spread.values, unlabelled, codes, options.class_prior)
    return spread


def _harmonic(
    weights: sparse.csr_array, codes: np.ndarray, options: Options
) -> tuple[Spread, Calibration | None]:
    """Harmonic functions; with a class prior, also class mass normalisation and an honest power."""
    spread = _rescaled_steps(_normalize_mass, weights, codes, options)
    unlabelled = spread.reached & (codes < 0)
    if options.class_prior is None or not unlabelled.any():
        return spread, None
    labels = rehearsal_labels(spread.values * spread.reached[:, None], codes)
    rehearsal = _rescaled_steps(_normalize_mass, weights, labels, options)
    tested = spread.reached & rehearsal.reached & (labels < 0)
    classes = spread.values.argmax(axis=1)
    calibration = calibrate(rehearsal.values[tested], classes[tested])
    sharp = spread.values[unlabelled] ** calibration.power
    spread.values[unlabelled] = sharp / sharp.sum(axis=1, keepdims=True)
    return spread, calibration


def _normalize_mass(
    values: np.ndarray, unlabelled: np.ndarray, codes: np.ndarray, prior: Any
) -> np.ndarray:
    """Class mass normalisation of the harmonic functions of Zhu, Ghahramani and Lafferty."""
    if prior is None:
        return values[unlabelled]
    counts = np.bincount(codes[codes >= 0])
    return rescale_by_mass(values, unlabelled, values.sum(axis=0), counts, prior)


def _standardize(
    values: np.ndarray, unlabelled: np.ndarray, codes: np.ndarray, prior: Any
) -> np.ndarray:
    """Mean-shifted Laplace learning: only deviations from a constant separate classes."""
    rows = values[unlabelled]
    deviations = rows.std(axis=0)
    scores = (rows - rows.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    return _probabilities(scores, rows > 0, np.bincount(codes[codes >= 0]), prior)


def _probabilities(
    scores: np.ndarray, possible: np.ndarray, counts: np.ndarray, prior: Any
) -> np.ndarray:
    """Softmax over the possible classes of each row, weighted by the class prior."""
    scores = np.where(possible, scores, -np.inf)
    probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    if prior is not None:
        densities = class_densities(probabilities, probabilities.sum(axis=0))
        # Relative to the labels, from whose proportions the scores are computed.
        ratio = class_proportions(prior, counts, densities) / (counts / counts.sum())
        probabilities *= ratio
        probabilities /= probabilities.sum(axis=1, keepdims=True)
    return probabilities


def _poisson(method: str, weights: sparse.csr_array, codes: np.ndarray, options: Options) -> Spread:
    components = affinity_structure(weights).components
    possible = label_counts(codes, components, int(codes.max()) + 1)[components] > 0
    reached = possible.any(axis=1)
    counts = np.bincount(codes[codes >= 0])
    potentials = poisson_potentials(weights, codes, components)[reached]
    spread = float(potentials.std())
    scores = potentials * (POTENTIAL_FACTOR / spread if spread > 0 else 0.0)
    prior = options.class_prior
    if prior is not None:
        even = _probabilities(scores, possible[reached], counts, None)
        densities = class_densities(even, even.sum(axis=0))
        # The weights of the paper.
        scores *= class_proportions(prior, counts, densities) / (counts / counts.sum())
    values = np.tile(frequencies(codes), (len(codes), 1))
    values[reached] = _probabilities(scores, possible[reached], counts, None)
    if method == "poisson_mbo":
        nodes = np.flatnonzero(reached)
        proportions = class_proportions("labels" if prior is None else prior, counts, values[nodes])
        heat = refine_by_volumes(
            weights[nodes][:, nodes],
            codes[nodes],
            np.unique(components[nodes], return_inverse=True)[1],
            values[nodes].argmax(axis=1),
            proportions,
        )
        heat = np.where(possible[nodes], np.clip(heat, 0.0, None), 0.0)
        heat[~heat.any(axis=1)] = possible[nodes][~heat.any(axis=1)]
        values[nodes] = heat / heat.sum(axis=1, keepdims=True)
    return Spread(values, reached)
