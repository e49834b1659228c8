"""``vicinal fuse``: several tables or matrices of the same items as one similarity."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal._core.memory import require_memory
from vicinal._core.tables import RawTable
from vicinal.cli.column_options import KIND_OPTIONS
from vicinal.cli.columns import count_unlabelled, same_class
from vicinal.cli.options import (
    add_force,
    add_run_options,
    add_top,
    check_top,
    new_command,
    number_or_word,
    read_data,
    run_parameters,
    verbosity,
)
from vicinal.cli.output import TABLE_FORMATS, check_table_target, write_blocks
from vicinal.cli.smooth import LINES_PER_BLOCK, detect_metric, neighbor_columns
from vicinal.exceptions import InvalidValueError

EXAMPLES = """\
examples:
  vicinal fuse colour.csv shape.csv --id name -k 10 -o neighbours.csv
  vicinal fuse first.npy second.npy third.npy --how cross --json
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "fuse",
        run,
        "combine several tables or matrices of the same items",
        "Combine several descriptions of the same items into one similarity, smooth it, and write the\n"
        "nearest neighbours of each item. A source is a table of points, a matrix of distances or one of\n"
        "similarities. With --id, items are matched by name, and may be missing in some sources;\n"
        "otherwise all sources have the same rows in the same order.",
        EXAMPLES,
    )
    parser.add_argument(
        "sources", type=Path, nargs="+", metavar="DATA", help="two or more tables or matrices"
    )
    parser.add_argument("--key", help="array or table of files with several, as in smooth")
    parser.add_argument("--id", metavar="COLUMN", help="column with the names of the items")
    parser.add_argument("--label", metavar="COLUMN", help="column with known classes")
    parser.add_argument(
        "--standardize",
        action="store_true",
        help="take numbers in standard deviations, all with the same weight",
    )
    parser.add_argument("--as-is", action="store_true", help="take numbers as they are")
    parser.add_argument(
        "--how",
        choices=("before", "after", "cross"),
        default="before",
        help="average before smoothing, after it, or smooth each source along the others "
        "(default: before)",
    )
    parser.add_argument(
        "--t", type=number_or_word, default="auto", help="number of smoothing steps (default: auto)"
    )
    add_top(parser)
    parser.add_argument(
        "-o", "--output", type=Path, help=f"nearest neighbours: {' '.join(TABLE_FORMATS)}"
    )
    add_force(parser)
    add_run_options(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the sources, fuse them and write the nearest neighbours."""
    from vicinal import SelfSmoothing

    if len(arguments.sources) < 2:
        raise InvalidValueError("fuse needs two sources or more; use smooth for a single one.")
    for source in arguments.sources:
        check_table_target(arguments.output, "--output", arguments.force, source)
    tables = [_read(path, arguments) for path in arguments.sources]
    kinds = [detect_metric(table.points) for table in tables]
    metric = "similarity" if set(kinds) == {"similarity"} else "precomputed"
    if "similarity" in kinds and metric != "similarity":
        path = arguments.sources[kinds.index("similarity")]
        raise InvalidValueError(
            f"{path} is a matrix of similarities, but other sources are not; convert it to distances."
        )
    items, positions = _match(tables, arguments)
    matrices = [_matrix(table, kind) for table, kind in zip(tables, kinds, strict=True)]
    sources = [_expanded(m, p, len(items)) for m, p in zip(matrices, positions, strict=True)]
    top = check_top(arguments, len(items))
    start = time.perf_counter()
    model = SelfSmoothing(arguments.t, metric=metric, **run_parameters(arguments))
    similarities, neighbors = model.fuse(sources, arguments.how).kneighbors(n_neighbors=top)
    seconds = time.perf_counter() - start

    facts: dict[str, Any] = {
        "rows": len(items),
        "sources": [
            {"file": str(path), "rows": len(own), "read_as": _meaning(kind)}
            for path, own, kind in zip(arguments.sources, positions, kinds, strict=True)
        ],
        "how": arguments.how,
        "t": model.t_,
        "neighbours": top,
    }
    labels = _labels(tables, positions, len(items))
    if labels is not None:
        facts |= count_unlabelled(labels)
        facts["same_class"] = same_class(labels, np.arange(len(items)), neighbors)
    written = {}
    if arguments.output is not None:
        ids = None if arguments.id is None else np.array(items, dtype=object)
        columns = neighbor_columns(RawTable(None, ids=ids), similarities, neighbors)
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_blocks(
                columns, -(-neighbors.size // LINES_PER_BLOCK), unfinished, verbosity(arguments)
            )
        written["neighbours"] = arguments.output
    return facts | {"seconds": seconds, "written": written}


def _read(path: Path, arguments: argparse.Namespace) -> RawTable:
    """A source, read as the other commands read a table without options for columns."""
    no_options: dict[str, list[str]] = {name: [] for name in (*KIND_OPTIONS, "weight")}
    table = read_data(argparse.Namespace(**vars(arguments), data=path, metric=None, **no_options))
    names = [] if table.ids is None else [str(name) for name in table.ids]
    if arguments.id is not None and len(set(names)) < len(names):
        raise InvalidValueError(f"--id {arguments.id}: {path} has items of the same name.")
    return table


def _match(
    tables: list[RawTable], arguments: argparse.Namespace
) -> tuple[list[str], list[np.ndarray]]:
    """Names of all items, in order of first occurrence, and those of the rows of each source."""
    sizes = [table.points.shape[0] for table in tables]
    if arguments.id is None:
        if len(set(sizes)) > 1:
            shown = ", ".join(
                f"{path} has {n:,}" for path, n in zip(arguments.sources, sizes, strict=True)
            )
            raise InvalidValueError(
                f"the sources have different numbers of rows: {shown}; match items by name with --id."
            )
        return [str(i) for i in range(sizes[0])], [np.arange(sizes[0])] * len(tables)
    names = [[str(name) for name in table.ids] for table in tables if table.ids is not None]
    items = {name: i for i, name in enumerate(dict.fromkeys(n for own in names for n in own))}
    return list(items), [np.array([items[name] for name in own]) for own in names]


def _matrix(table: RawTable, kind: str) -> np.ndarray:
    """Distances, or similarities, of all pairs of a source."""
    points = table.points.toarray() if hasattr(table.points, "toarray") else table.points
    if kind != "euclidean":
        return np.asarray(points, dtype=np.float64)
    from scipy.spatial.distance import cdist

    n = len(points)
    require_memory(16.0 * n * n, f"the distances of {n:,} items", "Fuse fewer items.")
    return cdist(points, points)


def _expanded(matrix: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
    """The matrix for all items; NaN for those that the source does not have."""
    if len(rows) == n and np.array_equal(rows, np.arange(n)):
        return matrix
    require_memory(8.0 * n * n, f"a matrix of {n:,} items", "Fuse fewer items.")
    full = np.full((n, n), np.nan)
    full[np.ix_(rows, rows)] = matrix
    return full


def _labels(tables: list[RawTable], positions: list[np.ndarray], n: int) -> np.ndarray | None:
    """Class of each item, from the first source that has it; None where no source does."""
    if all(table.labels is None for table in tables):
        return None
    labels = np.full(n, None, dtype=object)
    for table, rows in reversed(list(zip(tables, positions, strict=True))):
        if table.labels is not None:
            labels[rows] = table.labels
    return labels


def _meaning(kind: str) -> str:
    return {"precomputed": "distances", "similarity": "similarities"}.get(kind, "points")
