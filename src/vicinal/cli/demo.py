"""``vicinal demo``: a report or a gallery of graphs, on data that needs no download."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.cli.gallery import show_gallery
from vicinal.cli.options import add_force, add_run_options, new_command, run_parameters
from vicinal.cli.output import FIGURE_FORMATS, check_folder, check_overwrite
from vicinal.cli.perceive import write_report
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.tables import RawTable

DEMOS = {
    "report": "report on the handwritten digits of scikit-learn",
    "graphs": "plot of every graph on a noisy spiral",
}
READING = [
    "from sklearn.datasets import load_digits",
    "X = load_digits().data",
]


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    listing = "\n".join(f"  {name:<8} {about}" for name, about in DEMOS.items())
    parser = new_command(
        commands,
        "demo",
        run,
        "write a sample report, or plot every graph",
        "Write a report on handwritten digits, or plot every graph on a noisy spiral.",
        f"demos:\n{listing}\n\nexamples:\n  vicinal demo report\n  vicinal demo graphs -o pictures",
    )
    parser.add_argument(
        "what", nargs="?", choices=DEMOS, default="report", help="(default: %(default)s)"
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
    """Run a demo and return its result."""
    if arguments.output.suffix.lower() in (".html", *FIGURE_FORMATS):
        raise InvalidValueError(
            f"--output {arguments.output} looks like a file, but a demo writes to a folder; "
            f"use a folder such as {arguments.output.with_suffix('')}."
        )
    check_folder(arguments.output, "--output")
    if arguments.what == "graphs":
        return show_gallery(arguments.output, arguments.force)
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
