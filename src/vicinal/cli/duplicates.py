"""``vicinal duplicates``: rows of a table that are almost equal."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from vicinal._core.files import atomic_write
from vicinal._core.tables import RawTable
from vicinal.cli.options import (
    add_data,
    add_force,
    add_run_options,
    new_command,
    number_or_word,
    read_data,
    run_parameters,
)
from vicinal.cli.output import TABLE_FORMATS, check_table_target, write_table

# Pairs that are shown for inspection.
N_SHOWN = 5

EXAMPLES = """\
examples:
  vicinal duplicates points.csv -o pairs.csv
  vicinal duplicates flowers.csv --standardize --label species --threshold 0.2 --linkage complete --json
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "duplicates",
        run,
        "find rows that are almost equal",
        "Find pairs and groups of rows that are almost equal, within a distance that is read off the data.",
        EXAMPLES,
    )
    add_data(parser)
    parser.add_argument(
        "--metric",
        default="euclidean",
        help="metric of the distances (default: euclidean); cosine for embeddings of texts",
    )
    parser.add_argument(
        "--threshold",
        type=number_or_word,
        default="auto",
        help="largest distance of a near-duplicate (default: auto)",
    )
    parser.add_argument(
        "--linkage",
        default="connected",
        choices=("connected", "complete"),
        help="groups connected by chains of pairs, or with all pairs (default: connected)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, help=f"pairs of rows: {' '.join(TABLE_FORMATS)}"
    )
    add_force(parser)
    add_run_options(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the table, find its near-duplicates and write their pairs."""
    from vicinal import near_duplicates

    check_table_target(arguments.output, "--output", arguments.force, arguments.data)
    table = read_data(arguments)
    start = time.perf_counter()
    result = near_duplicates(
        table.points,
        metric=arguments.metric,
        threshold=arguments.threshold,
        linkage=arguments.linkage,
        **run_parameters(arguments),
    )
    seconds = time.perf_counter() - start
    facts: dict[str, Any] = {
        "rows": result.n_rows,
        "columns": table.points.shape[1],
        "threshold": result.threshold,
        "pairs": result.n_pairs,
        "groups": len(result.groups),
        "rows_to_drop": int((~result.keep).sum()),
        "recall": result.recall,
        "least_similar": [
            dict(zip(columns, record, strict=True))
            for columns in [pair_columns(table, *result.least_similar(N_SHOWN))]
            for record in zip(*(column.tolist() for column in columns.values()), strict=True)
        ],
        "seconds": seconds,
    }
    written = {}
    if arguments.output is not None:
        columns = pair_columns(table, result.pairs, result.distances)
        columns["group"] = result.labels[result.pairs[:, 0]]
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_table(columns, unfinished)
        written["pairs"] = arguments.output
    return facts | {"written": written}


def pair_columns(table: RawTable, pairs: Any, distances: Any) -> dict[str, Any]:
    """Columns of a table of pairs, with row names and labels if there are any."""
    columns = {"row": pairs[:, 0], "other": pairs[:, 1]}
    for name, values in (("id", table.ids), ("label", table.labels)):
        if values is not None:
            columns |= {name: values[pairs[:, 0]], f"other_{name}": values[pairs[:, 1]]}
    return columns | {"distance": distances}
