"""``vicinal assign``: assign new rows to the clusters of a saved analysis."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal.cli.options import add_force, new_command, print_notes, read_source
from vicinal.cli.output import TABLE_FORMATS, check_table_target, write_table
from vicinal.cli.stdin import path_or_stdin
from vicinal.cli.tables import READERS

if TYPE_CHECKING:
    from vicinal._core.tables import RawTable
    from vicinal.report import Assignment

EXAMPLES = """\
examples:
  vicinal perceive customers.csv --id name --save customers.vicinal
  vicinal assign new.csv --model customers.vicinal --id name -o labelled.csv
  vicinal assign new.csv --model customers.vicinal --json
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "assign",
        run,
        "assign new rows to the clusters of a saved analysis",
        "Assign new rows to the clusters saved by 'vicinal perceive --save', without changing them.\n"
        "Columns are matched by name. Each row gets a cluster (-1 is noise), the probability of each\n"
        "cluster, a noise score and its nearest training rows; rows of the original table get exactly\n"
        "the clusters they had. Also says how the new rows differ from the original ones (drift):\n"
        "where columns have changed, clusters are less reliable.",
        EXAMPLES,
    )
    parser.add_argument(
        "data",
        type=path_or_stdin,
        metavar="DATA",
        help=f"new rows: {' '.join(READERS)}, a folder of images, or - for standard input",
    )
    parser.add_argument(
        "--model",
        type=Path,
        required=True,
        metavar="FILE.vicinal",
        help="file written by vicinal perceive --save",
    )
    parser.add_argument("--key", help="array of an .npz file, or .obsm entry of an .h5ad file")
    parser.add_argument(
        "--id", metavar="COLUMN", help="column with row names (default: that of the analysis)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, help=f"labelled rows: {' '.join(TABLE_FORMATS)}"
    )
    add_force(parser)
    parser.add_argument(
        "-k",
        "--top",
        type=int,
        default=5,
        metavar="N",
        help="number of nearest training rows in the output (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs", type=int, default=-1, metavar="N", help="number of threads (default: all cores)"
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read model and rows, and write the labelled rows."""
    from vicinal.report import PerceptionModel

    check_table_target(arguments.output, "--output", arguments.force, arguments.data)
    model = PerceptionModel.load(arguments.model)
    arguments.label = None
    table = read_source(arguments, id_name=model.id_name, accept_missing=True, unchanged=True)
    print_notes(arguments.data, table.notes)
    assignment = model.assign(
        _columns(table), ids=table.ids, n_neighbors=arguments.top, n_jobs=arguments.jobs
    )
    written = {}
    if arguments.output is not None:
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_table(assignment.columns(), unfinished)
        written["labelled rows"] = arguments.output
    if arguments.json:
        return {**_facts(assignment), "written": written}
    print(assignment.summary() + "\n")
    return {"sizes": _sizes(assignment.labels), "written": written}


def _columns(table: RawTable) -> Any:
    """The rows as columns by name; an array if the columns have no names."""
    if table.columns is not None:
        return table.columns
    if table.names is None:
        return table.points
    return dict(zip(table.names, np.asarray(table.points).T, strict=True))


def _facts(assignment: Assignment) -> dict[str, Any]:
    return {
        "rows": len(assignment.labels),
        "training_rows": int(np.count_nonzero(assignment.known >= 0)),
        "noise": assignment.noise,
        "noise_before": assignment.noise_before,
        "notes": assignment.notes,
        "sizes": _sizes(assignment.labels),
        "drift": assignment.drift,
        "assigned": [
            dict(zip(columns, values, strict=True))
            for columns in [list(assignment.columns())]
            for values in zip(*assignment.columns().values(), strict=True)
        ],
    }


def _sizes(labels: np.ndarray) -> list[dict[str, Any]]:
    names, counts = np.unique(labels, return_counts=True)
    return [
        {"cluster": int(name), "rows": int(count), "fraction": count / len(labels)}
        for name, count in zip(names, counts, strict=True)
    ]
