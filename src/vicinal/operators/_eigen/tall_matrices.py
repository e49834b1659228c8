"""Products of tall matrices by blocks of rows, so that the number of threads changes no bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vicinal._core.parallel import blocks, map_threads

ROWS_PER_TASK = 1 << 13


def overlap(a: np.ndarray, b: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """The transpose of ``a`` times ``b``."""
    parts = by_rows(lambda start, stop: a[start:stop].T @ b[start:stop], len(a), n_jobs)
    # Summed in the order of the rows, whichever thread was first.
    return np.sum(parts, axis=0)


def mixed(block: np.ndarray, mix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """``block`` times the small matrix ``mix``."""
    out = np.empty((len(block), mix.shape[1]))
    by_rows(
        lambda start, stop: np.matmul(block[start:stop], mix, out=out[start:stop]), len(out), n_jobs
    )
    return out


def by_rows(task: Callable[[int, int], Any], n_rows: int, n_jobs: int | None) -> list[Any]:
    """Results of ``task`` on ranges of rows, in the order of the rows."""
    return map_threads(lambda rows: task(*rows), blocks(n_rows, ROWS_PER_TASK), n_jobs)
