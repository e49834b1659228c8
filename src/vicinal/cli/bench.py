"""``vicinal bench``: run the benchmarks of the repository."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from vicinal._core.suggestions import suggestion
from vicinal.cli.options import new_command
from vicinal.exceptions import InvalidValueError

EXAMPLES = """\
examples:
  vicinal bench graphs --quick
  vicinal bench tasks --only isomap
  vicinal bench all
  vicinal bench
"""
ALL = "all"
# It runs other suites.
SPEED = "speed"
USAGE = f"vicinal bench SUITE, or vicinal bench {ALL}; --quick uses few points"


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "bench",
        run,
        "run the benchmarks",
        "Run the benchmarks of the repository: each method and its peers, on the same data.\n"
        "They are not part of the installed package; run the command in a clone of the repository.",
        EXAMPLES,
    )
    parser.add_argument(
        "suite", nargs="*", metavar="SUITE", help=f"suites to run, or {ALL} (default: list them)"
    )
    parser.add_argument("--quick", action="store_true", help="use few points and write no files")
    parser.add_argument("--only", metavar="NAME", help="run only cases whose name contains NAME")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="time limit per peer")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run each suite in its own process, or list the suites."""
    root = find_benchmarks(Path.cwd(), Path(__file__).resolve())
    suites = list_suites(root)
    if not arguments.suite:
        # Suites take minutes to hours, so none runs by default.
        return {"suites": [{"suite": name} for name in suites], "usage": USAGE}
    for name in arguments.suite:
        if name not in (*suites, ALL):
            raise InvalidValueError(
                f"unknown suite {name!r}{suggestion(name, suites)}; choose from {', '.join(suites)}."
            )
    options = ["--quick"] if arguments.quick else []
    for flag, value in (("--only", arguments.only), ("--limit", arguments.limit)):
        options += [] if value is None else [flag, str(value)]
    results = []
    every = [name for name in suites if name != SPEED]
    for suite in every if ALL in arguments.suite else arguments.suite:
        start = time.perf_counter()
        # With --json, stdout is reserved for the result.
        stdout = sys.stderr if arguments.json else None
        code = _python(root, "-m", "benchmarks", suite, *options, stdout=stdout).returncode
        if code:
            raise InvalidValueError(
                f"suite {suite} failed with exit code {code}; see its output above."
            )
        results.append({"suite": suite, "seconds": round(time.perf_counter() - start, 1)})
    return {"suites": results, "root": str(root)}


def find_benchmarks(*starts: Path) -> Path:
    """Nearest folder at or above one of the given paths that contains the benchmarks."""
    for start in starts:
        for folder in (start, *start.parents):
            if (folder / "benchmarks" / "__main__.py").is_file() and (
                folder / "src" / "vicinal"
            ).is_dir():
                return folder
    raise FileNotFoundError(
        "benchmarks are not part of the installed package; clone the repository, run "
        "pip install -e '.[bench]' and call vicinal bench in the clone."
    )


def list_suites(root: Path) -> list[str]:
    """Names of the suites, from the help of the benchmarks."""
    result = _python(root, "-m", "benchmarks", "--help", stdout=subprocess.PIPE)
    names = result.stdout.partition("{")[2].partition("}")[0]
    if result.returncode or not names:
        raise InvalidValueError(
            f"the benchmarks in {root} failed to start; run pip install -e '.[bench]'."
        )
    return [name.strip() for name in names.split(",")]


def _python(root: Path, *args: str, stdout: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=root, stdout=stdout, text=True, check=False)
