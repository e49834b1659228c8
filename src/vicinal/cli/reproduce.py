"""``vicinal reproduce``: repeat the experiments of a paper."""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from vicinal._core.files import atomic_write
from vicinal._core.tables import format_rows
from vicinal.cli.options import add_force, add_progress, new_command, verbosity
from vicinal.cli.output import check_folder, check_overwrite

# Files written per experiment.
SUFFIXES = (".csv", ".md", ".png")


class Study(NamedTuple):
    """Description of a study, and the module of ``vicinal.studies`` with its ``plan``."""

    about: str
    module: str


# To add a study, add a line here and a module with plan(quick, data) -> (setting, experiments).
STUDIES = {
    "proximity-graphs": Study(
        "normalised cuts and Isomap on ensembles of spanning trees", "proximity_report"
    ),
    "contextual-distance": Study("clustering and ranking in noise", "contextual_report"),
    "self-smoothing": Study(
        "retrieval, clustering and segmentation after self-smoothing", "smoothing_report"
    ),
    "cluster-preserving": Study(
        "clustering after cluster preserving embedding", "cluster_preserving_report"
    ),
    "structure-aware-l1": Study("clustering on graphs of sparse codes", "structure_aware_report"),
}


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    width = max(map(len, STUDIES))
    listing = "\n".join(f"  {name:<{width}}  {study.about}" for name, study in STUDIES.items())
    parser = new_command(
        commands,
        "reproduce",
        run,
        "repeat the experiments of a paper",
        "Repeat the experiments of a paper and write tables and figures.",
        f"studies:\n{listing}\n\nexample: vicinal reproduce proximity-graphs -o study",
    )
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("study-out"),
        help="output folder (default: %(default)s)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with the data sets of the paper (default: data sets of scikit-learn)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and few repetitions, for a quick check"
    )
    add_force(parser)
    add_progress(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run all experiments of a study, write their results and print each summary."""
    from vicinal.studies.experiments import markdown, write_rows

    check_folder(arguments.output, "--output")
    study = import_module(f"vicinal.studies.{STUDIES[arguments.study].module}")
    setting, experiments = study.plan(arguments.quick, arguments.data)
    folder = arguments.output
    targets = [
        folder / f"{experiment.name}{suffix}" for experiment in experiments for suffix in SUFFIXES
    ]
    check_overwrite(targets, arguments.force)
    folder.mkdir(parents=True, exist_ok=True)
    verbose = verbosity(arguments)
    results = []
    for name, measure, summary, draw, claim in experiments:
        start = time.perf_counter()
        result = measure(setting, verbose)
        head, *body = table = summary(result)
        with atomic_write(folder / f"{name}.csv", replace=arguments.force) as unfinished:
            write_rows(getattr(result, "rows", result), unfinished)
        text = markdown(table) + (f"\nThe paper: {claim}\n" if claim else "")
        with atomic_write(folder / f"{name}.md", replace=arguments.force) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
        with atomic_write(folder / f"{name}.png", replace=arguments.force) as unfinished:
            draw(result, unfinished)
        seconds = time.perf_counter() - start
        records = [dict(zip(head, row, strict=True)) for row in body]
        results.append({"name": name, "seconds": seconds, "claim": claim, "summary": records})
        if not arguments.json:
            print(format_rows(table))
            print(f"{name}: wrote .csv, .md and .png in {seconds:.0f} s\n", flush=True)
    facts: dict[str, Any] = {"written": {f"{arguments.study}": folder}}
    return facts | {"experiments": results} if arguments.json else facts
