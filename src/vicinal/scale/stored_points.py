"""`StoredPoints`: the points of a dask array, sorted into cells on a store."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from vicinal._core.array_checks import check_extent, not_real
from vicinal._core.chunked import ChunkedRows
from vicinal._core.parallel import RUN
from vicinal._core.rescale import safe_factor
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors.metric import Metric, as_metric
from vicinal.scale._cells import (
    MAX_SAMPLE_BYTES,
    SAMPLES_PER_CELL,
    CellIndex,
    SplitTree,
    build_tree,
    column_range,
)
from vicinal.scale._engine import Engine, current_engine, group_items, require_shared_store
from vicinal.scale._layout import Cells, cell_name, load_tree, save_parts
from vicinal.scale._scan import (
    Scan,
    as_points,
    check_all_finite,
    check_no_zero_rows,
    combine,
    scan_block,
)
from vicinal.scale.store import Store

# Version of the files; those of other versions are not used. Pickled models refer to files: raise
# `_core.pickles.LAYOUT` with it.
FORMAT = 2
# Points per cell, and bytes of its coordinates.
CELL_SIZE, MAX_CELL_BYTES = 40_000, 2**26
# Rows that are read at a time, if chunks are smaller: at most this many bytes, and fewer if there would not
# be enough blocks to keep some workers equally busy.
MIN_BLOCK_BYTES, MAX_BLOCK_BYTES, N_BLOCKS = 2**20, 2**24, 16


class StoredPoints(ChunkedRows):
    """Points in cells on a store, made from a dask array by `store_points`.

    Attributes
    ----------
    array : dask.array.Array
        The points, as given.
    cells : Cells
        The same points in cells.
    """

    def __init__(self, array: Any, cells: Cells) -> None:
        super().__init__(array)
        self.cells = cells


def extent_of(points: StoredPoints) -> np.ndarray:
    """Smallest and largest value of each column, (2, D), in the unit of the input."""
    index = points.cells.index
    full = index.sizes > 0
    return (
        np.stack([index.low[full].min(axis=0), index.high[full].max(axis=0)]) / points.cells.factor
    )


def store_points(X: Any, metric: Any = "euclidean") -> StoredPoints:
    """Sort the rows of a dask array into cells; what the current store has already is reused.

    Parameters
    ----------
    X : dask array or ChunkedRows
        Points. Stored points of the same metric are returned unchanged.
    metric : str
        "euclidean", "manhattan" or "cosine".
    """
    measure = _check_metric(metric)
    if isinstance(X, StoredPoints) and X.cells.metric == measure.name:
        return X
    array = X.array if isinstance(X, ChunkedRows) else X
    check_array(array)
    blocks = array.rechunk({0: block_sizes(array), 1: -1})
    engine = current_engine()
    root = RUN.get().store
    if root is None:
        require_shared_store(engine)
        root = Store.temporary()
    cell_size = RUN.get().cell_size or _default_cell_size(array.shape[1])
    cell_size = min(cell_size, RUN.get().max_cell_size or cell_size)
    n_cells = max(1, -(-array.shape[0] // cell_size))
    starts = starts_of(blocks.chunks[0])
    scan = _scan(blocks, starts, n_cells, engine)
    check_all_finite(scan, starts_of(array.chunks[0]))
    extent = np.stack([scan.low, scan.high])
    if measure.is_cosine:
        check_no_zero_rows(scan)
        factor = 1.0
    else:
        check_extent(extent, "X")
        factor = safe_factor(extent)
    manifest = {
        "format": FORMAT,
        "shape": list(array.shape),
        "dtype": str(blocks.dtype),
        "digest": f"{scan.digest:016x}",
        "metric": measure.name,
        "n_cells": n_cells,
        "blocks": hashlib.sha256(starts.tobytes()).hexdigest()[:16],
        "seed": 0,
    }
    key = hashlib.sha256(json.dumps(manifest).encode()).hexdigest()[:16]
    cells = Cells(root.folder(manifest, key), array.shape[0], measure.name, factor)
    if not _is_filled(cells.store):
        _fill(cells, blocks, starts, scan, n_cells, engine)
    return StoredPoints(array, cells)


def _is_filled(store: Store) -> bool:
    """Whether the cells are finished, and none of their files has been damaged since."""
    if not store.is_whole("ready"):
        return False
    # Remote storage verifies its files itself, and each request is slow.
    if store.local_folder is None:
        return True
    parts = (
        f"{kind.__name__}-{field}" for kind in (SplitTree, CellIndex) for field in kind._fields
    )
    return store.is_whole("offsets", *parts) and all(
        store.is_whole(*_cell_names(cell)) for cell in range(len(store.load("CellIndex-sizes")))
    )


def _fill(
    cells: Cells, blocks: Any, starts: np.ndarray, scan: Scan, n_cells: int, engine: Engine
) -> None:
    store = cells.store
    sample = cells.prepare(scan.sample, "X")
    tree = build_tree(sample.astype(np.float64), scan.rows, n_cells)
    save_parts(store, tree)
    n_blocks = len(starts) - 1
    split = [(cells, i, int(starts[i])) for i in range(n_blocks)]
    engine.run_on_blocks(_split_block, blocks, split, "sorting rows into cells")
    store.save("offsets", [store.load(_run_name(i, "offsets")) for i in range(n_blocks)])
    paths = tree.paths()
    groups = group_items(np.ones(tree.n_cells, np.int64), engine.n_workers)
    engine.run(_collect_cells, [(store, group, paths) for group in groups], "collecting cells")
    save_parts(store, index_of(store, paths))
    store.save("ready", np.ones(1))
    for i in range(n_blocks):
        store.remove(*_run_names(i))


def _split_block(block: Any, cells: Cells, i: int, first: int) -> None:
    """Task: sort the rows of a block by cell."""
    store, names = cells.store, _run_names(i)
    if store.is_whole(*names):
        return
    tree = load_tree(store)
    points = cells.prepare(as_points(block), "X")
    cell_of = tree.cells_of(points, first)
    # Stable, so that rows ascend within a cell; small integers are sorted in linear time.
    order = np.argsort(cell_of.astype(np.min_scalar_type(tree.n_cells)), kind="stable")
    counts = np.bincount(cell_of, minlength=tree.n_cells)
    arrays = points[order], first + order, np.concatenate([[0], np.cumsum(counts)])
    for name, values in zip(names, arrays, strict=True):
        store.save(name, values)


def _collect_cells(store: Store, cells: np.ndarray, paths: np.ndarray) -> None:
    """Task: join the parts of each cell in the order of their rows, and measure its extent."""
    tree, offsets = load_tree(store), store.load("offsets")
    for cell in cells.tolist():
        if store.is_whole(*_cell_names(cell)):
            continue
        spans = list(enumerate(offsets[:, cell : cell + 2].tolist()))
        points, rows = (
            np.concatenate([store.load(_run_name(i, what), *span) for i, span in spans])
            for what in ("points", "rows")
        )
        write_cell(store, tree, cell, paths[cell], points, rows)


def write_cell(
    store: Store,
    tree: SplitTree,
    cell: int,
    path: np.ndarray,
    points: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Write the points and rows of a cell, and its extent along the axes and the planes above it."""
    coordinates = tree.coordinates(points, path[path >= 0])
    extent = np.concatenate([column_range(points), column_range(coordinates)], axis=1)
    for name, values in zip(_cell_names(cell), (points, rows, extent), strict=True):
        store.save(name, values)


