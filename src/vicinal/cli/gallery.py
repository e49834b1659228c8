"""``vicinal demo graphs``: every proximity graph of a noisy spiral, as a table and a figure."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal import graphs
from vicinal._core.files import atomic_write
from vicinal.cli.output import check_overwrite
from vicinal.exceptions import MissingDependencyError

if TYPE_CHECKING:
    from vicinal.graphs.graph import Graph

RADIUS = 0.15

GALLERY: dict[str, Callable[[Any], Graph]] = {
    "knn, k = 5": lambda X: graphs.knn(X, 5),
    "mutual knn, k = 5": lambda X: graphs.knn(X, 5, mutual=True),
    "directed knn, k = 5": lambda X: graphs.knn(X, 5, directed=True),
    f"epsilon ball, {RADIUS}": lambda X: graphs.epsilon_ball(X, RADIUS),
    "mst": lambda X: graphs.mst(X),
    "perturbed mst, 20 trees": lambda X: graphs.perturbed_mst(X, random_state=0),
    "disjoint mst, 4 trees": lambda X: graphs.disjoint_mst(X, 4),
    "relative neighborhood": lambda X: graphs.relative_neighborhood(X),
    "beta skeleton, 1.5": lambda X: graphs.beta_skeleton(X, 1.5),
    "gabriel": lambda X: graphs.gabriel(X),
    "delaunay": lambda X: graphs.delaunay(X),
    "complete": lambda X: graphs.complete(X),
    "gaussian": lambda X: graphs.gaussian(X),
}


def show_gallery(folder: Path, force: bool) -> dict[str, Any]:
    """Build and plot every graph; returns their properties."""
    from vicinal.datasets import load_noisy_spiral

    path = folder / "graphs.png"
    check_overwrite([path], force)
    points = load_noisy_spiral()
    folder.mkdir(parents=True, exist_ok=True)
    built = {name: build(points) for name, build in GALLERY.items()}
    with atomic_write(path, replace=force) as unfinished:
        draw_gallery(points, built, unfinished)
    return {
        "points": len(points),
        "graphs": [
            {
                "graph": name,
                "edges": graph.n_edges,
                "components": graph.n_components,
                "longest_edge": graph.lengths.max(),
            }
            for name, graph in built.items()
        ],
        "written": {"figure": path},
    }


def draw_gallery(points: np.ndarray, built: dict[str, Graph], path: Path) -> None:
    """Write one figure with the points and all graphs."""
    try:
        from matplotlib.figure import Figure
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError(
            "the demo needs matplotlib: pip install 'vicinal[plot]'."
        ) from error
    from vicinal import plot
    from vicinal.graphs.graph import Graph

    n_columns = 5
    n_rows = -(-(len(built) + 1) // n_columns)
    figure = Figure(figsize=(2.4 * n_columns, 2.55 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns).ravel()
    for ax in axes:
        ax.set_axis_off()
    no_edges = Graph.from_edges(len(points), [], [], points=points)
    for ax, (name, graph) in zip(axes, {"points": no_edges, **built}.items(), strict=False):
        plot.graph(graph, points, ax=ax, point_size=4, edge_width=0.5)
        ax.set_title(name, fontsize=9)
    buffer = BytesIO()
    figure.savefig(buffer, dpi=110)
    # A palette makes the file a third as large.
    Image.open(buffer).convert("RGB").quantize(64).save(path, optimize=True)
