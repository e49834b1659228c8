"""Leave-one-out classes of the labels, from the harmonic functions of all labels.

Let H_i be the harmonic function that is 1 at label i and 0 at the others, and S = L H, restricted to the
labels (the Schur complement). Without label i, its value would be p_i = -sum over j != i of S_ij y_j / S_ii,
and all others would change by H_i (p_i - y_i). One solve per label therefore gives all values.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks
from vicinal.operators.laplacians import degrees
from vicinal.semi_supervised._absorption import harmonic

# Labels that are solved at once: their harmonic functions are stored.
LABELS_PER_BLOCK = 64
# Conductances to other labels below this fraction of the degree are rounding errors.
MIN_CONDUCTANCE = 1e-9


def leave_one_out(weights: sparse.csr_array, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Class probabilities of each labelled node from all other labels.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        Symmetric and nonnegative.
    codes : ndarray of int of shape (n,)
        Class codes, -1 where unknown.

    Returns
    -------
    probabilities : ndarray of shape (n_labels, n_classes)
        With class mass normalisation, without the label itself. Rows sum to 1.
    known : ndarray of bool of shape (n_labels,)
        Whether other labels reach the node, and one of them has its class.
    """
    labels = np.flatnonzero(codes >= 0)
    m, known = len(labels), codes >= 0
    indicators = np.eye(int(codes.max()) + 1)[codes[labels]]
    counts = indicators.sum(axis=0)
    sums = degrees(weights) - weights.diagonal()
    rows = weights[labels]
    schur, sizes = np.zeros((m, m)), np.zeros(m)
    for a, b in blocks(m, LABELS_PER_BLOCK):
        start = np.zeros((len(codes), b - a))
        start[labels[a:b], np.arange(b - a)] = 1.0
        functions = harmonic(weights, start, known)[0]
        # Rows of L = D - W; loops are in neither.
        inside = (sums + weights.diagonal())[labels, None] * functions[labels]
        schur[:, a:b] = inside - rows @ functions
        sizes[a:b] = functions.sum(axis=0)
    conductance = np.diagonal(schur).copy()
    reached = conductance > MIN_CONDUCTANCE * np.maximum(sums[labels], np.finfo(np.float64).tiny)
    np.fill_diagonal(schur, 0.0)
    values = np.clip(-schur @ indicators, 0.0, None)
    values[reached] /= values[reached].sum(axis=1, keepdims=True)
    # Class masses without the label.
    mass = sizes @ indicators + sizes[:, None] * (values - indicators)
    others = counts - indicators
    scaled = np.divide(values * (others + 1.0), mass, out=np.zeros_like(values), where=others > 0)
    totals = scaled.sum(axis=1, keepdims=True)
    probabilities = np.divide(scaled, totals, out=indicators.copy(), where=totals > 0)
    return probabilities, reached & (others[indicators > 0] > 0)
