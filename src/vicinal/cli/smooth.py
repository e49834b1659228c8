"""``vicinal smooth``: nearest neighbours after self-smoothing."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal._core.tables import RawTable
from vicinal.cli.columns import count_unlabelled, same_class
from vicinal.cli.large import add_store, in_memory, out_of_core
from vicinal.cli.options import (
    add_data,
    add_run_options,
    add_targets,
    add_top,
    check_targets,
    check_top,
    new_command,
    number_or_word,
    read_data,
    run_parameters,
    verbosity,
)
from vicinal.cli.output import write_blocks
from vicinal.cli.plots import new_figure, save_figure
from vicinal.cli.tables import dense_table

# Lines of the output table per block.
LINES_PER_BLOCK = 1 << 20

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
        "improve a similarity and find nearest neighbours",
        "Improve a similarity by self-smoothing and write the nearest neighbours of each row.\n"
        "With --label, also report the fraction of neighbours in the same class, before and after.",
        EXAMPLES,
    )
    add_data(parser, "distances, similarities or points")
    parser.add_argument(
        "--metric",
        help="euclidean, ...; precomputed for a distance matrix, similarity for a similarity matrix "
        "(default: detect square matrices by their diagonal, otherwise euclidean)",
    )
    parser.add_argument(
        "--t", type=number_or_word, default="auto", help="number of smoothing steps (default: auto)"
    )
    add_top(parser)
    kernel = parser.add_argument_group("kernel")
    kernel.add_argument(
        "--neighbors",
        type=int,
        default=30,
        metavar="N",
        help="number of neighbours that set the local scale (default: 30)",
    )
    kernel.add_argument(
        "--bandwidth",
        type=float,
        default=0.1,
        help="width relative to the local scale (default: 0.1)",
    )
    kernel.add_argument(
        "--pairs",
        default="auto",
        help="'dense' uses all pairs, 'sparse' only near ones (default: auto)",
    )
    add_targets(parser, "nearest neighbours")
    add_run_options(parser)
    add_store(parser)


@out_of_core
def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the table, smooth its similarity and write the nearest neighbours."""
    from vicinal import SelfSmoothing
    from vicinal.neighbors.metric import as_metric

    check_targets(arguments)
    matrix = "distances" if as_metric(arguments.metric or "euclidean").is_precomputed else None
    table = read_data(arguments, matrix=matrix, accept_sparse=True)
    detected = "euclidean" if arguments.store is not None else detect_metric(table.points)
    metric = arguments.metric or detected
    if arguments.metric is None and metric != "euclidean":
        meaning = "distances" if metric == "precomputed" else "similarities"
        print(
            f"the square table is interpreted as {meaning}; use --metric euclidean if its rows are points",
            file=sys.stderr,
        )
    points = table.points
    is_matrix = as_metric(metric).is_precomputed or metric == "similarity"
    if hasattr(points, "toarray") and not is_matrix:
        points = dense_table(points, arguments.data)
    top = check_top(arguments, points.shape[0])
    model = SelfSmoothing(
        arguments.t,
        bandwidth=arguments.bandwidth,
        n_neighbors=arguments.neighbors,
        metric=metric,
        method=arguments.pairs,
        **run_parameters(arguments),
    )
    start = time.perf_counter()
    similarities, neighbors = map(in_memory, model.fit(points).kneighbors(n_neighbors=top))
    seconds = time.perf_counter() - start

    facts: dict[str, Any] = {
        "rows": model.n_items_,
        "metric": metric,
        "t": model.t_,
        "neighbours": top,
        **_backend(model.similarity_),
        **class_fractions(model, neighbors, table.labels),
        "seconds": seconds,
    }
    if model.t_curve_ is not None:
        facts["t_curve"] = model.t_curve_
    written = {}
    if arguments.output is not None:
        columns = neighbor_columns(table, similarities, neighbors)
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_blocks(
                columns, -(-neighbors.size // LINES_PER_BLOCK), unfinished, verbosity(arguments)
            )
        written["neighbours"] = arguments.output
    if arguments.plot is not None:
        with atomic_write(arguments.plot, replace=arguments.force) as unfinished:
            draw(model, table.labels, unfinished)
        facts["plot_shows"] = "similarities before and after smoothing; darker is larger"
        written["plot"] = arguments.plot
    return facts | {"written": written}


def neighbor_columns(
    table: RawTable, similarities: np.ndarray, neighbors: np.ndarray
) -> Iterator[dict[str, np.ndarray]]:
    """One line per row and neighbour, in blocks, so that the whole table is never in memory."""
    n, k = neighbors.shape
    size = max(1, LINES_PER_BLOCK // k)
    for start in range(0, n, size):
        block = neighbors[start : start + size]
        rows = np.repeat(np.arange(start, start + len(block)), k)
        columns = {"row": rows, "neighbor": block.ravel()}
        if table.ids is not None:
            columns |= {"id": table.ids[rows], "neighbor_id": table.ids[columns["neighbor"]]}
        columns["rank"] = np.tile(np.arange(1, k + 1), len(block))
        columns["similarity"] = similarities[start : start + size].ravel()
        yield columns


def class_fractions(model: Any, neighbors: np.ndarray, labels: np.ndarray | None) -> dict[str, Any]:
    """Fraction of neighbours in the same class, before and after smoothing."""
    if labels is None:
        return {}
    ((_, (_, before)),) = model.sweep_neighbors([0], neighbors.shape[1])
    rows = np.arange(len(labels))
    return count_unlabelled(labels) | {
        "same_class_before": same_class(labels, rows, before),
        "same_class_after": same_class(labels, rows, neighbors),
    }


def draw(model: Any, labels: np.ndarray | None, path: Path) -> None:
    """Plot the similarities before and after smoothing, sorted by class."""
    from vicinal import plot

    figure = new_figure((12, 6))
    plot.similarity(model.affinity_, model.similarity_, labels=labels, axes=figure.subplots(1, 2))
    save_figure(figure, path)


def _backend(similarity: Any) -> dict[str, Any]:
    """Representation of the similarity, and for sparse ones the method and its recall on a sample."""
    if isinstance(similarity, np.ndarray):
        return {"pairs": "dense"}
    return {
        "pairs": "sparse",
        "backend": similarity.method,
        "sampled_recall": similarity.recall,
    }


def detect_metric(points: Any) -> str:
    """Metric of a table: a square one may be a distance or similarity matrix."""
    if points.shape[0] != points.shape[1]:
        return "euclidean"
    diagonal, largest = points.diagonal(), points.max()
    if (diagonal == 0).all():
        return "precomputed"
    if (diagonal == largest).all() and abs(points - points.T).max() <= 1e-9 * largest:
        return "similarity"
    return "euclidean"
