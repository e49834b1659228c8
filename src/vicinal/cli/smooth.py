"""``vicinal smooth``: distances or points in, better neighbours out."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal.cli.columns import Table, same_class, without_label
from vicinal.cli.options import (
    add_data,
    add_manner,
    add_targets,
    add_top,
    check_targets,
    check_top,
    new_command,
    number_or_word,
    read_data,
    verbosity,
)
from vicinal.cli.output import write_blocks
from vicinal.cli.pictures import new_figure, save_picture
from vicinal.cli.tables import full_table

# Lines of the table that are written at a time.
LINES = 1 << 20

EXAMPLES = """\
examples:
  vicinal smooth distances.npy --t auto -o neighbours.parquet
  vicinal smooth points.csv -k 20 -o neighbours.csv
  vicinal smooth flowers.csv --label species --t 10 --plot similarity.png
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "smooth",
        run,
        "improve a similarity and find the nearest rows by it",
        "Improve the similarity that distances or points give by self-smoothing, and write the nearest "
        "rows of each.\nWith --label, also say how many of them are of the same class, before and after.",
        EXAMPLES,
    )
    add_data(parser, "distances, similarities or points")
    parser.add_argument(
        "--metric",
        help="euclidean, ...; precomputed for distances, similarity for similarities; by default, "
        "a square table with a diagonal of zeros is taken for distances",
    )
    parser.add_argument(
        "--t", type=number_or_word, default="auto", help="steps of smoothing: auto or a number"
    )
    add_top(parser)
    kernel = parser.add_argument_group("from distances to similarities")
    kernel.add_argument(
        "--neighbors", type=int, default=30, metavar="N", help="that set the scale; default: 30"
    )
    kernel.add_argument(
        "--bandwidth", type=float, default=0.1, help="times the scale; default: 0.1"
    )
    kernel.add_argument(
        "--pairs", default="auto", help="dense: all, sparse: of near rows, auto; default: auto"
    )
    add_targets(parser, "nearest rows")
    add_manner(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read, smooth, write, and say what was found."""
    from vicinal import SelfSmoothing

    check_targets(arguments)
    table = read_data(arguments, accept_sparse=True)
    metric = arguments.metric or _looks_like(table.points)
    points = table.points
    if hasattr(points, "toarray") and metric not in ("precomputed", "similarity"):
        points = full_table(points, arguments.data)
    top = check_top(arguments, points.shape[0])
    model = SelfSmoothing(
        arguments.t,
        bandwidth=arguments.bandwidth,
        n_neighbors=arguments.neighbors,
        metric=metric,
        method=arguments.pairs,
        random_state=arguments.seed,
        n_jobs=arguments.jobs,
        verbose=verbosity(arguments),
    )
    start = time.perf_counter()
    similarities, neighbors = model.fit(points).kneighbors(n_neighbors=top)
    seconds = time.perf_counter() - start

    facts: dict[str, Any] = {
        "rows": model.n_items_,
        "metric": metric,
        "t": model.t_,
        "neighbours": top,
        **_backend(model.similarity_),
        **gain(model, neighbors, table.labels),
        "seconds": seconds,
    }
    if model.t_curve_ is not None:
        facts["t_curve"] = model.t_curve_
    written = {}
    if arguments.output is not None:
        progress = "writing" if verbosity(arguments) else None
        columns = neighbor_columns(table, similarities, neighbors)
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_blocks(columns, -(-neighbors.size // LINES), unfinished, progress)
        written["neighbours"] = arguments.output
    if arguments.plot is not None:
        with atomic_write(arguments.plot, replace=arguments.force) as unfinished:
            draw(model, table.labels, unfinished)
        facts["picture_shows"] = "similarities before and after, the darkest the largest of a row"
        written["picture"] = arguments.plot
    return facts | {"written": written}


def neighbor_columns(
    table: Table, similarities: np.ndarray, neighbors: np.ndarray
) -> Iterator[dict[str, np.ndarray]]:
    """A line for each row and neighbour, some rows at a time: the whole table is never formed."""
    n, k = neighbors.shape
    size = max(1, LINES // k)
    for start in range(0, n, size):
        near = neighbors[start : start + size]
        rows = np.repeat(np.arange(start, start + len(near)), k)
        columns = {"row": rows, "neighbor": near.ravel()}
        if table.ids is not None:
            columns |= {"id": table.ids[rows], "neighbor_id": table.ids[columns["neighbor"]]}
        columns["rank"] = np.tile(np.arange(1, k + 1), len(near))
        columns["similarity"] = similarities[start : start + size].ravel()
        yield columns


def gain(model: Any, neighbors: np.ndarray, labels: np.ndarray | None) -> dict[str, Any]:
    """Share of the nearest rows that are of the same class, before and after smoothing."""
    if labels is None:
        return {}
    ((_, (_, before)),) = model.sweep_neighbors([0], neighbors.shape[1])
    rows = np.arange(len(labels))
    return without_label(labels) | {
        "same_class_before": same_class(labels, rows, before),
        "same_class_after": same_class(labels, rows, neighbors),
    }


def draw(model: Any, labels: np.ndarray | None, path: Path) -> None:
    """Write a picture of the similarities before and after smoothing, sorted by class."""
    from vicinal import plot

    figure = new_figure((12, 6))
    plot.similarity(model.affinity_, model.similarity_, labels, axes=figure.subplots(1, 2))
    save_picture(figure, path)


def _backend(similarity: Any) -> dict[str, Any]:
    """How the neighbours of many rows were found, and how many of them on a sample."""
    if isinstance(similarity, np.ndarray):
        return {"pairs": "dense"}
    return {
        "pairs": "sparse",
        "found_by": similarity.method,
        "recall_on_a_sample": similarity.recall,
    }


def _looks_like(points: Any) -> str:
    """The metric that fits a table: a square one may hold the distances or similarities of all pairs."""
    if points.shape[0] != points.shape[1]:
        return "euclidean"
    diagonal, largest = points.diagonal(), points.max()
    if (diagonal == 0).all():
        what, metric = "distances", "precomputed"
    elif (diagonal == largest).all() and abs(points - points.T).max() <= 1e-9 * largest:
        what, metric = "similarities", "similarity"
    else:
        return "euclidean"
    print(
        f"the square table is taken for {what}; --metric euclidean takes its rows for points",
        file=sys.stderr,
    )
    return metric
