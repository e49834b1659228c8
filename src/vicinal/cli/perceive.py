"""``vicinal perceive``: an HTML report on the structure of a table."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal._core.files import atomic_write
from vicinal.cli.column_options import (
    column_options,
    given_column_options,
    scaling_of,
    table_column_names,
)
from vicinal.cli.columns import DISTANCES_AS_POINTS, looks_like_distances
from vicinal.cli.frames import is_parquet_folder
from vicinal.cli.options import (
    add_data,
    add_force,
    add_run_options,
    check_clusters,
    new_command,
    number_or_word,
    read_source,
    run_parameters,
)
from vicinal.cli.output import (
    TABLE_FORMATS,
    check_folder,
    check_table_target,
    check_target,
    write_table,
)
from vicinal.cli.stdin import STDIN

if TYPE_CHECKING:
    from vicinal._core.tables import RawTable
    from vicinal.report.result import Perception

EXAMPLES = """\
examples:
  vicinal perceive flowers.csv --label species -o flowers.html
  vicinal perceive cells.h5ad --key X_pca --label cell_type --clusters 12
  vicinal perceive pictures/ -o pictures.html
  vicinal perceive large.parquet --sample 3000 --resume
  vicinal perceive customers.csv --id name --save customers.vicinal --labels customers-labels.csv
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "perceive",
        run,
        "write an HTML report on the structure of a table",
        "Analyse a table: connectivity, number of clusters, noise, typical and unusual rows, and how "
        "reliable the results are.\nWrites one HTML file that works offline.",
        EXAMPLES,
    )
    add_data(parser, "table of points")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("report.html"),
        help="HTML report (default: %(default)s)",
    )
    parser.add_argument(
        "--labels",
        type=Path,
        metavar="FILE",
        help=f"also write id, cluster, probability and noise score of each row: {' '.join(TABLE_FORMATS)}",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE.vicinal",
        help="also save the clusters to a file, for 'vicinal assign'",
    )
    add_force(parser)
    add_analysis_options(parser)
    parser.add_argument(
        "--resume", action="store_true", help="cache finished steps and resume an interrupted run"
    )
    add_run_options(parser)


def add_analysis_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the analysis itself."""
    parser.add_argument(
        "--clusters",
        type=number_or_word,
        default="auto",
        metavar="N",
        help="number of clusters (default: auto)",
    )
    parser.add_argument(
        "--sample",
        type=int,
        default=2000,
        metavar="N",
        help="number of rows sampled to measure how stable the clusters are; clustering always uses all rows "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="images of the rows, matched by row name or order",
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the table, analyse it and write the report."""
    from vicinal.report._checkpoints import clear_checkpoints

    check_analysis_options(arguments)
    check_target(arguments.output, (".html",), "--output", arguments.force, arguments.data)
    check_target(arguments.save, (".vicinal",), "--save", arguments.force, arguments.data)
    check_table_target(arguments.labels, "--labels", arguments.force, arguments.data)
    folder = arguments.output.with_suffix(".steps") if arguments.resume else None
    if folder is not None:
        check_folder(folder, "--resume: cache folder")
        # Now, because a signal ends the process without another step.
        print(
            f"vicinal: finished steps are cached in {folder}; if the run is interrupted, use --resume to "
            "continue",
            file=sys.stderr,
        )
    report = analyse(arguments, command_of(arguments), folder)
    facts = write_report(report, arguments.output, arguments.force, arguments.json)
    facts["written"] |= _write_results(report, arguments)
    if folder is not None:
        clear_checkpoints(folder)
    return facts


def check_analysis_options(arguments: argparse.Namespace) -> None:
    """Check the options of the analysis before any work."""
    scaling_of(arguments)
    check_clusters(arguments)


def analyse(arguments: argparse.Namespace, command: str, folder: Path | None = None) -> Perception:
    """Read the table and analyse it; ``folder`` is that of cached steps."""
    from vicinal.report.pipeline import perceive_table
    from vicinal.report.result import Origin

    table = read_source(arguments, accept_missing=True, accept_mixed=True)
    kinds, weights = column_options(arguments, table_column_names(table))
    if table.points is not None and looks_like_distances(table.points):
        note = (
            f"{DISTANCES_AS_POINTS}; to cluster distances, use vicinal cluster --metric precomputed"
        )
        table = table._replace(notes=[*table.notes, note])
    return perceive_table(
        with_images(table, arguments),
        Origin(arguments.data.name, command, _reading(arguments, table)),
        n_clusters=arguments.clusters,
        kinds=kinds,
        weights=weights,
        scaling=scaling_of(arguments),
        sample=arguments.sample,
        folder=folder,
        **run_parameters(arguments),
    )


