"""``vicinal perceive``: a table in, a page that shows what is in it out."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal.cli.columns import ROWS_OF_DISTANCES, Table, looks_like_distances
from vicinal.cli.options import (
    add_data,
    add_force,
    add_manner,
    check_clusters,
    new_command,
    number_or_word,
    read_source,
    verbosity,
)
from vicinal.cli.output import check_folder, check_target
from vicinal.cli.stdin import STDIN
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal.report.result import Perception

EXAMPLES = """\
examples:
  vicinal perceive flowers.csv --label species -o flowers.html
  vicinal perceive cells.h5ad --key X_pca --label cell_type --clusters 12
  vicinal perceive pictures/ -o pictures.html
  vicinal perceive large.parquet --sample 3000 --resume
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "perceive",
        run,
        "show the structure of a table on one page",
        "Find what is in a table: how its rows are connected, how many clusters they form, what is noise, "
        "which rows are typical and which are odd, and how sure that is. Writes one HTML file that needs "
        "no network.",
        EXAMPLES,
    )
    add_data(parser, "table of points or folder of images")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), help="default: %(default)s"
    )
    add_force(parser)
    parser.add_argument(
        "--clusters", type=number_or_word, default="auto", metavar="N", help="auto or a number"
    )
    parser.add_argument("--as-is", action="store_true", help="leave the scale of columns as it is")
    parser.add_argument(
        "--sample",
        type=int,
        default=2000,
        metavar="N",
        help="rows that views of all pairs look at; clusters cover all rows; default: %(default)s",
    )
    parser.add_argument(
        "--images", type=Path, metavar="DIR", help="pictures of the rows, in order or named by ids"
    )
    parser.add_argument(
        "--resume", action="store_true", help="keep finished steps, and go on after an interruption"
    )
    add_manner(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read, perceive, write the report, and say what was found."""
    from vicinal.report._checkpoints import clear_checkpoints
    from vicinal.report.pipeline import perceive_source
    from vicinal.report.result import Origin

    if arguments.standardize and arguments.as_is:
        raise InvalidValueError(
            "--standardize and --as-is exclude each other; leave one of them out."
        )
    check_clusters(arguments)
    check_target(arguments.output, (".html",), "--output", arguments.force, arguments.data)
    folder = arguments.output.with_suffix(".steps") if arguments.resume else None
    if folder is not None:
        check_folder(folder, "--resume keeps steps in")
    table = read_source(arguments, accept_gaps=True)
    if looks_like_distances(table.points):
        note = f"{ROWS_OF_DISTANCES}; vicinal cluster --metric precomputed takes distances"
        table = table._replace(notes=[*table.notes, note])
    try:
        found = perceive_source(
            _source(table, arguments),
            Origin(arguments.data.name, command_of(arguments), _reading(arguments)),
            n_clusters=arguments.clusters,
            scaling="standard" if arguments.standardize else "none" if arguments.as_is else "auto",
            sample=arguments.sample,
            random_state=arguments.seed,
            n_jobs=arguments.jobs,
            verbose=verbosity(arguments),
            folder=folder,
        )
    except KeyboardInterrupt:
        if folder is not None:
            print(f"\nfinished steps are kept in {folder} for --resume", file=sys.stderr)
        raise
    facts = write_report(found, arguments.output, arguments.force, arguments.json)
    if folder is not None:
        clear_checkpoints(folder)
    return facts


def write_report(found: Perception, path: Path, force: bool, for_machines: bool) -> dict[str, Any]:
    """Write the page; people get the summary at once, machines all figures."""
    from vicinal.report._summary_text import why_so_many

    with atomic_write(path, replace=force) as unfinished:
        found.to_html(unfinished)
    written = {"written": {"report": path}}
    if not for_machines:
        print(found.summary() + "\n")
        return written
    return {
        "rows": len(found.labels),
        "columns": len(found.data.names),
        "notes": [*found.data.notes, found.data.why_scaling],
        "clusters": found.n_clusters,
        "why": why_so_many(found),
        "stability": found.count.stability_of(found.count.n_clusters),
        "noise": int(np.count_nonzero(found.labels < 0)),
        "agreement": found.clusters.adjusted_rand,
        "dimension": found.neighborhoods.dimension,
        "duplicates": found.neighborhoods.n_duplicates,
        "sizes": found.clusters.sizes,
        "graphs": found.graphs.table,
        "scores": [] if found.scores is None else found.scores.table,
        "parameters": found.parameters,
        "seconds_of_steps": found.seconds,
        "failures": found.failures,
        **written,
    }


def command_of(arguments: argparse.Namespace) -> str:
    """The command that does the same again, with what was left to the defaults but the seed left out."""
    given = "-" if arguments.data == STDIN else str(arguments.data)
    words = ["vicinal", "perceive", given]
    for name in ("key", "id", "label", "images"):
        value = getattr(arguments, name)
        words += [] if value is None else [f"--{name}", str(value)]
    words += ["--clusters", str(arguments.clusters)] if arguments.clusters != "auto" else []
    words += ["--standardize"] if arguments.standardize else []
    words += ["--as-is"] if arguments.as_is else []
    words += ["--sample", str(arguments.sample), "--seed", str(arguments.seed)]
    return shlex.join([*words, "-o", str(arguments.output)])


def _source(table: Table, arguments: argparse.Namespace) -> Any:
    from vicinal.report._preprocessing import RawTable

    images = table.images
    if arguments.images is not None:
        from vicinal.cli.image_folder import images_of_rows

        images = images_of_rows(arguments.images, table.points.shape[0], table.ids)
    return RawTable(
        table.points,
        names=table.names,
        ids=table.ids,
        labels=table.labels,
        label_name=arguments.label or "label",
        others=table.others,
        images=images,
        notes=table.notes,
    )


def _reading(arguments: argparse.Namespace) -> list[str]:
    """Python that reads the same table as ``X``."""
    given = f"Path({str(arguments.data)!r})"
    if arguments.data.is_dir():
        imports, call = "image_folder import read_images", f"read_images({given})"
    else:
        roles = {"key": arguments.key, "id_column": arguments.id, "label_column": arguments.label}
        words = [f"{name}={value!r}" for name, value in roles.items() if value is not None]
        imports = "tables import read_table"
        call = f"read_table({', '.join([given, *words, 'accept_gaps=True'])})"
    return [
        "from pathlib import Path",
        f"from vicinal.cli.{imports}",
        f"X = {call}.points",
    ]
