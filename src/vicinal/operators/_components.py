"""Numerically connected components of an affinity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal.operators.laplacians import degrees

# Entries of D^-1/2 W D^-1/2 below this vanish in rounding.
NEGLIGIBLE = 1e-15
# Largest residual with which the trivial vector of a component is an eigenvector of the whole matrix.
MAX_RESIDUAL = 1e-10


class AffinityStructure(NamedTuple):
    """Degree and component of each node of an affinity."""

    degrees: np.ndarray
    components: np.ndarray


def affinity_structure(weights: sparse.csr_array) -> AffinityStructure:
    """Compute the degrees and the `affinity_components` of a symmetric affinity."""
    sums = degrees(weights)
    return AffinityStructure(sums, affinity_components(weights, sums))


def affinity_components(weights: sparse.csr_array, sums: np.ndarray) -> np.ndarray:
    """Component of each node, ignoring edges that are numerically negligible.

    An edge that is negligible relative to the degrees of both ends may still be the only one of an outlier. A
    set of nodes is therefore a component only if the square roots of its degrees are an eigenvector of the
    whole matrix with eigenvalue 1. Otherwise, its edges are restored.
    """
    from vicinal.operators._matmul_kernels import component_labels, mark_relevant

    arrays = weights.indptr, weights.indices, weights.data
    relevant = np.empty(len(weights.data), np.bool_)
    n_cut = mark_relevant(*arrays, np.sqrt(sums), NEGLIGIBLE, 0, len(sums), relevant)
    labels: np.ndarray = np.empty(len(sums), weights.indices.dtype)
    component_labels(weights.indptr, weights.indices, relevant, labels)
    if not n_cut:
        return labels
    rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    edges = weights.data > 0
    while True:
        cut = edges & ~relevant
        ends = labels[rows], labels[weights.indices]
        cut &= ends[0] != ends[1]
        residuals = _residuals(rows[cut], weights.indices[cut], weights.data[cut], sums, labels)
        invalid = residuals > MAX_RESIDUAL
        if not invalid.any():
            return labels
        relevant |= cut & (invalid[ends[0]] | invalid[ends[1]])
        component_labels(weights.indptr, weights.indices, relevant, labels)


def _residuals(
    rows: np.ndarray, columns: np.ndarray, cut: np.ndarray, sums: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Residual ||S v - v|| of each component, where v are the normalised square roots of its degrees.

    Only cut edges contribute: inside the component the weights that leave it are missing, and outside the
    weights that arrive are in excess. Both are divided by the square root of the node's degree.
    """
    n_components = int(labels.max()) + 1
    volumes = np.bincount(labels, sums)
    leaving = sparse.coo_array((cut, (rows, labels[rows])), shape=(len(sums), n_components))
    arriving = sparse.coo_array((cut, (columns, labels[rows])), shape=(len(sums), n_components))
    squares = np.zeros(n_components)
    for flow in (leaving, arriving):
        total = flow.tocsr().tocoo()
        # Divide first: squares of small weights would underflow.
        terms = (total.data / sums[total.row]) * (total.data / volumes[total.col])
        squares += np.bincount(total.col, terms, minlength=n_components)
    return np.sqrt(squares)
