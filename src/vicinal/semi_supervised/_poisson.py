"""Poisson learning: labels as sources and sinks of a flow along the edges.

Harmonic functions of very few labels are nearly constant, with a spike at each label. Poisson learning solves
L u = sum over labels j of (y_j - mean of y) delta_j instead, where y_j is the indicator of the class of j. A
node belongs to the class with the largest s_k u_k; the weights s_k are the ratios of the class proportions
among all nodes to those among the labels.

PoissonMBO alternates steps of heat flow from the labels with a choice of one class per node, such that the
classes have given proportions.

The equation has a solution on a component if its sources sum to 0 there. Therefore labels are compared with
the mean of their own component, and classes without a label in a component have no potential there.

References
----------
Calder, Cook, Thorpe and Slepcev, "Poisson learning: graph based semi-supervised learning at very low label
rates", ICML 2020.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal.operators.laplacians import degrees
from vicinal.semi_supervised._absorption import absorb

# Parameters of PoissonMBO in the paper: heat steps between two choices of classes, number of choices, and
# strength of the labels.
HEAT_STEPS, MAX_CHOICES, SOURCE_STRENGTH = 40, 20, 1.0
# Volumes may differ from the given ones by this fraction of all nodes.
VOLUME_TOLERANCE = 1e-3
MAX_VOLUME_STEPS = 1000


def label_sources(codes: np.ndarray, components: np.ndarray, n_classes: int) -> np.ndarray:
    """Indicators of the labels minus their mean over the component; rows of unlabelled nodes are 0."""
    labelled = np.flatnonzero(codes >= 0)
    counts = label_counts(codes, components, n_classes)
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    sources = np.zeros((len(codes), n_classes))
    sources[labelled, codes[labelled]] = 1.0
    sources[labelled] -= (counts / totals)[components[labelled]]
    return sources


def label_counts(codes: np.ndarray, components: np.ndarray, n_classes: int) -> np.ndarray:
    """Number of labels of each class in each component."""
    labelled = codes >= 0
    counts = np.zeros((int(components.max()) + 1, n_classes))
    np.add.at(counts, (components[labelled], codes[labelled]), 1.0)
    return counts


def poisson_potentials(
    weights: sparse.csr_array, codes: np.ndarray, components: np.ndarray
) -> np.ndarray:
    """Solve the Poisson equation of each class.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        Symmetric and nonnegative.
    codes : ndarray of int of shape (n,)
        Class codes, -1 where unknown.
    components : ndarray of int of shape (n,)
        Component of each node.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Potentials, whose mean over a component, weighted by degrees, is 0.
    """
    sources = label_sources(codes, components, int(codes.max()) + 1)
    masses = degrees(weights)
    # The equation determines potentials up to a constant per component: one node of each has potential 0.
    order = np.lexsort((-masses, components))
    grounded = np.zeros(len(codes), dtype=bool)
    grounded[order[np.r_[True, np.diff(components[order]) > 0]]] = True
    potentials = np.zeros_like(sources)
    if not grounded.all():
        rows = weights[~grounded]
        potentials[~grounded] = absorb(
            rows[:, ~grounded],
            degrees(rows[:, grounded]),
            sources[~grounded],
        )[0]
    # Isolated nodes have weight 1.
    masses = np.where(masses > 0, masses, 1.0)
    totals = np.bincount(components, masses)
    for column in potentials.T:
        column -= (np.bincount(components, masses * column) / totals)[components]
    return potentials


def refine_by_volumes(
    weights: sparse.csr_array,
    codes: np.ndarray,
    components: np.ndarray,
    classes: np.ndarray,
    proportions: np.ndarray,
) -> np.ndarray:
    """PoissonMBO: heat flow from the labels, alternating with classes of given proportions.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        Symmetric and nonnegative.
    codes, components : ndarray of int of shape (n,)
        As for `poisson_potentials`.
    classes : ndarray of int of shape (n,)
        Initial class of each node.
    proportions : ndarray of shape (n_classes,)
        Proportion of each class among all nodes.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Heat of each class after the last steps, weighted such that the largest in each row is the class of
        the node.
    """
    n_classes = len(proportions)
    sources = label_sources(codes, components, n_classes)
    sums = degrees(weights)
    step = 1.0 / max(float(sums.max()), np.finfo(np.float64).tiny)
    flow = sparse.csr_array(sparse.diags_array(1.0 - step * sums) + step * weights)
    scales = np.ones(n_classes)
    heat = np.eye(n_classes)[classes]
    for _ in range(MAX_CHOICES):
        heat = np.eye(n_classes)[classes]
        for _ in range(HEAT_STEPS):
            heat = flow @ heat + (SOURCE_STRENGTH * step) * sources
        scales = volume_scales(heat, proportions, scales)
        previous, classes = classes, (heat * scales).argmax(axis=1)
        if (classes == previous).all():
            break
    return heat * scales


def volume_scales(heat: np.ndarray, proportions: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Factors of the columns such that the largest in each row have given proportions, if there are such.

    The paper's iteration, which starts from ``scales``: factors of classes that are too large shrink.
    """
    n, n_classes = heat.shape
    best, smallest = scales, np.inf
    for _ in range(MAX_VOLUME_STEPS):
        excess = np.bincount((heat * scales).argmax(axis=1), minlength=n_classes) / n - proportions
        error = float(np.abs(excess).max())
        if error < smallest:
            best, smallest = scales, error
        if error <= VOLUME_TOLERANCE:
            break
        scales = np.maximum(scales - 0.1 * excess, 1e-3)
        scales = scales / scales.mean()
    return best
