"""Scores of clusters, rankings, distances, segments and graphs; most are known exactly."""

import numpy as np

import vicinal
from vicinal import graphs, metrics

from .. import inputs
from ..call import call
from ..expect import error, isa, near
from ..inputs import GROUPS, Input, dense

TRUE, FOUND = [0, 0, 1, 1], [1, 1, 0, 2]
ORDER = Input("order", lambda: np.argsort(inputs.distances.make(), axis=1, kind="stable"))
PLANE = Input("plane", lambda: dense.make()[:, :2])
GEODESICS = Input("paths", lambda: inputs.distances.make() + np.eye(90))
MODEL = vicinal.SpectralClustering(random_state=0)
LEFT = Input("left and right", lambda: np.repeat([[0, 0, 1]], 4, axis=0))
TOP = Input("top and bottom", lambda: np.repeat([[0], [0], [1], [1]], 3, axis=1))


def trees(X):
    return graphs.disjoint_mst(X, 2)


CALLS = [
    *(
        call(score, TRUE, FOUND, expect=near(value))
        for score, value in [
            (metrics.clustering_accuracy, 0.75),
            (metrics.rand_index, 5 / 6),
            (metrics.normalized_mutual_info, 0.8),
        ]
    ),
    *(
        call(score, GROUPS[:4], [0, 1], expect=error("labels_pred"))
        for score in (metrics.clustering_accuracy, metrics.rand_index)
    ),
    call(metrics.bulls_eye, ORDER, inputs.groups, expect=near(1.0)),
    call(metrics.mean_average_precision, ORDER, inputs.groups, expect=near(1.0)),
    call(metrics.retrieval_rate, ORDER, inputs.groups, window=30, expect=near(1.0)),
    call(metrics.retrieval_rate, ORDER, inputs.groups, window=0, expect=error("window=0")),
    call(metrics.geodesic_error, GEODESICS, inputs.distances, expect=near(1 / 90)),
    call(metrics.residual_variance, inputs.distances, PLANE, expect=near(0.013245596732283538)),
    call(metrics.residual_variance, inputs.distances, dense, expect=near(0.0)),
    call(metrics.global_consistency_error, LEFT, TOP, expect=near(4 / 9)),
    call(metrics.local_consistency_error, LEFT, TOP, expect=near(7 / 18)),
    call(metrics.local_consistency_error, LEFT, LEFT, expect=near(0.0)),
    call(metrics.graph_score, graphs.knn, dense, expect=isa(float)),
    call(metrics.graph_score, trees, dense, n_replicates=2, expect=isa(float)),
    call(
        metrics.stability,
        MODEL,
        dense,
        "n_clusters",
        [2, 3],
        n_subsets=3,
        expect=isa(metrics.Stability),
    ),
]
