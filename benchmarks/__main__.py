"""``python -m benchmarks SUITE [--quick] [--only NAME]``."""

from __future__ import annotations

import argparse

from benchmarks import (
    automatic,
    board,
    clusters,
    embeddings,
    evidence,
    figures,
    given,
    graph_choice,
    kernels,
    labels,
    large_duplicates,
    maps,
    mixed_tables,
    near_duplicates,
    noise,
    outliers,
    overhead,
    products,
    rerank,
    retrieval,
    scale,
    shapes,
    speed,
    start,
    steps,
    trees,
)
from benchmarks.runner import run_cases
from benchmarks.suites import SUITES

# Suites that do not measure the time of calls.
TABLES = {
    "automatic": automatic.run,
    "board": board.run,
    "clusters": clusters.run,
    "figures": figures.run,
    "given": given.run,
    "graph_choice": graph_choice.run,
    "kernels": kernels.run,
    "labels": labels.run,
    "map": maps.run,
    "noise": noise.run,
    "embeddings": embeddings.run,
    "evidence": evidence.run,
    "near_duplicates": near_duplicates.run,
    "large_duplicates": large_duplicates.run,
    "rerank": rerank.run,
    "outliers": outliers.run,
    "overhead": overhead.run,
    "products": products.run,
    "retrieval": retrieval.run,
    "scale": scale.run,
    "shapes": shapes.run,
    "speed": speed.run,
    "start": start.run,
    "steps": steps.run,
    "tables": mixed_tables.run,
    "trees": trees.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suite", choices=[*SUITES, *TABLES])
    parser.add_argument("--quick", action="store_true", help="use few points and write no files")
    parser.add_argument("--only", help="run only cases whose name contains this")
    parser.add_argument(
        "--limit",
        type=float,
        default=60.0,
        help="time limit per peer in seconds (default: %(default)g)",
    )
    parser.add_argument(
        "--cpu", action="store_true", help="measure CPU time, on a machine that others use too"
    )
    parser.add_argument("--draws", type=int, help="labels: number of draws (default: 20)")
    parser.add_argument("--points", type=int, help="labels: largest number of points of a set")
    arguments = parser.parse_args()
    if arguments.suite == "labels":
        labels.run(arguments.only, arguments.quick, arguments.draws, arguments.points)
        return
    if arguments.suite in TABLES:
        TABLES[arguments.suite](arguments.only, arguments.quick)
        return
    clock = "CPU" if arguments.cpu else "wall"
    try:
        run_cases(arguments.suite, arguments.only, arguments.quick, arguments.limit, clock)
    except LookupError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
