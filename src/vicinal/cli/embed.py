"""``vicinal embed``: a table in, few coordinates for each row out."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from vicinal._core.files import atomic_write
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
    check_targets,
    new_command,
    number_or_word,
    read_data,
    row_names,
)
from vicinal.cli.output import write_table
from vicinal.cli.pictures import Plane, draw_points

CLUSTER_PRESERVING = {"sigma": "sigma", "neighbors": "n_neighbors", "metric": "metric"}

METHODS = {
    "cpe-lap": Method(
        "ClusterPreservingEmbedding",
        "keeps clusters together and apart, by the best paths between rows",
        CLUSTER_PRESERVING,
        {"method": "laplacian"},
    ),
    "cpe-mds": Method(
        "ClusterPreservingEmbedding",
        "the same by classical scaling",
        CLUSTER_PRESERVING,
        {"method": "mds"},
    ),
    "isomap": Method(
        "Isomap", "keeps distances along a graph", {"landmarks": "n_landmarks"}, on_graph=True
    ),
    "eigenmaps": Method(
        "LaplacianEigenmaps",
        "the slowest directions of a random walk on a graph",
        {"scale": "scale"},
        on_graph=True,
    ),
    "diffusion": Method(
        "DiffusionMaps",
        "distances of a walk after some steps",
        {"t": "t", "alpha": "alpha", "scale": "scale"},
        on_graph=True,
    ),
    "perceptual": Method(
        "PerceptualEmbedding",
        "clusters on lines through the origin, noise near it",
        {"neighbors": "n_neighbors"},
    ),
}

# What a method may have chosen itself.
CHOSEN = ("t", "sigma")

EXAMPLES = """\
examples:
  vicinal embed points.csv --method cpe-lap -o emb.csv --plot emb.png
  vicinal embed points.csv --method isomap --graph dmst --n-trees 5 --dimensions 3 -o emb.parquet
  vicinal embed flowers.csv --standardize --label species --method perceptual --plot emb.png
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "embed",
        run,
        "place the rows of a table in few dimensions",
        "Place the rows of a table in few dimensions; with --label, known classes colour the picture.",
        f"{methods_listing(METHODS)}\n\n{EXAMPLES}",
    )
    add_data(parser)
    parser.add_argument("--dimensions", type=int, default=2, metavar="N", help="default: 2")
    add_methods(parser, METHODS, "cpe-lap")
    group = parser.add_argument_group("options of some methods", argument_default=argparse.SUPPRESS)
    group.add_argument(
        "--landmarks",
        type=int,
        metavar="N",
        help="rows that the others are placed by; some hundreds for many rows",
    )
    group.add_argument("--sigma", type=number_or_word, help="width of the kernel: auto or a number")
    group.add_argument("--t", type=number_or_word, help="steps of a walk: auto or a number")
    group.add_argument("--alpha", type=float, help="share of density taken out, from 0 to 1")
    add_targets(parser, "coordinates of the rows")
    add_manner(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read, embed, write, and say what was found."""
    model = build_estimator(arguments, METHODS, n_components=arguments.dimensions)
    check_targets(arguments)
    table = read_data(arguments, accept_sparse=takes_matrix(arguments))

    start = time.perf_counter()
    places = model.fit_transform(table.points)
    seconds = time.perf_counter() - start

    n, n_dimensions = places.shape
    names = [f"axis_{number}" for number in range(1, n_dimensions + 1)]
    facts = {
        "method": arguments.method,
        "rows": n,
        "columns": table.points.shape[1],
        "dimensions": n_dimensions,
        "axes": [
            {"axis": number, "deviation": deviation, **quality}
            for number, (deviation, quality) in enumerate(
                zip(places.std(axis=0), axis_figures(model, n_dimensions), strict=True), start=1
            )
        ],
        **{name: getattr(model, f"{name}_") for name in CHOSEN if hasattr(model, f"{name}_")},
        "seconds": seconds,
    }
    written = {}
    if arguments.output is not None:
        columns = row_names(table) | dict(zip(names, places.T, strict=True))
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_table(columns, unfinished)
        written["coordinates"] = arguments.output
    if arguments.plot is not None:
        with atomic_write(arguments.plot, replace=arguments.force) as unfinished:
            facts["picture_shows"] = draw_points(drawn_axes(places), unfinished, table.labels)
        written["picture"] = arguments.plot
    return facts | {"written": written}


def axis_figures(model: Any, n_dimensions: int) -> list[dict[str, float]]:
    """What the method itself says of each axis: its eigenvalue, or the variance left after it."""
    figures: list[dict[str, float]] = [{} for _ in range(n_dimensions)]
    for attribute in ("eigenvalues_", "residual_variance_"):
        values = np.ravel(getattr(model, attribute, []))
        if len(values) >= n_dimensions:
            for axis, value in zip(figures, values, strict=False):
                axis[attribute.rstrip("_").removesuffix("s")] = float(value)
    return figures


def drawn_axes(places: np.ndarray) -> Plane:
    """The first axes of an embedding: three if there are just three, else two."""
    shown = places if places.shape[1] <= 3 else places[:, :2]
    titles = ("first axis", "second axis") if shown.shape[1] > 1 else ("first axis", "")
    of = f" of {places.shape[1]}" if shown.shape[1] < places.shape[1] else ""
    return Plane(shown, titles, f"{shown.shape[1]}{of} axes of the embedding")
