"""What stands in for a step that failed, so that the steps after it and the report can go on."""

from __future__ import annotations

import numpy as np

from vicinal.report._preprocessing import CleanTable
from vicinal.report._shared_inputs import NEIGHBORS, SharedInputs
from vicinal.report._steps.clusters import Clusters, cluster_sizes, shared_rows
from vicinal.report._steps.exemplars import Exemplars
from vicinal.report._steps.graph_comparison import GraphComparison
from vicinal.report._steps.maps import ABOUT, Maps, principal_plane
from vicinal.report._steps.n_clusters import ClusterCount
from vicinal.report._steps.neighborhoods import Neighborhoods
from vicinal.report._steps.smoothing import Smoothing


def no_neighborhoods(scene: SharedInputs) -> Neighborhoods:
    """Nothing known of neighbours."""
    return Neighborhoods(
        dimension=float("nan"),
        dimension_curve=np.empty((0, 2)),
        dimension_two_nearest=float("nan"),
        occurrences=np.zeros(scene.n, dtype=np.int64),
        skewness=0.0,
        n_orphans=0,
        context=min(NEIGHBORS, scene.n - 1),
        hubs=np.empty(0, dtype=np.int64),
        duplicate_of=np.full(scene.n, -1),
        n_duplicates=0,
    )


def no_count(wanted: int | str) -> ClusterCount:
    """The number that was asked for, or one cluster."""
    number = wanted if isinstance(wanted, int) else 1
    why = "the number of clusters could not be determined"
    return ClusterCount(number, why, np.empty(0), np.empty(0), np.empty((0, 2)), 0)


def no_clusters(scene: SharedInputs, data: CleanTable) -> Clusters:
    """All rows in one cluster, none of them noise."""
    labels, score = np.zeros(scene.n, dtype=np.int64), np.zeros(scene.n)
    return Clusters(
        labels=labels,
        tree_labels=labels,
        sought=1,
        noise_score=score,
        noise_threshold=1.0,
        noise_doubt=False,
        adjusted_rand=0.0,
        mutual_information=0.0,
        same_share=0.0,
        shared=shared_rows(labels, labels),
        sizes=cluster_sizes(labels, labels, score, data),
    )


def no_comparison() -> GraphComparison:
    """No graph."""
    return GraphComparison([], [], 0)


def only_principal(scene: SharedInputs) -> Maps:
    """The one map that needs no graph."""
    return Maps({"principal": principal_plane(scene.points)}, {"principal": ABOUT["principal"]})


def no_smoothing(scene: SharedInputs) -> Smoothing:
    """Every row nearest to itself."""
    rows = np.arange(scene.n)
    unknown = float("nan")
    return Smoothing(
        t=unknown,
        t_curve=np.empty((0, 2)),
        rows=rows,
        before=rows[:, None],
        after=rows[:, None],
        before_distances=np.zeros((scene.n, 1)),
        after_similarities=np.ones((scene.n, 1)),
        stand_in=rows,
        shown=rows[:2],
        matrix_before=np.eye(2),
        matrix_after=np.eye(2),
        same_before=unknown,
        same_after=unknown,
    )


def no_exemplars() -> Exemplars:
    """No row is listed."""
    return Exemplars([], [])
