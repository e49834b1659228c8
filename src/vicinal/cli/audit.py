"""``vicinal audit``: near-duplicates, outliers, doubtful labels and leakage of a data set."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from vicinal._core.files import atomic_write
from vicinal.cli.column_options import (
    column_options,
    given_column_options,
    scaling_of,
    table_column_names,
)
from vicinal.cli.options import (
    add_data,
    add_force,
    add_run_options,
    new_command,
    number_or_word,
    read_source,
    run_parameters,
)
from vicinal.cli.output import TABLE_FORMATS, check_table_target, check_target, write_table
from vicinal.cli.perceive import with_images
from vicinal.cli.stdin import STDIN

EXAMPLES = """\
examples:
  vicinal audit flowers.csv --label species -o flowers.html
  vicinal audit embeddings.npz --label y --split part --metric cosine --rows findings.csv
  vicinal audit pictures/ -o pictures.html
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "audit",
        run,
        "find duplicates, outliers, doubtful labels and leakage",
        "Check a data set: near-duplicates, outliers, labels that disagree with their neighbourhood, leakage "
        "between splits, typical and odd rows, and hubs.\nWrites one HTML file that works offline.",
        EXAMPLES,
    )
    add_data(parser, "table of points")
    parser.add_argument(
        "--split",
        metavar="COLUMN",
        help="column with the split of each row, such as train and test; 'folder' for images in one folder "
        "per split",
    )
    parser.add_argument(
        "--metric",
        default="euclidean",
        choices=("euclidean", "cosine"),
        help="metric of the distances (default: euclidean); cosine for embeddings of texts",
    )
    parser.add_argument(
        "--threshold",
        type=number_or_word,
        default="auto",
        help="largest distance of a near-duplicate (default: auto)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("audit.html"),
        help="HTML report (default: %(default)s)",
    )
    parser.add_argument(
        "--rows",
        type=Path,
        metavar="FILE",
        help=f"also write the findings about each row: {' '.join(TABLE_FORMATS)}",
    )
    parser.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="images of the rows, matched by row name or order",
    )
    add_force(parser)
    add_run_options(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the table, check it and write the report."""
    from vicinal.report._audit.pipeline import audit_table
    from vicinal.report.result import Origin

    check_target(arguments.output, (".html",), "--output", arguments.force, arguments.data)
    check_table_target(arguments.rows, "--rows", arguments.force, arguments.data)
    table = read_source(arguments, accept_missing=True, accept_mixed=True)
    kinds, weights = column_options(arguments, table_column_names(table))
    result = audit_table(
        with_images(table, arguments),
        Origin(arguments.data.name, command_of(arguments)),
        metric=arguments.metric,
        threshold=arguments.threshold,
        scaling=scaling_of(arguments),
        kinds=kinds,
        weights=weights,
        **run_parameters(arguments),
    )
    with atomic_write(arguments.output, replace=arguments.force) as unfinished:
        result.to_html(unfinished)
    written = {"report": arguments.output}
    if arguments.rows is not None:
        with atomic_write(arguments.rows, replace=arguments.force) as unfinished:
            write_table(result.columns(), unfinished)
        written["findings"] = arguments.rows
    if arguments.json:
        return {**result.to_json(), "written": written}
    print(result.summary() + "\n")
    return {"written": written}


def command_of(arguments: argparse.Namespace) -> str:
    """Command that reproduces the report."""
    source = "-" if arguments.data == STDIN else str(arguments.data)
    words = ["vicinal", "audit", source]
    for name in ("key", "id", "label", "split", "images", "rows"):
        value = getattr(arguments, name)
        words += [] if value is None else [f"--{name}", str(value)]
    words += ["--metric", arguments.metric] if arguments.metric != "euclidean" else []
    words += ["--threshold", str(arguments.threshold)] if arguments.threshold != "auto" else []
    words += given_column_options(arguments)
    words += ["--standardize"] if arguments.standardize else []
    words += ["--as-is"] if arguments.as_is else []
    return shlex.join([*words, "--seed", str(arguments.seed), "-o", str(arguments.output)])
