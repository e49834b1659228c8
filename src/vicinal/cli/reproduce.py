"""``vicinal reproduce``: the experiments of a paper, as tables and figures."""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from vicinal._core.files import atomic_write
from vicinal._core.tables import format_rows
from vicinal.cli.options import add_force, add_progress, new_command, verbosity
from vicinal.cli.output import check_folder, refuse_existing

# What an experiment leaves in the folder.
SUFFIXES = (".csv", ".md", ".png")


class Study(NamedTuple):
    """What a study is about, and the module of ``vicinal.studies`` whose ``plan`` says what it does."""

    about: str
    module: str


# A new study is one line here and a module with plan(quick, data) -> (setting, experiments).
STUDIES = {
    "proximity-graphs": Study("normalised cut and Isomap on trees", "proximity_report"),
    "contextual-distance": Study("clusters and rankings in noise", "contextual_report"),
    "self-smoothing": Study("similarities improved along themselves", "smoothing_report"),
    "cluster-preserving": Study("clusters after embeddings", "cluster_preserving_report"),
    "structure-aware-l1": Study("clusters on graphs of sparse codes", "structure_aware_report"),
}


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    width = max(map(len, STUDIES))
    listing = "\n".join(f"  {name:<{width}}  {study.about}" for name, study in STUDIES.items())
    parser = new_command(
        commands,
        "reproduce",
        run,
        "do the experiments of a paper again",
        "Do the experiments of a paper again and write their tables and figures.",
        f"studies:\n{listing}\n\nexample: vicinal reproduce proximity-graphs -o study",
    )
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("study-out"), help="folder; default: %(default)s"
    )
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with the data a study can use; without it, what comes with scikit-learn",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and few draws, to see it work"
    )
    add_force(parser)
    add_progress(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Do all experiments of a study, write what they gave and print each summary when it is there."""
    from vicinal.studies.experiments import markdown, write_rows

    check_folder(arguments.output, "--output")
    study = import_module(f"vicinal.studies.{STUDIES[arguments.study].module}")
    setting, experiments = study.plan(arguments.quick, arguments.data)
    folder = arguments.output
    targets = [folder / f"{e.name}{suffix}" for e in experiments for suffix in SUFFIXES]
    refuse_existing(targets, arguments.force)
    folder.mkdir(parents=True, exist_ok=True)
    verbose = verbosity(arguments)
    done = []
    for name, measure, summary, draw, claim in experiments:
        start = time.perf_counter()
        found = measure(setting, verbose)
        head, *body = table = summary(found)
        with atomic_write(folder / f"{name}.csv", replace=arguments.force) as unfinished:
            write_rows(getattr(found, "rows", found), unfinished)
        text = markdown(table) + (f"\nThe paper: {claim}\n" if claim else "")
        with atomic_write(folder / f"{name}.md", replace=arguments.force) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
        with atomic_write(folder / f"{name}.png", replace=arguments.force) as unfinished:
            draw(found, unfinished)
        seconds = time.perf_counter() - start
        summed = [dict(zip(head, row, strict=True)) for row in body]
        done.append({"name": name, "seconds": seconds, "claim": claim, "summary": summed})
        if not arguments.json:
            print(format_rows(table))
            print(f"{name}: .csv, .md and .png made in {seconds:.0f} s\n", flush=True)
    facts: dict[str, Any] = {"written": {f"{arguments.study}": folder}}
    return facts | {"experiments": done} if arguments.json else facts
