"""Equal rows of a dask array."""

from __future__ import annotations

from typing import Any

import numpy as np

from vicinal._core.chunked import ChunkedRows
from vicinal.graphs._build.duplicates import Duplicates, group_by_hash, hash_rows
from vicinal.scale._engine import current_engine
from vicinal.scale._scan import as_points


def find_duplicates(X: ChunkedRows) -> Duplicates:
    """All groups of equal rows, in the order of their first rows.

    Rows are compared by hashes of 128 bits, which fit into memory.
    """
    array = X.array.rechunk({1: -1})
    engine = current_engine()
    hashes = engine.run_on_blocks(_hash_rows, array, [()] * array.numblocks[0], "duplicates")
    return group_by_hash(np.concatenate(hashes))


def _hash_rows(block: Any) -> np.ndarray:
    """Task: hashes of the rows of a block, the same for equal values."""
    return hash_rows(as_points(block))
