"""``vicinal rank``: the rows of a table that belong most to one or several of them."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal.cli.columns import Table, same_class, without_label
from vicinal.cli.methods import (
    Method,
    add_methods,
    build_estimator,
    methods_listing,
    takes_matrix,
)
from vicinal.cli.options import (
    add_data,
    add_manner,
    add_targets,
    add_top,
    check_targets,
    check_top,
    new_command,
    read_data,
)
from vicinal.cli.output import write_table
from vicinal.cli.pictures import new_axes, plane_of, save_picture
from vicinal.exceptions import InvalidValueError

METHODS = {
    "perceptual": Method(
        "PerceptualRanking",
        "along contextual distances; keeps to a structure in heavy noise",
        {"neighbors": "n_neighbors", "alpha": "alpha"},
    ),
    "manifold": Method(
        "ManifoldRanking",
        "along a graph of the rows",
        {"scale": "scale", "alpha": "alpha"},
        on_graph=True,
    ),
    "propagation": Method(
        "LabelPropagationRanking",
        "by how much of a label held at the query reaches a row",
        {"scale": "scale", "steps": "n_steps"},
        on_graph=True,
    ),
}

EXAMPLES = """\
examples:
  vicinal rank points.csv --query 17 -k 20
  vicinal rank points.csv --method manifold --graph dmst --query 17 23 42 -k 5 -o found.csv
  vicinal rank people.csv --id name --query Ada Grace -k 10 --plot found.png
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "rank",
        run,
        "find the rows that belong most to a row",
        "Find the rows of a table that belong most to a query, by how the data connect them.",
        f"{methods_listing(METHODS)}\n\n{EXAMPLES}",
    )
    add_data(parser)
    parser.add_argument(
        "--query",
        nargs="+",
        required=True,
        metavar="ROW",
        help="row numbers from 0, or names of rows; with --id always names",
    )
    add_top(parser)
    add_methods(parser, METHODS, "perceptual")
    group = parser.add_argument_group("options of some methods", argument_default=argparse.SUPPRESS)
    group.add_argument(
        "--alpha",
        type=float,
        help="how far to look, below 1: small is by nearness, large by structure",
    )
    group.add_argument("--steps", type=int, metavar="N", help="of the propagation")
    add_targets(parser, "what each query finds")
    add_manner(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read, rank, write, and say what was found."""
    model = build_estimator(arguments, METHODS)
    matrix = takes_matrix(arguments)
    check_targets(arguments, has_coordinates=not matrix)
    table = read_data(arguments, accept_sparse=matrix)
    queries = query_rows(arguments.query, table, by_name=arguments.id is not None)
    top = check_top(arguments, table.points.shape[0])

    start = time.perf_counter()
    found, scores = model.fit(table.points).rank(queries, top)
    seconds = time.perf_counter() - start

    columns = found_columns(queries, found, scores, table)
    facts: dict[str, Any] = {
        "method": arguments.method,
        "rows": table.points.shape[0],
        "columns": table.points.shape[1],
        "queries": len(queries),
        "found": [
            dict(zip(columns, record, strict=True))
            for record in zip(*(column.tolist() for column in columns.values()), strict=True)
        ],
        "seconds": seconds,
    }
    if table.labels is not None:
        facts |= without_label(table.labels)
        facts["same_class"] = same_class(table.labels, queries, found)
    written = {}
    if arguments.output is not None:
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_table(columns, unfinished)
        written["what was found"] = arguments.output
    if arguments.plot is not None:
        with atomic_write(arguments.plot, replace=arguments.force) as unfinished:
            facts["picture_shows"] = draw(table, queries[0], found[0], unfinished)
        written["picture"] = arguments.plot
    return facts | {"written": written}


def query_rows(words: list[str], table: Table, by_name: bool) -> np.ndarray:
    """Row numbers of the queries; a word that is no number is looked up among the names of rows."""
    n = table.points.shape[0]
    names = None if table.ids is None else table.ids.astype(str)
    rows = []
    for word in words:
        if word.lstrip("-").isdigit() and not by_name:
            if not 0 <= int(word) < n:
                raise InvalidValueError(
                    f"--query {word}: the table has the rows 0 to {n - 1}; name one of these."
                )
            rows.append(int(word))
            continue
        if names is None:
            raise InvalidValueError(
                f"--query {word} is no row number, and the rows have no names; name their column "
                "by --id."
            )
        matches = np.flatnonzero(names == word)
        if len(matches) != 1:
            raise InvalidValueError(
                f"--query {word}: {len(matches)} rows have this name, but one is needed; the first "
                f"names are {', '.join(names[:3])}."
            )
        rows.append(int(matches[0]))
    return np.array(rows)


def found_columns(
    queries: np.ndarray, found: np.ndarray, scores: np.ndarray, table: Table
) -> dict[str, np.ndarray]:
    """A line for each query and place, with the names of both rows if they have any."""
    m, k = found.shape
    columns = {"query": np.repeat(queries, k), "rank": np.tile(np.arange(1, k + 1), m)}
    columns["row"] = found.ravel()
    if table.ids is not None:
        columns["query_id"] = np.repeat(table.ids[queries], k)
        columns["id"] = table.ids[found.ravel()]
    if table.labels is not None:
        columns["label"] = table.labels[found.ravel()]
    return columns | {"score": scores.ravel()}


def draw(table: Table, query: int, found: np.ndarray, path: Path) -> str:
    """Write a picture of what the first query found; returns what it shows."""
    from vicinal import plot

    plane = plane_of(table.points)
    figure, ax = new_axes(plane)
    plot.ranking(plane.positions, found, query=int(query), ax=ax)
    save_picture(figure, path)
    return f"what row {query} finds; {plane.shows}"
