"""Sparse codes of a dask array: one task per batch of rows, with the atoms of all of them in a file.

A batch consists of ranges of rows that are coded together in memory, so that chunks do not matter and codes
have the same bits.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from vicinal._core.memory import require_memory
from vicinal._core.parallel import one_blas_thread
from vicinal._core.rescale import max_magnitude
from vicinal._core.warn import LongWork
from vicinal.codes._directions import check_no_zeros, code_directions, code_unit, zero_rows
from vicinal.codes._sparse_codes import (
    ENTRIES_PER_BLOCK,
    CodeProblem,
    Codes,
    join_codes,
    max_length,
)
from vicinal.scale._engine import Engine, current_engine
from vicinal.scale._layout import Cells
from vicinal.scale._scan import as_points
from vicinal.scale._search import read_indices
from vicinal.scale.store import Store
from vicinal.scale.stored_points import StoredPoints, block_sizes, extent_of, starts_of

# Ranges of rows that a task codes one after the other.
SPANS_PER_TASK = 4
# Directions before they are joined, and products of a range of rows with all atoms.
BYTES_PER_VALUE, MIN_ROWS_PER_SPAN = 8.0, 16


class AtomFile(NamedTuple):
    """Dictionaries in a file: ``n_atoms`` atoms of each row."""

    store: Store
    n_atoms: int

    def rows(self, first: int, last: int) -> np.ndarray:
        """Atoms of a range of rows."""
        return np.array(self.store.load("atoms", first, last))


class NeighborAtoms(NamedTuple):
    """Dictionaries of the nearest points, in the neighbour lists of the cells."""

    cells: Cells
    length: int
    n_atoms: int

    def rows(self, first: int, last: int) -> np.ndarray:
        """Atoms of a range of rows."""
        found = read_indices(self.cells, self.length, self.n_atoms, first, last)
        return np.ascontiguousarray(found[:, 1:])


def chunked_codes(
    points: StoredPoints,
    atoms: AtomFile | NeighborAtoms | None,
    *,
    normalize: bool,
    penalty: float | None,
    equality: bool,
    signed: bool,
    long_work: LongWork | None = None,
) -> tuple[Codes, float]:
    """Codes of all rows in memory, and the unit of the points; ``atoms`` are all others by default."""
    engine, n = current_engine(), len(points)
    unit = code_unit(max_magnitude(extent_of(points)), normalize)
    directions = _store_directions(points, normalize, engine)
    lengths = max_length(directions.load("directions"))
    scaled = None if penalty is None else penalty * unit**2
    problem = CodeProblem(n, lengths, scaled, equality, signed)
    # What is computed again for the same atoms has the same name.
    key = hashlib.sha256(repr((problem, atoms)).encode()).hexdigest()[:16]
    store = directions.folder({"codes": problem._asdict()}, f"codes-{key}")
    spans = problem.spans(n if atoms is None else atoms.n_atoms)
    batches = [spans[i : i + SPANS_PER_TASK] for i in range(0, len(spans), SPANS_PER_TASK)]
    tasks = [(directions, store, problem, atoms, batch) for batch in batches]
    engine.run(_code_batch, tasks, "sparse codes", long_work)
    return join_codes([_load_batch(store, batch) for batch in batches]), unit


def _store_directions(points: StoredPoints, normalize: bool, engine: Engine) -> Store:
    """Write what codes are computed from to one file, and return its folder."""
    store = points.cells.store.folder({"normalize": normalize}, f"directions-{int(normalize)}")
    if store.is_whole("directions"):
        return store
    array = points.array
    blocks = array.rechunk({0: block_sizes(array), 1: -1})
    starts = starts_of(blocks.chunks[0]).tolist()
    magnitude = max_magnitude(extent_of(points))
    parts = [f"directions-{i:06d}" for i in range(len(starts) - 1)]
    tasks = [
        (store, part, first, normalize, magnitude)
        for part, first in zip(parts, starts[:-1], strict=True)
    ]
    zeros = engine.run_on_blocks(_write_directions, blocks, tasks, "directions")
    check_no_zeros(np.concatenate(zeros))
    store.join("directions", parts)
    store.remove(*parts)
    return store


def _write_directions(
    block: np.ndarray, store: Store, name: str, first: int, normalize: bool, magnitude: float
) -> np.ndarray:
    """Task: write the directions of the rows of a block; returns those that have none."""
    values = as_points(block).astype(np.float64, copy=False)
    zeros = zero_rows(values, normalize, magnitude)
    if not len(zeros) and not store.is_whole(name):
        store.save(name, code_directions(values, normalize, magnitude))
    return first + zeros


def _code_batch(
    directions: Store,
    store: Store,
    problem: CodeProblem,
    atoms: AtomFile | NeighborAtoms | None,
    spans: list[tuple[int, int]],
) -> None:
    """Task: write the codes of some ranges of rows, unless the store has them."""
    names = _batch_names(spans)
    if store.is_whole(*names):
        return
    n = problem.n_points
    require_memory(
        BYTES_PER_VALUE * max(ENTRIES_PER_BLOCK, MIN_ROWS_PER_SPAN * n),
        f"A batch of sparse codes over {n:,} points",
        "Use structure_aware_l1(X, n_atoms=...) with small dictionaries, or workers with more memory.",
    )
    points = _mapped(directions)
    with one_blas_thread():
        results = [
            problem.code(points, None if atoms is None else atoms.rows(*span), span)
            for span in spans
        ]
    counts, indices, values, *quality = map(np.concatenate, zip(*results, strict=True))
    arrays = np.array([counts, *quality]), indices, values
    for name, array in zip(names, arrays, strict=True):
        store.save(name, array)


def _load_batch(store: Store, spans: list[tuple[int, int]]) -> tuple[np.ndarray, ...]:
    by_row, indices, values = (store.load(name) for name in _batch_names(spans))
    counts, penalties, explained, gaps, inexact = by_row
    return (
        counts.astype(np.int64),
        indices,
        values,
        penalties,
        explained,
        gaps,
        inexact.astype(bool),
    )


def _batch_names(spans: list[tuple[int, int]]) -> list[str]:
    return [f"batch-{spans[0][0]:012d}-{what}" for what in ("rows", "indices", "values")]


def _mapped(directions: Store) -> np.ndarray:
    """All directions; writable, because kernels are compiled for such arrays, but never changed."""
    folder = directions.local_folder
    if folder is None:
        return np.array(directions.load("directions"))
    return np.asarray(np.load(folder / "directions.npy", mmap_mode="c"))
