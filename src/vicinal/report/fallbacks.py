"""Neutral results for failed steps, so that later steps and the report can continue."""

from __future__ import annotations

import numpy as np

from vicinal.report._preprocessing import CleanTable
from vicinal.report._shared_inputs import N_NEIGHBORS, SharedInputs
from vicinal.report._steps.clusters import (
    PERCEPTUAL,
    SPECTRAL,
    Clusters,
    cluster_sizes,
    contingency_table,
)
from vicinal.report._steps.exemplars import Exemplars
from vicinal.report._steps.explanations import Explanations
from vicinal.report._steps.layers import Layers
from vicinal.report._steps.maps import ABOUT, Maps, principal_plane
from vicinal.report._steps.n_clusters import ClusterCount
from vicinal.report._steps.neighborhoods import Neighborhoods


def no_neighborhoods(inputs: SharedInputs) -> Neighborhoods:
    """No neighbour statistics; every row is its own nearest row."""
    return Neighborhoods(
        dimension=float("nan"),
        dimension_curve=np.empty((0, 2)),
        dimension_two_nearest=float("nan"),
        nearest=np.arange(inputs.n)[:, None],
        occurrences=np.zeros(inputs.n, dtype=np.int64),
        skewness=0.0,
        n_orphans=0,
        context=min(N_NEIGHBORS, inputs.n - 1),
        hubs=np.empty(0, dtype=np.int64),
        duplicate_of=np.full(inputs.n, -1),
        n_duplicates=0,
    )


def no_count(requested: int | str) -> ClusterCount:
    """The requested number of clusters, or one."""
    number = requested if isinstance(requested, int) else 1
    why = "the number of clusters could not be determined"
    return ClusterCount(number, why, np.empty(0), np.empty((0, 2)), 0)


def no_clusters(inputs: SharedInputs, data: CleanTable) -> Clusters:
    """One cluster without noise."""
    labels, score = np.zeros(inputs.n, dtype=np.int64), np.zeros(inputs.n)
    return Clusters(
        labels=labels,
        method=PERCEPTUAL,
        other_labels=labels,
        other_method=SPECTRAL,
        n_requested=1,
        noise_score=score,
        noise_threshold=1.0,
        noise_doubt=False,
        probabilities=np.tile([1.0, 0.0], (inputs.n, 1)),
        context_scale=None,
        noise_walk=None,
        adjusted_rand=0.0,
        mutual_information=0.0,
        same_fraction=0.0,
        contingency=contingency_table(labels, labels),
        sizes=cluster_sizes(labels, labels, score, data),
    )


def only_reported(clusters: Clusters) -> Layers:
    """The reported clusters as the only layer."""
    labels = clusters.labels
    return Layers(np.array([int(labels.max()) + 1]), labels[None], 0)


def only_principal(inputs: SharedInputs) -> Maps:
    """The map that needs no graph."""
    return Maps(
        {"principal": principal_plane(inputs.points)}, {"principal": ABOUT["principal"]}, []
    )


def no_exemplars() -> Exemplars:
    """No rows are listed."""
    return Exemplars([], [])


def no_explanations() -> Explanations:
    """Nothing is explained."""
    return Explanations([], [])
