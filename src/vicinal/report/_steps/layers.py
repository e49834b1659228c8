"""The clusters at other numbers than the reported one: merged into fewer, and divided into more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal import Graph, SpectralClustering
from vicinal.report._shared_inputs import N_FINER, N_NEIGHBORS, SharedInputs
from vicinal.report._steps.clusters import SPECTRAL, Clusters, match_labels

# Spectral clustering solves for each number again; above this many rows, layers are only coarser.
MAX_SOLVED_ROWS = 5000


class Layers(NamedTuple):
    """Clusters of every row at several numbers of clusters.

    Attributes
    ----------
    numbers : ndarray of int (m,)
        Numbers of clusters, ascending.
    labels : ndarray of int (m, n)
        Clusters at each number; -1 is noise. Coarser layers merge the reported clusters, so a label keeps its
        meaning; finer ones are numbered to match.
    reported : int
        Position of the reported clusters.
    """

    numbers: np.ndarray
    labels: np.ndarray
    reported: int


def find_layers(inputs: SharedInputs, clusters: Clusters) -> Layers:
    """Merge the reported clusters into fewer, and find more with the reported method."""
    labels = clusters.labels
    coarser = _coarser(inputs, labels)
    finer = _finer(inputs, clusters)
    layers = [*reversed(coarser), labels, *finer]
    numbers = [len(np.unique(layer[layer >= 0])) for layer in layers]
    return Layers(np.array(numbers), np.stack(layers), len(coarser))


def merged_clusters(weights: sparse.csr_array, labels: np.ndarray) -> list[np.ndarray]:
    """Labels after merging the most strongly connected pair of clusters, again and again, down to two.

    The strength of a pair is the weight between the two, divided by the product of their total weights. The
    merged cluster keeps the smaller label; noise (-1) stays noise.
    """
    n_clusters = int(labels.max()) + 1
    rows = np.repeat(np.arange(len(labels)), np.diff(weights.indptr))
    known = (labels[rows] >= 0) & (labels[weights.indices] >= 0)
    between = np.zeros((n_clusters, n_clusters))
    np.add.at(between, (labels[rows[known]], labels[weights.indices[known]]), weights.data[known])
    alive = [label for label in range(n_clusters) if (labels == label).any()]
    merged, layers = labels.copy(), []
    while len(alive) > 2:
        total = np.maximum(between[alive].sum(axis=1), np.finfo(float).tiny)
        strength = between[np.ix_(alive, alive)] / total[:, None] / total
        strength[np.tril_indices(len(alive))] = -1.0
        kept, dropped = (alive[i] for i in np.unravel_index(strength.argmax(), strength.shape))
        between[kept] += between[dropped]
        between[:, kept] += between[:, dropped]
        between[dropped] = between[:, dropped] = 0.0
        alive.remove(dropped)
        merged = np.where(merged == dropped, kept, merged)
        layers.append(merged)
    return layers


def _coarser(inputs: SharedInputs, labels: np.ndarray) -> list[np.ndarray]:
    if labels.max() < 2:
        return []
    k = min(N_NEIGHBORS, len(inputs.distinct) - 1)
    graph = Graph.from_kneighbors(*inputs.neighbors, k, n_jobs=inputs.n_jobs)
    distinct_labels = labels[inputs.duplicates.representative]
    layers = merged_clusters(graph.affinity("local"), distinct_labels)
    return [layer[inputs.duplicates.group] for layer in layers]


def _finer(inputs: SharedInputs, clusters: Clusters) -> list[np.ndarray]:
    labels = clusters.labels
    n_clusters = int(labels.max()) + 1
    solved_again = clusters.method == SPECTRAL
    if solved_again and inputs.n > MAX_SOLVED_ROWS:
        return []
    largest = inputs.n // 3 if solved_again else len(inputs.spectrum.pairs.values)
    layers, previous, n_previous = [], labels, n_clusters
    for number in range(n_clusters + 1, min(n_clusters + N_FINER, largest) + 1):
        if solved_again:
            model = SpectralClustering(number, random_state=inputs.seed, n_jobs=inputs.n_jobs)
            found = model.fit(inputs.trees).labels_
        else:
            found = inputs.spectrum.cluster(number, inputs.evidence).labels_
            found = found[inputs.duplicates.group]
        found = np.where(labels >= 0, match_labels(previous, found), -1)
        n_found = len(np.unique(found[found >= 0]))
        if n_found > n_previous:
            layers.append(found)
            previous, n_previous = found, n_found
    return layers
