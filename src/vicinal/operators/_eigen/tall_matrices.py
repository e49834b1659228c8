"""Products of tall matrices by blocks of rows, bit-identical for any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vicinal._core.parallel import blocks, map_threads

ROWS_PER_TASK = 1 << 13


def overlap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of the transpose of ``a`` with ``b``."""
    parts = by_rows(lambda start, stop: a[start:stop].T @ b[start:stop], len(a))
    # Summed in the order of rows, not of threads.
    return np.sum(parts, axis=0)


def mixed(block: np.ndarray, mix: np.ndarray) -> np.ndarray:
    """Product of ``block`` with the small matrix ``mix``."""
    out = np.empty((len(block), mix.shape[1]))
    by_rows(lambda start, stop: np.matmul(block[start:stop], mix, out=out[start:stop]), len(out))
    return out


def replace_columns(block: np.ndarray, mix: np.ndarray) -> None:
    """Replace the first columns of ``block`` by its product with the small matrix ``mix``."""

    def replace(start: int, stop: int) -> None:
        block[start:stop, : mix.shape[1]] = block[start:stop] @ mix

    by_rows(replace, len(block))


def by_rows(task: Callable[[int, int], Any], n_rows: int) -> list[Any]:
    """Apply ``task`` to ranges of rows; results are in the order of rows."""
    return map_threads(lambda rows: task(*rows), blocks(n_rows, ROWS_PER_TASK))
