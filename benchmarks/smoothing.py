"""Self-smoothing: full matrices beside matrix powers, sweeps over t, and neighbours of many points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.contenders import Contender

GIGABYTE = 1e9
STEPS = 500
SWEEP = np.arange(10, 501, 10)
# As many products as a matrix power of the sweep takes in the mean.
ONE_OF_SWEEP = 400
NEIGHBORS = 50
GRAPH_K = 30
SPARSE_STEPS = 100
# Widths of the kernel: the default, at which all eigenvalues are near 1, and one at which few are left.
NARROW, WIDE = 0.1, 1.0
POWER = "numpy matrix_power"
ONE_POWER = f"{POWER}, 1 of 50 t"

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
            (ONE_POWER,),
            ratio_to=(ONE_POWER, 50 / 20),
            points="blobs",
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
    Case(
        "neighbours of a million",
        "sparse",
        1_000_000,
        3,
        None,
        (),
        max_seconds=3600.0,
        max_bytes=16 * GIGABYTE,
        recall=0.99,
        once=True,
        points="roll",
    ),
]


# What was found


def matrix_facts(smoothed: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Size, and a sum that tells whether two matrices are the same."""
    weights = np.cos(np.arange(len(smoothed)))  # so that rows cannot be exchanged
    return {
        "output_bytes": smoothed.nbytes,
        "weight": float(weights @ smoothed @ weights + smoothed.sum()),
    }


def swept_facts(similarities: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """The sum of the similarities that were found at one t."""
    return {"weight": float(similarities.sum())}


def neighbor_facts(answer: tuple[np.ndarray, Any], X: np.ndarray) -> dict[str, Any]:
    """Recall against exact rows, which scipy computes step by step, on a sample."""
    found, affinity = answer
    n = len(found)
    sample = np.random.default_rng(5).choice(n, max(8, min(32, 3_200_000 // n)), replace=False)
    steps = (affinity / affinity.sum(axis=1)[:, None]).tocsr().T.tocsr()
    rows = affinity[sample].toarray().T
    for _ in range(SPARSE_STEPS):
        rows = steps @ rows
    rows[sample, np.arange(len(sample))] = -np.inf
    last = np.partition(rows, n - NEIGHBORS, axis=0)[n - NEIGHBORS]
    reached = np.take_along_axis(rows, found[sample].T, axis=0)
    # Compared by similarity, so that the choice among ties is not an error.
    return {"recall": float((reached >= last * (1 - 1e-9)).mean()), "output_bytes": found.nbytes}


# vicinal and numpy


def _kernel(k: float) -> Callable[[np.ndarray], np.ndarray]:
    def prepare(X: np.ndarray) -> np.ndarray:
        from scipy.spatial.distance import cdist

        from vicinal.similarity import smoothing_kernel

        return smoothing_kernel(cdist(X, X), k)

    return prepare


def _smooth(W: np.ndarray) -> np.ndarray:
    from vicinal import self_smooth

    return self_smooth(W, STEPS, normalize=False)


def _power(W: np.ndarray, t: int = STEPS) -> np.ndarray:
    return W @ np.linalg.matrix_power(W / W.sum(axis=1)[:, None], t)


def _sweep(W: np.ndarray) -> np.ndarray:
    from vicinal import SelfSmoothing

    model = SelfSmoothing(0, metric="similarity").fit(W)
    found = {t: similarities for t, (similarities, _) in model.sweep_neighbors(SWEEP, NEIGHBORS)}
    return found[ONE_OF_SWEEP]


def _power_neighbors(W: np.ndarray) -> np.ndarray:
    smoothed = _power(W, ONE_OF_SWEEP)
    ranked = smoothed / np.diagonal(smoothed)[:, None]
    np.fill_diagonal(ranked, -np.inf)
    largest = np.argpartition(-ranked, NEIGHBORS, axis=1)[:, :NEIGHBORS]
    return np.minimum(np.take_along_axis(ranked, largest, axis=1), 1.0)


def _neighbors(X: np.ndarray) -> tuple[np.ndarray, Any]:
    from vicinal import SelfSmoothing

    model = SelfSmoothing(SPARSE_STEPS, n_neighbors=GRAPH_K, method="sparse").fit(X)
    return model.kneighbors(n_neighbors=NEIGHBORS)[1], model.affinity_


CONTENDERS: dict[str, dict[str, Contender]] = {
    **{
        f"dense_{name}": {
            "vicinal": Contender("vicinal", _smooth, matrix_facts, prepare=_kernel(k)),
            POWER: Contender("numpy", _power, matrix_facts, prepare=_kernel(k)),
        }
        for name, k in (("narrow", NARROW), ("wide", WIDE))
    },
    **{
        f"sweep_{name}": {
            "vicinal": Contender("vicinal", _sweep, swept_facts, prepare=_kernel(k)),
            ONE_POWER: Contender("numpy", _power_neighbors, swept_facts, prepare=_kernel(k)),
        }
        for name, k in (("narrow", NARROW), ("wide", WIDE))
    },
    "sparse": {"vicinal": Contender("vicinal", _neighbors, neighbor_facts)},
}
