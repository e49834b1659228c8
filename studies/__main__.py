"""Repeat the experiments of a paper: ``python -m studies NAME``. Without a name, list the studies."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from studies.experiments import Experiment, markdown, write_rows

# Files written per experiment.
SUFFIXES = (".csv", ".md", ".png")


class Study(NamedTuple):
    """Description of a study, and the module of ``studies`` with its ``plan``."""

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


def main(argv: Sequence[str] | None = None) -> None:
    """Run a study, or list all."""
    width = max(map(len, STUDIES))
    listing = "\n".join(f"  {name:<{width}}  {study.about}" for name, study in STUDIES.items())
    parser = argparse.ArgumentParser(
        "python -m studies",
        description="Repeat the experiments of a paper and write tables and figures.",
        epilog=f"studies:\n{listing}\n\nexample: python -m studies proximity-graphs -o study",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", nargs="?", metavar="NAME", choices=STUDIES, help="(default: list)")
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
        metavar="FOLDER",
        help="folder with the data sets of the paper (default: data sets of scikit-learn)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and few repetitions, for a quick check"
    )
    parser.add_argument("--force", action="store_true", help="overwrite existing files")
    parser.add_argument(
        "--progress",
        action="store_true",
        help="show progress bars even if stderr is not a terminal",
    )
    arguments = parser.parse_args(argv)
    if arguments.study is None:
        print(listing)
        return
    try:
        study = import_module(f"studies.{STUDIES[arguments.study].module}")
        setting, experiments = study.plan(arguments.quick, arguments.data)
        prepare_folder(arguments.output, experiments, arguments.force)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    verbose = int(arguments.progress or sys.stderr.isatty())
    for experiment in experiments:
        run(experiment, setting, arguments.output, verbose)


def prepare_folder(folder: Path, experiments: list[Experiment], force: bool) -> None:
    """Create the output folder; raise, before any work, if results would be overwritten."""
    targets = [folder / f"{each.name}{suffix}" for each in experiments for suffix in SUFFIXES]
    existing = [] if force else [path for path in targets if path.exists()]
    if existing:
        raise FileExistsError(f"{existing[0]} exists; use --force to overwrite it.")
    folder.mkdir(parents=True, exist_ok=True)


def run(experiment: Experiment, setting: Any, folder: Path, verbose: int) -> None:
    """Run an experiment, write its results and print its summary."""
    start = time.perf_counter()
    result = experiment.measure(setting, verbose)
    table = markdown(experiment.summary(result))
    claim = f"\nThe paper: {experiment.claim}\n" if experiment.claim else ""
    csv_file, page, figure = (folder / f"{experiment.name}{suffix}" for suffix in SUFFIXES)
    write_rows(getattr(result, "rows", result), csv_file)
    page.write_text(table + claim, encoding="utf-8")
    experiment.draw(result, figure)
    seconds = time.perf_counter() - start
    print(f"{table}\n{experiment.name}: wrote .csv, .md and .png in {seconds:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