def write_report(report: Perception, path: Path, force: bool, as_json: bool) -> dict[str, Any]:
    """Write the report and print its summary, or return all figures for JSON."""
    from vicinal.report._json import to_json

    with atomic_write(path, replace=force) as unfinished:
        report.to_html(unfinished)
    written = {"written": {"report": path}}
    if not as_json:
        print(report.summary() + "\n")
        return written
    return {**to_json(report), **written}


def _write_results(report: Perception, arguments: argparse.Namespace) -> dict[str, Path]:
    """Write the files of ``--labels`` and ``--save``."""
    from vicinal.report.assignment import label_columns

    written = {}
    if arguments.labels is not None:
        columns = label_columns(
            report.data.ids, report.labels, report.probabilities, report.noise_score
        )
        with atomic_write(arguments.labels, replace=arguments.force) as unfinished:
            write_table(columns, unfinished)
        written["labels"] = arguments.labels
    if arguments.save is not None:
        model = report.model(n_jobs=arguments.jobs)
        with atomic_write(arguments.save, replace=arguments.force) as unfinished:
            model.save(unfinished)
        written["model"] = arguments.save
    return written


def command_of(arguments: argparse.Namespace) -> str:
    """Command that reproduces the report: given options, the sample size and the seed."""
    args = analysis_command(arguments, "perceive")
    for name in ("labels", "save"):
        value = getattr(arguments, name)
        args += [] if value is None else [f"--{name}", str(value)]
    return shlex.join([*args, "-o", str(arguments.output)])


def analysis_command(arguments: argparse.Namespace, command: str) -> list[str]:
    """A command with the same data and options of the analysis."""
    source = "-" if arguments.data == STDIN else str(arguments.data)
    args = ["vicinal", command, source]
    for name in ("key", "id", "label", "images"):
        value = getattr(arguments, name)
        args += [] if value is None else [f"--{name}", str(value)]
    args += ["--clusters", str(arguments.clusters)] if arguments.clusters != "auto" else []
    args += given_column_options(arguments)
    args += ["--standardize"] if arguments.standardize else []
    args += ["--as-is"] if arguments.as_is else []
    return [*args, "--sample", str(arguments.sample), "--seed", str(arguments.seed)]


def with_images(table: RawTable, arguments: argparse.Namespace) -> RawTable:
    """The table with the names of its columns of labels and row names, and with images from ``--images``."""
    table = table._replace(label_name=arguments.label or "label", id_name=arguments.id)
    if arguments.images is None:
        return table
    from vicinal.cli.image_folder import images_of_rows

    n_rows = len(table.columns) if table.points is None else table.points.shape[0]
    images = images_of_rows(arguments.images, n_rows, table.ids)
    return table._replace(images=images)


def _reading(arguments: argparse.Namespace, table: RawTable) -> list[str]:
    """Python code that reads the same table as ``X``."""
    path = f"Path({str(arguments.data)!r})"
    if arguments.data.is_dir() and not is_parquet_folder(arguments.data):
        imports, call = "image_folder import read_images", f"read_images({path})"
    else:
        roles = {"key": arguments.key, "id_column": arguments.id, "label_column": arguments.label}
        args = [f"{name}={value!r}" for name, value in roles.items() if value is not None]
        imports = "tables import read_table"
        accepted = ["accept_missing=True"] + ["accept_mixed=True"] * (table.columns is not None)
        call = f"read_table({', '.join([path, *args, *accepted])})"
    lines = ["from pathlib import Path", f"from vicinal.cli.{imports}"]
    given = given_column_options(arguments)
    if table.columns is not None:
        return [*lines, f"X = {call}.columns"]
    if table.names is not None or given:
        return [*lines, f"table = {call}", "X = dict(zip(table.names, table.points.T))"]
    return [*lines, f"X = {call}.points"]
