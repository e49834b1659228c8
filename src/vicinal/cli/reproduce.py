"""``vicinal reproduce``: the experiments of a paper, as tables and figures."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from vicinal.cli.output import format_rows, whole_file

STUDIES = {"proximity-graphs": "normalised cut and Isomap on ensembles of spanning trees"}


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    listing = "\n".join(f"  {name}  {about}" for name, about in STUDIES.items())
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
        "--quick", action="store_true", help="small sizes and few draws, to see it work"
    )
    parser.add_argument(
        "--progress", action="store_true", help="show a bar even where stderr is no terminal"
    )


def run(arguments: argparse.Namespace) -> None:
    """Do both experiments, write what they gave and print the summaries."""
    from vicinal.studies import proximity_graphs as study
    from vicinal.studies import proximity_report as report

    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    setting = study.QUICK if arguments.quick else study.FULL
    verbose = int(arguments.progress or sys.stderr.isatty())
    for name, experiment, summary, draw in (
        ("clustering", study.clustering_errors, report.clustering_table, report.draw_clustering),
        ("isomap", study.isomap_errors, report.isomap_table, report.draw_isomap),
    ):
        start = time.perf_counter()
        rows = experiment(setting, verbose)
        table = summary(rows)
        report.write_rows(rows, folder / f"{name}.csv")
        with whole_file(folder / f"{name}.md") as unfinished:
            unfinished.write_text(report.markdown(table), encoding="utf-8")
        draw(rows, folder / f"{name}.png")
        print(format_rows(table))
        seconds = time.perf_counter() - start
        print(f"{name}: .csv, .md and .png written to {folder} in {seconds:.0f} s\n")
