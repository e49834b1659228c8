"""``vicinal embed``: low-dimensional coordinates of the rows of a table."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal.cli.kinds import DISTANCES
from vicinal.cli.large import add_store, in_memory, out_of_core
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
    check_targets,
    new_command,
    number_or_word,
    read_data,
    row_names,
)
from vicinal.cli.output import write_table
from vicinal.cli.plots import Plane, draw_points

CLUSTER_PRESERVING = {"sigma": "sigma", "neighbors": "n_neighbors", "metric": "metric"}

METHODS = {
    "map": Method(
        "NeighborMap",
        "keeps neighbours together, for looking at; requires vicinal[map]",
        {"scale": "scale"},
        on_graph=True,
    ),
    "cpe-lap": Method(
        "ClusterPreservingEmbedding",
        "preserves clusters; similarity along the best path between rows",
        CLUSTER_PRESERVING,
        {"method": "laplacian"},
    ),
    "cpe-mds": Method(
        "ClusterPreservingEmbedding",
        "cluster preserving embedding by classical MDS",
        CLUSTER_PRESERVING,
        {"method": "mds"},
    ),
    "isomap": Method(
        "Isomap",
        "preserves shortest-path distances along a graph",
        {"landmarks": "n_landmarks"},
        on_graph=True,
        precomputed=DISTANCES,
    ),
    "eigenmaps": Method(
        "LaplacianEigenmaps",
        "slowest modes of a random walk on a graph",
        {"scale": "scale"},
        on_graph=True,
    ),
    "diffusion": Method(
        "DiffusionMaps",
        "diffusion distances after t steps of a random walk",
        {"t": "t", "alpha": "alpha", "scale": "scale"},
        on_graph=True,
    ),
    "perceptual": Method(
        "PerceptualEmbedding",
        "clusters on lines through the origin, noise near it",
        {"neighbors": "n_neighbors"},
    ),
}

# Parameters that a method may choose automatically.
AUTO_PARAMETERS = ("t", "sigma")

EXAMPLES = """\
examples:
  vicinal embed points.csv -o emb.csv --plot emb.png
  vicinal embed points.csv --method isomap --graph dmst --n-trees 5 --dimensions 3 -o emb.parquet
  vicinal embed flowers.csv --standardize --label species --method perceptual --plot emb.png
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "embed",
        run,
        "embed the rows of a table in few dimensions",
        "Embed the rows of a table in few dimensions. With --label, the plot is coloured by known classes.",
        f"{methods_listing(METHODS)}\n\n{EXAMPLES}",
    )
    add_data(parser)
    parser.add_argument(
        "--dimensions", type=int, default=2, metavar="N", help="number of dimensions (default: 2)"
    )
    add_methods(parser, METHODS)
    group = parser.add_argument_group("options of some methods", argument_default=argparse.SUPPRESS)
    group.add_argument(
        "--landmarks",
        type=int,
        metavar="N",
        help="number of landmark rows; a few hundred for large tables",
    )
    group.add_argument("--sigma", type=number_or_word, help="kernel width: auto or a number")
    group.add_argument(
        "--t", type=number_or_word, help="number of diffusion steps: auto or a number"
    )
    group.add_argument("--alpha", type=float, help="density correction, from 0 (none) to 1 (full)")
    add_targets(parser, "coordinates of the rows")
    add_run_options(parser)
    add_store(parser)


@out_of_core
def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the table, embed it and write the results."""
    model = build_estimator(arguments, METHODS, n_components=arguments.dimensions)
    check_targets(arguments)
    matrix = matrix_meaning(arguments, METHODS)
    table = read_data(arguments, matrix=matrix, accept_sparse=matrix is not None)

    start = time.perf_counter()
    coordinates = in_memory(model.fit_transform(table.points))
    seconds = time.perf_counter() - start

    n, n_dimensions = coordinates.shape
    names = [f"axis_{i}" for i in range(1, n_dimensions + 1)]
    facts = {
        "method": arguments.method,
        "rows": n,
        "columns": table.points.shape[1],
        "dimensions": n_dimensions,
        "axes": [
            {"axis": i, "std": std, **quality}
            for i, (std, quality) in enumerate(
                zip(coordinates.std(axis=0), axis_quality(model, n_dimensions), strict=True),
                start=1,
            )
        ],
        **{
            name: getattr(model, f"{name}_")
            for name in AUTO_PARAMETERS
            if hasattr(model, f"{name}_")
        },
        "seconds": seconds,
    }
    written = {}
    if arguments.output is not None:
        columns = row_names(table) | dict(zip(names, coordinates.T, strict=True))
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_table(columns, unfinished)
        written["coordinates"] = arguments.output
    if arguments.plot is not None:
        with atomic_write(arguments.plot, replace=arguments.force) as unfinished:
            facts["plot_shows"] = draw_points(axes_to_plot(coordinates), unfinished, table.labels)
        written["plot"] = arguments.plot
    return facts | {"written": written}


def axis_quality(model: Any, n_dimensions: int) -> list[dict[str, float]]:
    """Eigenvalue or residual variance of each axis, if the method has them."""
    qualities: list[dict[str, float]] = [{} for _ in range(n_dimensions)]
    for attribute in ("eigenvalues_", "residual_variance_"):
        values = np.ravel(getattr(model, attribute, []))
        if len(values) >= n_dimensions:
            for axis, value in zip(qualities, values, strict=False):
                axis[attribute.rstrip("_").removesuffix("s")] = float(value)
    return qualities


def axes_to_plot(coordinates: np.ndarray) -> Plane:
    """Axes of an embedding to plot: all if there are at most three, otherwise the first two."""
    plotted = coordinates if coordinates.shape[1] <= 3 else coordinates[:, :2]
    titles = ("first axis", "second axis") if plotted.shape[1] > 1 else ("first axis", "")
    total = f" of {coordinates.shape[1]}" if plotted.shape[1] < coordinates.shape[1] else ""
    return Plane(plotted, titles, f"{plotted.shape[1]}{total} axes of the embedding")
