"""``vicinal demo``: a report on data that needs no download."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.cli.options import add_force, add_run_options, new_command, run_parameters
from vicinal.cli.output import FIGURE_FORMATS, check_folder, check_overwrite
from vicinal.cli.perceive import write_report
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.tables import RawTable

READING = [
    "from sklearn.datasets import load_digits",
    "X = load_digits().data",
]


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "demo",
        run,
        "write a sample report",
        "Write a report on the handwritten digits of scikit-learn.",
        "example: vicinal demo -o report",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("demo-out"),
        help="output folder (default: %(default)s)",
    )
    add_force(parser)
    add_run_options(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Write the report and return its summary."""
    if arguments.output.suffix.lower() in (".html", *FIGURE_FORMATS):
        raise InvalidValueError(
            f"--output {arguments.output} looks like a file, but a demo writes to a folder; "
            f"use a folder such as {arguments.output.with_suffix('')}."
        )
    check_folder(arguments.output, "--output")
    from vicinal.report.pipeline import perceive_table
    from vicinal.report.result import Origin

    path = arguments.output / "report.html"
    check_overwrite([path], arguments.force)
    arguments.output.mkdir(parents=True, exist_ok=True)
    report = perceive_table(
        _digits(),
        Origin("Handwritten digits", f"vicinal demo --seed {arguments.seed}", READING),
        **run_parameters(arguments),
    )
    return write_report(report, path, arguments.force, arguments.json)


def _digits() -> RawTable:
    from sklearn.datasets import load_digits

    from vicinal._core.tables import RawTable

    digits = load_digits()
    return RawTable(
        digits.data,
        names=[name.replace("_", " ") for name in digits.feature_names],
        labels=digits.target,
        label_name="digit",
        images=digits.images,
    )