def _cell_names(cell: int) -> list[str]:
    return [cell_name(cell, what) for what in ("points", "rows", "extent")]


def index_of(store: Store, paths: np.ndarray) -> CellIndex:
    """Join the extents of all cells."""
    n_cells, depth = paths.shape
    rows = [store.load(cell_name(c, "rows")) for c in range(n_cells)]
    extents = [store.load(cell_name(c, "extent")) for c in range(n_cells)]
    n_features = extents[0].shape[1] - np.count_nonzero(paths[0] >= 0)
    intervals = np.zeros((n_cells, depth, 2))
    for c, extent in enumerate(extents):
        intervals[c, : extent.shape[1] - n_features] = extent[:, n_features:].T
    no_row = np.iinfo(np.int64).max
    return CellIndex(
        np.array([len(r) for r in rows]),
        np.array([r[0] if len(r) else no_row for r in rows]),
        np.array([extent[0, :n_features] for extent in extents]),
        np.array([extent[1, :n_features] for extent in extents]),
        paths,
        intervals,
    )


def _scan(blocks: Any, starts: np.ndarray, n_cells: int, engine: Engine) -> Scan:
    n, d = blocks.shape
    n_samples = min(SAMPLES_PER_CELL * n_cells, MAX_SAMPLE_BYTES // (8 * d))
    stride = n if n_cells == 1 else max(1, n // n_samples)
    scans = engine.run_on_blocks(
        scan_block, blocks, [(int(start), stride) for start in starts[:-1]], "reading X"
    )
    return combine(scans)


def _check_metric(metric: Any) -> Metric:
    measure = as_metric(metric)
    if not measure.is_compiled:
        raise InvalidValueError(
            f"metric={metric!r}, but dask arrays need 'euclidean', 'manhattan' or 'cosine'; pass "
            "X.compute() if it fits into memory."
        )
    return measure


def check_array(X: Any) -> None:
    """Reject dask arrays that are not a table of points with known sizes."""
    if X.ndim != 2:
        raise InvalidValueError(
            f"X has {X.ndim} dimension(s), but a table of points (n_points, n_features) is needed."
        )
    if any(np.isnan(size) for size in X.shape):
        raise InvalidValueError(
            "X has chunks of unknown sizes; call X.compute_chunk_sizes() first, or use "
            "to_dask_array(lengths=True) if X comes from a DataFrame."
        )
    if X.shape[0] < 1 or X.shape[1] < 1:
        raise InvalidValueError(
            f"X has shape {X.shape}, but at least 1 point(s) and 1 feature are needed."
        )
    if X.dtype.kind not in "buif":
        raise not_real("X", X.dtype)


def block_sizes(X: Any) -> tuple[int, ...]:
    """Chunks of rows, small ones joined, so that the number of tasks does not depend on tiny chunks."""
    row_bytes = X.shape[1] * max(4, X.dtype.itemsize)
    block_bytes = min(MAX_BLOCK_BYTES, max(MIN_BLOCK_BYTES, -(-X.shape[0] * row_bytes // N_BLOCKS)))
    sizes: list[int] = []
    for size in X.chunks[0]:
        if sizes and (sizes[-1] + size) * row_bytes <= block_bytes:
            sizes[-1] += size
        elif size:
            sizes.append(size)
    return tuple(sizes)


def _default_cell_size(n_features: int) -> int:
    return max(1, min(CELL_SIZE, MAX_CELL_BYTES // (8 * n_features)))


def starts_of(sizes: tuple[int, ...]) -> np.ndarray:
    """First row of each chunk, and the number of rows."""
    return np.concatenate([[0], np.cumsum(sizes)])


def _run_name(block: int, what: str) -> str:
    return f"run-{block:06d}-{what}"


def _run_names(block: int) -> list[str]:
    return [_run_name(block, what) for what in ("points", "rows", "offsets")]
