"""``vicinal rank``: rows ranked by similarity to query rows, along the structure of the data."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal._core.suggestions import suggestion
from vicinal._core.tables import RawTable
from vicinal.cli.columns import count_unlabelled, same_class
from vicinal.cli.methods import (
    Method,
    add_methods,
    build_estimator,
    matrix_meaning,
    methods_listing,
)
from vicinal.cli.options import (
    add_data,
    add_run_options,
    add_targets,
    add_top,
    check_targets,
    check_top,
    new_command,
    new_rows,
    read_data,
)
from vicinal.cli.output import write_table
from vicinal.cli.plots import new_axes, project_to_plane, save_figure
from vicinal.exceptions import InvalidValueError

METHODS = {
    "perceptual": Method(
        "PerceptualRanking",
        "contextual distances; follows structures in heavy noise",
        {"neighbors": "n_neighbors", "alpha": "alpha"},
    ),
    "manifold": Method(
        "ManifoldRanking",
        "diffusion along a graph",
        {"scale": "scale", "alpha": "alpha"},
        on_graph=True,
    ),
    "propagation": Method(
        "ManifoldRanking",
        "label propagation along a graph from the query",
        {"scale": "scale", "steps": "n_steps"},
        {"n_steps": 100},
        on_graph=True,
    ),
}

EXAMPLES = """\
examples:
  vicinal rank points.csv --query 17 -k 20
  vicinal rank points.csv --method manifold --graph dmst --query 17 23 42 -k 5 -o results.csv
  vicinal rank stock.csv --id part --queries wanted.csv -k 5 --json
  vicinal rank people.csv --id name --query Ada Grace -k 10 --plot results.png
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "rank",
        run,
        "rank rows by similarity to a query row",
        "Rank the rows of a table by similarity to query rows, along the structure of the data.",
        f"{methods_listing(METHODS)}\n\n{EXAMPLES}",
    )
    add_data(parser)
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument(
        "--query",
        nargs="+",
        metavar="ROW",
        help="row numbers (from 0) or row names; with --id, always names",
    )
    wanted.add_argument(
        "--queries",
        type=Path,
        metavar="FILE",
        help="table of new rows with the same columns, each a query",
    )
    add_top(parser)
    add_methods(parser, METHODS)
    group = parser.add_argument_group("options of some methods", argument_default=argparse.SUPPRESS)
    group.add_argument(
        "--alpha",
        type=float,
        help="diffusion range, below 1: small values rank by distance, large ones by structure; "
        "perceptual chooses it from the data by default",
    )
    group.add_argument("--steps", type=int, metavar="N", help="number of propagation steps")
    add_targets(parser, "results of each query", printed=True)
    add_run_options(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the table, rank its rows and write the results."""
    model = build_estimator(arguments, METHODS)
    matrix = matrix_meaning(arguments, METHODS)
    check_targets(arguments, has_coordinates=matrix is None)
    table = read_data(arguments, matrix=matrix, accept_sparse=matrix is not None)
    top = check_top(arguments, table.points.shape[0])
    query_ids = table.ids
    if arguments.queries is None:
        queries = query_rows(arguments.query, table, by_name=arguments.id is not None)
        wanted = queries
    else:
        wanted, query_ids = new_rows(arguments.queries, table, arguments.id)
        queries = np.arange(len(wanted))

    start = time.perf_counter()
    ranked, scores = model.fit(table.points).rank(wanted, top)
    seconds = time.perf_counter() - start

    columns = result_columns(queries, ranked, scores, table, query_ids)
    facts: dict[str, Any] = {
        "method": arguments.method,
        "rows": table.points.shape[0],
        "columns": table.points.shape[1],
        "queries": len(queries),
        "results": [
            dict(zip(columns, record, strict=True))
            for record in zip(*(column.tolist() for column in columns.values()), strict=True)
        ],
        "seconds": seconds,
    }
    if table.labels is not None and arguments.queries is None:
        facts |= count_unlabelled(table.labels)
        facts["same_class"] = same_class(table.labels, queries, ranked)
    written = {}
    if arguments.output is not None:
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_table(columns, unfinished)
        written["results"] = arguments.output
    if arguments.plot is not None:
        with atomic_write(arguments.plot, replace=arguments.force) as unfinished:
            query = None if arguments.queries is not None else int(queries[0])
            facts["plot_shows"] = draw(table, query, ranked[0], unfinished)
        written["plot"] = arguments.plot
    return facts | {"written": written}


def query_rows(queries: list[str], table: RawTable, by_name: bool) -> np.ndarray:
    """Row numbers of the queries; anything but a number is looked up among the row names."""
    n = table.points.shape[0]
    names = None if table.ids is None else table.ids.astype(str)
    rows = []
    for query in queries:
        if query.lstrip("-").isdigit() and not by_name:
            if not 0 <= int(query) < n:
                raise InvalidValueError(
                    f"--query {query}: the table has rows 0 to {n - 1}; choose one of them."
                )
            rows.append(int(query))
            continue
        if names is None:
            raise InvalidValueError(
                f"--query {query} is not a row number, and the rows have no names; use --id to choose "
                "the column of row names."
            )
        matches = np.flatnonzero(names == query)
        if len(matches) == 0:
            raise InvalidValueError(
                f"--query {query}: no row has this name{suggestion(query, names.tolist())}; the first "
                f"names are {', '.join(names[:3])}."
            )
        if len(matches) > 1:
            raise InvalidValueError(
                f"--query {query}: {len(matches)} rows have this name; use a row number without --id, "
                "or a column of unique names."
            )
        rows.append(int(matches[0]))
    return np.array(rows)


def result_columns(
    queries: np.ndarray,
    ranked: np.ndarray,
    scores: np.ndarray,
    table: RawTable,
    query_ids: np.ndarray | None,
) -> dict[str, np.ndarray]:
    """One line per query and rank, with row names and labels if there are any."""
    m, k = ranked.shape
    columns = {"query": np.repeat(queries, k), "rank": np.tile(np.arange(1, k + 1), m)}
    columns["row"] = ranked.ravel()
    if query_ids is not None:
        columns["query_id"] = np.repeat(query_ids[queries], k)
    if table.ids is not None:
        columns["id"] = table.ids[ranked.ravel()]
    if table.labels is not None:
        columns["label"] = table.labels[ranked.ravel()]
    return columns | {"score": scores.ravel()}


def draw(table: RawTable, query: int | None, ranked: np.ndarray, path: Path) -> str:
    """Plot the results of the first query; returns what the plot shows."""
    from vicinal import plot

    plane = project_to_plane(table.points)
    figure, ax = new_axes(plane)
    plot.ranking(plane.positions, ranked, query=query, ax=ax)
    save_figure(figure, path)
    which = "the first query" if query is None else f"row {query}"
    return f"results for {which}; {plane.shows}"
