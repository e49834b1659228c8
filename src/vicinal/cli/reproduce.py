"""``vicinal reproduce``: the experiments of a paper, as tables and figures."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from vicinal.cli.output import format_rows, whole_file


class Study(NamedTuple):
    """What a study is about, and the module of ``vicinal.studies`` whose ``plan`` says what it does."""

    about: str
    module: str


# A new study is one line here and a module with plan(quick, data) -> (setting, experiments).
STUDIES = {
    "proximity-graphs": Study("normalised cut and Isomap on trees", "proximity_report"),
    "contextual-distance": Study("clusters and rankings in noise", "contextual_report"),
}


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    width = max(map(len, STUDIES))
    listing = "\n".join(f"  {name:<{width}}  {study.about}" for name, study in STUDIES.items())
    parser = commands.add_parser(
        "reproduce",
        help="do the experiments of a paper again",
        description="Do the experiments of a paper again and write their tables and figures.",
        epilog=f"studies:\n{listing}\n\nexample: vicinal reproduce proximity-graphs -o study",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("study-out"), help="folder; default: %(default)s"
    )
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with the images a study can use; without it, those that come with scikit-learn",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and few draws, to see it work"
    )
    parser.add_argument(
        "--progress", action="store_true", help="show a bar even where stderr is no terminal"
    )


def run(arguments: argparse.Namespace) -> None:
    """Do all experiments of a study, write what they gave and print the summaries."""
    from vicinal.studies.experiments import markdown, write_rows

    study = import_module(f"vicinal.studies.{STUDIES[arguments.study].module}")
    setting, experiments = study.plan(arguments.quick, arguments.data)
    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    verbose = int(arguments.progress or sys.stderr.isatty())
    for name, measure, summary, draw, claim in experiments:
        start = time.perf_counter()
        found = measure(setting, verbose)
        table = summary(found)
        write_rows(getattr(found, "rows", found), folder / f"{name}.csv")
        text = markdown(table) + (f"\nThe paper: {claim}\n" if claim else "")
        with whole_file(folder / f"{name}.md") as unfinished:
            unfinished.write_text(text, encoding="utf-8")
        draw(found, folder / f"{name}.png")
        print(format_rows(table))
        seconds = time.perf_counter() - start
        print(f"{name}: .csv, .md and .png written to {folder} in {seconds:.0f} s\n")
