"""A million points: cases and contenders. Each takes minutes, so they are not part of the other suites.

Clustering in noise, the report and self-smoothing of a million points are in `perception` and `smoothing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import perception, tasks
from benchmarks.cases import Case
from benchmarks.contenders import Contender
from benchmarks.data import N_CLASSES

N = 1_000_000
GIGABYTE = 1e9
BETA = 0.99999
METHODS = ("exact", "approximate")

LARGE = [
    Case(
        "stationary distribution of a million",
        "stationary",
        N,
        3,
        None,
        (),
        max_seconds=60.0,
        max_bytes=4 * GIGABYTE,
        points="half cylinders",
        once=True,
    ),
    *(
        Case(
            f"spectral clustering of a million, {method} neighbours",
            f"spectral_{method}",
            N,
            16,
            None,
            (),
            max_seconds=90.0,
            points="blobs",
            once=True,
            measure="normalised mutual information",
        )
        for method in METHODS
    ),
]


def distribution_facts(distribution: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Size, and a sum that shows whether two distributions are equal."""
    return {
        "output_bytes": distribution.nbytes,
        "weight": float(distribution @ np.cos(np.arange(len(distribution)))),
    }


def _digraph(X: np.ndarray) -> Any:
    from vicinal.graphs import contextual

    return contextual(X, perception.CLUSTER_K)


def _stationary(digraph: Any) -> np.ndarray:
    from vicinal.operators import stationary_distribution

    return stationary_distribution(digraph, BETA)


def _cluster(method: str) -> Callable[[np.ndarray], np.ndarray]:
    def run(X: np.ndarray) -> np.ndarray:
        from vicinal import SpectralClustering

        parameters = {"n_neighbors": tasks.K, "method": method}
        return SpectralClustering(
            N_CLASSES, graph="knn", graph_params=parameters, random_state=0
        ).fit_predict(X)

    return run


CONTENDERS: dict[str, dict[str, Contender]] = {
    "stationary": {
        "vicinal": Contender("vicinal", _stationary, distribution_facts, prepare=_digraph)
    },
    **{
        f"spectral_{method}": {
            "vicinal": Contender("vicinal", _cluster(method), tasks.cluster_facts)
        }
        for method in METHODS
    },
}
