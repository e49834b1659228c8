"""``vicinal graph``: a proximity graph of the rows of a table."""

from __future__ import annotations

import argparse
import inspect
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal.cli.kinds import OPTIONS, add_kinds, kind_parameters, kinds_listing
from vicinal.cli.large import add_store, out_of_core
from vicinal.cli.options import (
    add_data,
    add_run_options,
    add_targets,
    check_targets,
    new_command,
    read_data,
    run_parameters,
)
from vicinal.cli.output import write_table
from vicinal.cli.plots import new_axes, project_to_plane, save_figure

if TYPE_CHECKING:
    from vicinal.graphs.graph import Graph

EXAMPLES = """\
examples:
  vicinal graph points.csv --kind dmst --n-trees 4 -o edges.csv --plot graph.png
  vicinal graph points.parquet --kind knn --neighbors 15 -o edges.npz
  vicinal graph distances.npy --kind mst --metric precomputed -o tree.tsv
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "graph",
        run,
        "build a proximity graph of the rows of a table",
        "Build a proximity graph of the rows of a table.",
        f"{kinds_listing()}\n\n{EXAMPLES}",
    )
    add_data(parser)
    add_kinds(parser, "--kind", "dmst")
    add_targets(parser, "edges")
    add_run_options(parser)
    add_store(parser)


@out_of_core
def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the table, build the graph and write the results."""
    from vicinal import graphs
    from vicinal.neighbors.metric import as_metric

    given = {name: value for name, value in vars(arguments).items() if name in OPTIONS}
    name, parameters = kind_parameters(arguments.kind, "--kind", given)
    matrix = (
        "distances" if as_metric(parameters.get("metric", "euclidean")).is_precomputed else None
    )
    check_targets(arguments, has_coordinates=matrix is None)
    table = read_data(arguments, matrix=matrix)

    builder = getattr(graphs, name)
    accepted = inspect.signature(builder).parameters
    common = {k: v for k, v in run_parameters(arguments).items() if k in accepted}
    start = time.perf_counter()
    graph = builder(table.points, **common, **parameters)
    seconds = time.perf_counter() - start

    facts = describe_graph(graph, arguments.kind, table.points.shape[1]) | {"seconds": seconds}
    written = {}
    if arguments.output is not None:
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_edges(graph, unfinished, table.ids)
        written["edges"] = arguments.output
    if arguments.plot is not None:
        with atomic_write(arguments.plot, replace=arguments.force) as unfinished:
            facts["plot_shows"] = draw(graph, table.points, unfinished)
        written["plot"] = arguments.plot
    return facts | {"written": written}


def describe_graph(graph: Graph, kind: str, n_columns: int) -> dict[str, Any]:
    """Size, connectivity and edge lengths of a graph."""
    facts: dict[str, Any] = {
        "kind": kind,
        "nodes": graph.n_nodes,
        "columns": n_columns,
        "edges": graph.n_edges,
        "components": graph.n_components,
        "isolates": graph.n_isolates,
    }
    if graph.n_edges:
        facts["shortest_edge"] = graph.lengths.min()
        facts["median_edge"] = np.median(graph.lengths)
        facts["longest_edge"] = graph.lengths.max()
    return facts


def write_edges(graph: Graph, path: Path, ids: np.ndarray | None = None) -> None:
    """Write source, target, their names, length and strength; each undirected edge once."""
    from vicinal._core.memory import require_memory
    from vicinal.plot.network import listed_entries

    require_memory(
        50.0 * len(graph.indices),
        f"Writing {graph.n_edges:,} edges",
        "Choose a sparser graph.",
    )
    listed = listed_entries(graph)
    source, target = graph.edges().T
    columns = {"source": source, "target": target}
    if ids is not None:
        columns |= {"source_id": ids[source], "target_id": ids[target]}
    columns |= {"length": graph.lengths[listed], "strength": graph.strengths[listed]}
    write_table(columns, path)


def draw(graph: Graph, points: np.ndarray, path: Path) -> str:
    """Plot the graph; returns what the plot shows."""
    from vicinal import plot

    plane = project_to_plane(points)
    figure, ax = new_axes(plane)
    plot.graph(graph, points, embedding=plane.positions, ax=ax)
    save_figure(figure, path)
    return plane.shows
