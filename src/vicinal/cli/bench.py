"""``vicinal bench``: the benchmarks of the repository, where there is one."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from vicinal.cli.options import new_command
from vicinal.exceptions import InvalidValueError

EXAMPLES = """\
examples:
  vicinal bench graphs --quick
  vicinal bench tasks --only isomap
  vicinal bench all
  vicinal bench
"""
# The suite that stands for all of them.
ALL = "all"
TO_START = f"vicinal bench SUITE, or vicinal bench {ALL}; --quick takes few points"


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "bench",
        run,
        "measure the library beside its peers",
        "Run the benchmarks of the repository: every method beside its peers, on the same data.\n"
        "They are not part of the installed package; call the command inside a clone of it.",
        EXAMPLES,
    )
    parser.add_argument(
        "suite", nargs="*", metavar="SUITE", help=f"suites, or {ALL}; without one, those there are"
    )
    parser.add_argument("--quick", action="store_true", help="few points, nothing written")
    parser.add_argument("--only", metavar="NAME", help="cases whose name contains this")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="time for a peer")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run the suites one after another, in processes of their own; or say which there are."""
    root = find_benchmarks(Path.cwd(), Path(__file__).resolve())
    suites = suites_of(root)
    if not arguments.suite:
        # They take from minutes to hours: nobody starts them by a look at what there is.
        return {"suites": [{"suite": name} for name in suites], "to_start": TO_START}
    strange = [name for name in arguments.suite if name not in (*suites, ALL)]
    if strange:
        raise InvalidValueError(f"there is no suite {strange[0]}; there are {', '.join(suites)}.")
    options = ["--quick"] if arguments.quick else []
    for flag, value in (("--only", arguments.only), ("--limit", arguments.limit)):
        options += [] if value is None else [flag, str(value)]
    done = []
    for suite in suites if ALL in arguments.suite else arguments.suite:
        start = time.perf_counter()
        # Its tables are for people: with --json they go where they are in nobody's way.
        stdout = sys.stderr if arguments.json else None
        code = _python(root, "-m", "benchmarks", suite, *options, stdout=stdout).returncode
        if code:
            raise InvalidValueError(
                f"the suite {suite} ended with exit code {code}; see what it printed."
            )
        done.append({"suite": suite, "seconds": round(time.perf_counter() - start, 1)})
    return {"suites": done, "root": str(root)}


def find_benchmarks(*places: Path) -> Path:
    """The nearest folder at or above any of the places that has the benchmarks."""
    for place in places:
        for folder in (place, *place.parents):
            if (folder / "benchmarks" / "__main__.py").is_file() and (
                folder / "src" / "vicinal"
            ).is_dir():
                return folder
    raise FileNotFoundError(
        "the benchmarks are not part of the installed package; clone the repository, install it by "
        "pip install -e '.[bench]' and call vicinal bench inside it."
    )


def suites_of(root: Path) -> list[str]:
    """Names of the suites, as the benchmarks list them."""
    asked = _python(root, "-m", "benchmarks", "--help", stdout=subprocess.PIPE)
    listed = asked.stdout.partition("{")[2].partition("}")[0]
    if asked.returncode or not listed:
        raise InvalidValueError(
            f"the benchmarks in {root} do not start; pip install -e '.[bench]'."
        )
    return [name.strip() for name in listed.split(",")]


def _python(root: Path, *words: str, stdout: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=root, stdout=stdout, text=True, check=False)
