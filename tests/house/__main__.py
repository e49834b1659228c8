"""Print the measures with their ceilings, lower the ceilings, or show what a measure counts."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import CEILINGS, ceilings, lowered
from . import __doc__ as about
from .runs import measures_of_a_process
from .source import measures, places

ROOT = Path(__file__).parents[2]


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.house", description=about.partition("\n")[0])
    parser.add_argument("--lower", action="store_true", help="lower the ceilings to today's values")
    parser.add_argument("--where", metavar="MEASURE", help="show the places that a measure counts")
    arguments = parser.parse_args()
    if arguments.where:
        for measure, where in places(ROOT, arguments.where).items():
            print(f"{measure}: {len(where)}", *where, sep="\n  ")
        return
    values = measures(ROOT) | measures_of_a_process(ROOT)
    if arguments.lower:
        CEILINGS.write_text(lowered(CEILINGS.read_text(encoding="utf-8"), values), encoding="utf-8")
    limits = ceilings()
    for measure, value in values.items():
        print(f"{value:>8,}  of {limits.get(measure, 0):>7,}  {measure}")


if __name__ == "__main__":
    main()
