"""Pieces of a graph of affinities: where its spectrum falls apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from vicinal.operators.laplacians import degrees

# Entries of D^-1/2 W D^-1/2 that rounding hides.
NEGLIGIBLE = 1e-15
# Residual with which the known vector of a piece is an eigenvector of the whole.
TOLERANCE = 1e-10


class AffinityStructure(NamedTuple):
    """Degree and component of each node of an affinity."""

    degrees: np.ndarray
    components: np.ndarray


def affinity_structure(weights: sparse.csr_array) -> AffinityStructure:
    """Degrees and `affinity_components` of a symmetric affinity, each computed once."""
    sums = degrees(weights)
    return AffinityStructure(sums, affinity_components(weights, sums))


def affinity_components(weights: sparse.csr_array, sums: np.ndarray) -> np.ndarray:
    """Component of each node, where edges too weak to be felt do not connect.

    What is left out as negligible beside the degrees of both ends may still be all that one end has: an
    outlier hardly matters to its neighbours, but they matter to it. A piece is therefore a
    component only if the roots of its degrees are an eigenvector, of value 1, of the whole matrix;
    a piece of which they are not gets its edges back.
    """
    rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    roots = np.sqrt(sums)
    edges = weights.data > 0
    felt = weights.data > NEGLIGIBLE * roots[rows] * roots[weights.indices]
    while True:
        labels = _labels(rows[felt], weights.indices[felt], weights.shape)
        ends = labels[rows], labels[weights.indices]
        cut = edges & (ends[0] != ends[1])
        wrong = _residuals(rows[cut], weights.indices[cut], weights.data[cut], sums, labels)
        wrong = wrong > TOLERANCE
        if not wrong.any():
            return labels
        felt |= cut & (wrong[ends[0]] | wrong[ends[1]])


def _labels(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    graph = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    return connected_components(graph, directed=False)[1]


def _residuals(
    rows: np.ndarray, columns: np.ndarray, cut: np.ndarray, sums: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """||S v - v|| of each piece, v the roots of its degrees at length 1, from the weights that are cut.

    At a node inside the piece what leaves is missing, at one outside what arrives is too much: both are
    the weight between a node and a piece, over the root of the node's degree.
    """
    n_pieces = int(labels.max()) + 1
    volumes = np.bincount(labels, sums)
    leaving = sparse.coo_array((cut, (rows, labels[rows])), shape=(len(sums), n_pieces))
    arriving = sparse.coo_array((cut, (columns, labels[rows])), shape=(len(sums), n_pieces))
    squares = np.zeros(n_pieces)
    for flow in (leaving, arriving):
        total = flow.tocsr().tocoo()
        # Quotients first: squares of small weights would vanish.
        shares = (total.data / sums[total.row]) * (total.data / volumes[total.col])
        squares += np.bincount(total.col, shares, minlength=n_pieces)
    return np.sqrt(squares)
