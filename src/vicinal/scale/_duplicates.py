"""Equal rows of a dask array."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from vicinal._core.chunked import ChunkedRows
from vicinal.graphs._build.duplicates import Duplicates
from vicinal.scale._engine import current_engine
from vicinal.scale._scan import as_points

# Bytes of the hash of a row: two of 10^12 different rows have the same one with a probability below 1e-14.
HASH_BYTES = 16


def find_duplicates(X: ChunkedRows) -> Duplicates:
    """All groups of equal rows, in the order of their first rows.

    Rows are compared by hashes of 128 bits, which fit into memory.
    """
    array = X.array.rechunk({1: -1})
    engine = current_engine(-1, 0)
    hashes = engine.run_on_blocks(_hash_rows, array, [()] * array.numblocks[0], "duplicates")
    values = np.concatenate(hashes).view(np.void(HASH_BYTES).dtype).ravel()
    _, first, group = np.unique(values, return_index=True, return_inverse=True)
    by_row = np.argsort(first)
    rank = np.empty_like(by_row)
    rank[by_row] = np.arange(len(by_row))
    return Duplicates(first[by_row], rank[group.ravel()])


def _hash_rows(block: Any) -> np.ndarray:
    """Task: hashes of the rows of a block, the same for equal values."""
    points = as_points(block) + 0  # negative zeros become positive
    out = np.empty((len(points), HASH_BYTES), np.uint8)
    for i, row in enumerate(points):
        digest = hashlib.blake2b(row.tobytes(), digest_size=HASH_BYTES).digest()
        out[i] = np.frombuffer(digest, np.uint8)
    return out
