"""``vicinal reproduce``: the experiments of a paper, as tables and figures."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from vicinal.cli.output import format_rows, whole_file

STUDIES = {
    "proximity-graphs": "normalised cut and Isomap on ensembles of spanning trees",
    "contextual-distance": "clusters and rankings in noise by contextual distances",
}


class Experiment(NamedTuple):
    """What is measured, summed up and drawn under one name, and what the paper says of it."""

    name: str
    measure: Callable[[Any, int], Any]
    summary: Callable[[Any], list[list[str]]]
    draw: Callable[[Any, Path], None]
    claim: str = ""


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
        "--data",
        type=Path,
        help="contextual-distance: folder with mnist_test.npz and orl_faces.npz; without it the digits "
        "of scikit-learn are used",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and few draws, to see it work"
    )
    parser.add_argument(
        "--progress", action="store_true", help="show a bar even where stderr is no terminal"
    )


def run(arguments: argparse.Namespace) -> None:
    """Do all experiments of a study, write what they gave and print the summaries."""
    from vicinal.studies.proximity_report import markdown, write_rows

    prepare = {"proximity-graphs": _proximity_graphs, "contextual-distance": _contextual_distance}
    setting, experiments = prepare[arguments.study](arguments)
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


def _proximity_graphs(arguments: argparse.Namespace) -> tuple[Any, list[Experiment]]:
    from vicinal.studies import proximity_graphs as study
    from vicinal.studies import proximity_report as report

    if arguments.data is not None:
        raise ValueError("--data means nothing to proximity-graphs, which makes its own data.")
    return study.QUICK if arguments.quick else study.FULL, [
        Experiment(
            "clustering", study.clustering_errors, report.clustering_table, report.draw_clustering
        ),
        Experiment("isomap", study.isomap_errors, report.isomap_table, report.draw_isomap),
    ]


def _contextual_distance(arguments: argparse.Namespace) -> tuple[Any, list[Experiment]]:
    from vicinal.studies import contextual_distance as study
    from vicinal.studies.contextual_report import FIGURES
    from vicinal.studies.images import check_folder

    check_folder(arguments.data)
    setting = (study.QUICK if arguments.quick else study.FULL)._replace(data=arguments.data)
    return setting, [Experiment(name, *figure) for name, figure in FIGURES.items()]
