"""Self-smoothing: dense matrices compared with matrix powers, sweeps over t, and large data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.contenders import Contender

GIGABYTE = 1e9
N_STEPS = 500
SWEEP = np.arange(10, 501, 10)
# A matrix power with the average number of products over the sweep.
SINGLE_T = 400
N_NEIGHBORS = 50
N_GRAPH_NEIGHBORS = 30
N_SPARSE_STEPS = 100
# Kernel widths: the default, where all eigenvalues are close to 1, and one where few are.
NARROW_BANDWIDTH, WIDE_BANDWIDTH = 0.1, 1.0
POWER = "numpy matrix_power"
SINGLE_POWER = f"{POWER}, 1 of 50 t"

SMOOTHING = [
    Case("dense, slow spectrum", "dense_narrow", 5_000, 16, None, (POWER,), 0.7, points="blobs"),
    Case("dense, fast spectrum", "dense_wide", 5_000, 16, None, (POWER,), 1 / 4, points="blobs"),
    # 20 times faster than 50 matrix powers.
    *(
        Case(
            f"sweep of 50 t, {speed} spectrum",
            f"sweep_{width}",
            5_000,
            16,
            None,
            (SINGLE_POWER,),
            ratio_to=(SINGLE_POWER, 50 / 20),
            points="blobs",
            once=True,
        )
        for speed, width in (("slow", "narrow"), ("fast", "wide"))
    ),
    *(
        Case(
            f"neighbours of 100,000, {points}",
            "sparse",
            100_000,
            d,
            None,
            (),
            max_seconds=300.0,
            max_bytes=4 * GIGABYTE,
            recall=0.99,
            once=True,
            points=points,
        )
        for points, d in (("blobs", 16), ("roll", 3))
    ),
    *(
        Case(
            f"neighbours of {name}",
            "sparse",
            n,
            3,
            None,
            (),
            max_seconds=300.0,
            max_bytes=16 * GIGABYTE,
            recall=0.99,
            once=True,
            points="roll",
        )
        for name, n in (("500,000", 500_000), ("a million", 1_000_000))
    ),
]


# Facts about results


def matrix_facts(smoothed: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Size, and a sum that shows whether two matrices are equal."""
    weights = np.cos(np.arange(len(smoothed)))  # so that the sum depends on the order of rows
    return {
        "output_bytes": smoothed.nbytes,
        "weight": float(weights @ smoothed @ weights + smoothed.sum()),
    }


def swept_facts(similarities: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Sum of the similarities at one t."""
    return {"weight": float(similarities.sum())}


def neighbor_facts(result: tuple[np.ndarray, Any], X: np.ndarray) -> dict[str, Any]:
    """Recall on a sample, against exact rows computed step by step with scipy."""
    neighbors, affinity = result
    n = len(neighbors)
    sample = np.random.default_rng(5).choice(n, max(8, min(32, 3_200_000 // n)), replace=False)
    steps = (affinity / affinity.sum(axis=1)[:, None]).tocsr().T.tocsr()
    rows = affinity[sample].toarray().T
    for _ in range(N_SPARSE_STEPS):
        rows = steps @ rows
    rows[sample, np.arange(len(sample))] = -np.inf
    kth_similarity = np.partition(rows, n - N_NEIGHBORS, axis=0)[n - N_NEIGHBORS]
    similarities = np.take_along_axis(rows, neighbors[sample].T, axis=0)
    # Compared by similarity, so that the choice among ties is not an error.
    return {
        "recall": float((similarities >= kth_similarity * (1 - 1e-9)).mean()),
        "output_bytes": neighbors.nbytes,
    }


# vicinal and numpy


def _kernel(bandwidth: float) -> Callable[[np.ndarray], np.ndarray]:
    def prepare(X: np.ndarray) -> np.ndarray:
        from scipy.spatial.distance import cdist

        from vicinal.similarity import smoothing_kernel

        return smoothing_kernel(cdist(X, X), bandwidth)

    return prepare


def _smooth(W: np.ndarray) -> np.ndarray:
    from vicinal import self_smooth

    return self_smooth(W, N_STEPS, normalize=False)


def _power(W: np.ndarray, t: int = N_STEPS) -> np.ndarray:
    return W @ np.linalg.matrix_power(W / W.sum(axis=1)[:, None], t)


def _sweep(W: np.ndarray) -> np.ndarray:
    from vicinal import SelfSmoothing

    model = SelfSmoothing(0, metric="similarity").fit(W)
    by_t = {t: similarities for t, (similarities, _) in model.sweep_neighbors(SWEEP, N_NEIGHBORS)}
    return by_t[SINGLE_T]


def _power_neighbors(W: np.ndarray) -> np.ndarray:
    smoothed = _power(W, SINGLE_T)
    ranked = smoothed / np.diagonal(smoothed)[:, None]
    np.fill_diagonal(ranked, -np.inf)
    largest = np.argpartition(-ranked, N_NEIGHBORS, axis=1)[:, :N_NEIGHBORS]
    return np.minimum(np.take_along_axis(ranked, largest, axis=1), 1.0)


def _neighbors(X: np.ndarray) -> tuple[np.ndarray, Any]:
    from vicinal import SelfSmoothing

    model = SelfSmoothing(N_SPARSE_STEPS, n_neighbors=N_GRAPH_NEIGHBORS, method="sparse").fit(X)
    return model.kneighbors(n_neighbors=N_NEIGHBORS)[1], model.affinity_


CONTENDERS: dict[str, dict[str, Contender]] = {
    **{
        f"dense_{name}": {
            "vicinal": Contender("vicinal", _smooth, matrix_facts, prepare=_kernel(k)),
            POWER: Contender("numpy", _power, matrix_facts, prepare=_kernel(k)),
        }
        for name, k in (("narrow", NARROW_BANDWIDTH), ("wide", WIDE_BANDWIDTH))
    },
    **{
        f"sweep_{name}": {
            "vicinal": Contender("vicinal", _sweep, swept_facts, prepare=_kernel(k)),
            SINGLE_POWER: Contender("numpy", _power_neighbors, swept_facts, prepare=_kernel(k)),
        }
        for name, k in (("narrow", NARROW_BANDWIDTH), ("wide", WIDE_BANDWIDTH))
    },
    "sparse": {"vicinal": Contender("vicinal", _neighbors, neighbor_facts)},
}
