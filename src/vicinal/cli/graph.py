"""``vicinal graph``: a table in, edges and a picture out."""

from __future__ import annotations

import argparse
import inspect
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal import graphs
from vicinal.cli.output import (
    EDGE_FORMATS,
    FIGURE_FORMATS,
    check_target,
    format_rows,
    whole_file,
    write_edges,
)
from vicinal.cli.tables import READERS, read_table
from vicinal.graphs.graph import Graph


class Kind(NamedTuple):
    """A graph that the command builds, and the options that mean something to it."""

    builder: str
    about: str
    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = {}


KINDS = {
    "knn": Kind("knn", "k nearest neighbours of either end", ("k", "directed", "method", "metric")),
    "mutual-knn": Kind(
        "knn", "k nearest neighbours of both ends", ("k", "method", "metric"), (), {"mutual": True}
    ),
    "epsilon": Kind("epsilon_ball", "all pairs within a radius", ("metric",), ("radius",)),
    "mst": Kind("mst", "minimum spanning tree", ("metric",)),
    "dmst": Kind("disjoint_mst", "trees that share no edge", ("n_trees", "metric")),
    "pmst": Kind(
        "perturbed_mst",
        "trees of jittered copies; strength is frequency",
        ("n_trees", "noise", "k", "seed", "metric"),
    ),
    "delaunay": Kind("delaunay", "Delaunay triangulation", ("coplanar",)),
    "gabriel": Kind("gabriel", "empty ball over each edge", ("metric",)),
    "rng": Kind("relative_neighborhood", "empty lune over each edge", ("metric",)),
    "beta": Kind("beta_skeleton", "from gabriel (1) to rng (2)", ("metric",), ("beta",)),
    "complete": Kind("complete", "all pairs", ("metric",)),
    "gaussian": Kind("gaussian", "all pairs; strength falls with length", ("scale", "metric")),
}

# The parameter of the builder that an option sets, where it has another name.
PARAMETERS = {"seed": "random_state"}

EXAMPLES = """\
examples:
  vicinal graph points.csv --kind dmst --n-trees 4 -o edges.csv --plot graph.png
  vicinal graph points.parquet --kind knn --k 15 -o edges.npz
  vicinal graph distances.npy --kind mst --metric precomputed -o tree.tsv
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    kinds = [
        [f"  {name}", kind.about, " ".join(map(_flag, kind.required + kind.options))]
        for name, kind in KINDS.items()
    ]
    widths = [max(map(len, column)) for column in zip(*kinds, strict=True)]
    listing = "\n".join(
        f"{name:<{widths[0]}}  {about:<{widths[1]}}  {options}" for name, about, options in kinds
    )
    parser = commands.add_parser(
        "graph",
        help="build a proximity graph of the rows of a table",
        description="Build a proximity graph of the rows of a table, without a scale to tune.",
        epilog=f"kinds, and the options each of them takes:\n{listing}\n\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    parser.add_argument("data", type=Path, help=f"table of points: {' '.join(READERS)}")
    parser.add_argument("--key", help="array of an .npz, or .obsm entry of an .h5ad file")
    parser.add_argument("--kind", choices=KINDS, default="dmst", help="default: %(default)s")
    parser.add_argument("-o", "--output", type=Path, help=f"edges: {' '.join(EDGE_FORMATS)}")
    parser.add_argument("--plot", type=Path, help=f"picture: {' '.join(FIGURE_FORMATS)}")
    parser.add_argument("--n-jobs", type=int, help="threads; all cores by default")
    parser.add_argument(
        "--progress", action="store_true", help="show a bar even where stderr is no terminal"
    )
    # Absent unless given: an option that the kind does not use must be an error, not ignored.
    group = parser.add_argument_group("options of some kinds", argument_default=argparse.SUPPRESS)
    group.add_argument("--k", type=int, help="number of neighbours")
    group.add_argument("--directed", action="store_true", help="keep directions of neighbours")
    group.add_argument("--method", help="auto, exact or approximate search")
    group.add_argument("--radius", type=float, help="longest edge")
    group.add_argument("--n-trees", type=int, help="number of trees")
    group.add_argument("--noise", type=float, help="jitter in mean neighbour distances")
    group.add_argument("--seed", type=int, help="seed of the jitter")
    group.add_argument("--beta", type=float, help="size of the empty region")
    group.add_argument("--coplanar", help="points on a flat: raise (explain) or joggle")
    group.add_argument("--scale", type=_scale, help="auto, local or a number")
    group.add_argument("--metric", help="euclidean, ..., or precomputed for a distance matrix")


def run(arguments: argparse.Namespace) -> None:
    """Read, build, write, and say what was found."""
    kind = KINDS[arguments.kind]
    parameters = _parameters(arguments, kind)
    if arguments.plot is not None and parameters.get("metric") == "precomputed":
        raise ValueError("--plot needs coordinates, but a distance matrix has none; leave it out.")
    if arguments.output is not None:
        check_target(arguments.output, EDGE_FORMATS, "--output")
    if arguments.plot is not None:
        check_target(arguments.plot, FIGURE_FORMATS, "--plot")
    table = read_table(arguments.data, arguments.key)
    for note in table.notes:
        print(f"{arguments.data.name}: {note}", file=sys.stderr)

    start = time.perf_counter()
    graph = getattr(graphs, kind.builder)(table.points, **parameters)
    seconds = time.perf_counter() - start

    if arguments.output is not None:
        write_edges(graph, arguments.output)
    print(summary(graph, arguments.kind, table.points.shape, seconds))
    if arguments.output is not None:
        print(f"edges written to {arguments.output}")
    if arguments.plot is not None:
        how = draw(graph, table.points, arguments.plot)
        print(f"picture written to {arguments.plot}{how}")


def summary(graph: Graph, kind: str, shape: tuple[int, ...], seconds: float) -> str:
    """Figures that tell whether a graph is what was hoped for."""
    rows = [
        ["kind", kind],
        ["nodes", f"{graph.n_nodes:,}"],
        ["columns", f"{shape[1]:,}"],
        ["edges", f"{graph.n_edges:,}"],
        ["components", f"{graph.n_components:,}"],
        ["isolates", f"{graph.n_isolates:,}"],
    ]
    if graph.n_edges:
        lengths = graph.lengths
        for name, value in [
            ("shortest edge", lengths.min()),
            ("median edge", np.median(lengths)),
            ("longest edge", lengths.max()),
        ]:
            rows.append([name, f"{value:.6g}"])
    return format_rows([*rows, ["time", f"{seconds:.2f} s"]])


def draw(graph: Graph, points: np.ndarray, path: Path) -> str:
    """Write a picture; returns what must be said about it."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("--plot needs matplotlib: pip install 'vicinal[plot]'.") from error
    from vicinal import plot

    embedding, how = None, ""
    if points.shape[1] > 3:
        embedding = _principal_plane(points)
        how = f" ({points.shape[1]} columns seen in the plane of their two principal components)"
    # Not pyplot: it would look for a screen.
    figure = Figure(figsize=(7, 7), layout="constrained")
    ax = figure.add_subplot(projection="3d" if points.shape[1] == 3 else None)
    plot.graph(graph, points, embedding=embedding, ax=ax)
    if embedding is not None:
        ax.set(xlabel="first principal component", ylabel="second principal component")
    with whole_file(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
    return how


def _parameters(arguments: argparse.Namespace, kind: Kind) -> dict[str, Any]:
    every = {name for other in KINDS.values() for name in other.options + other.required}
    given = {name: value for name, value in vars(arguments).items() if name in every}
    for name in given:
        if name not in kind.options + kind.required:
            users = [n for n, other in KINDS.items() if name in other.options + other.required]
            raise ValueError(
                f"{_flag(name)} means nothing to --kind {arguments.kind}; "
                f"it is an option of {', '.join(users)}."
            )
    for name in kind.required:
        if name not in given:
            raise ValueError(f"--kind {arguments.kind} needs {_flag(name)}.")
    named = {PARAMETERS.get(name, name): value for name, value in given.items()}
    # How the work is done, not what is built: given to the builders that can make use of it.
    manner = {
        "n_jobs": arguments.n_jobs,
        "verbose": int(arguments.progress or sys.stderr.isatty()),
    }
    accepted = inspect.signature(getattr(graphs, kind.builder)).parameters
    return {
        **kind.fixed,
        **named,
        **{name: value for name, value in manner.items() if name in accepted},
    }


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _scale(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _principal_plane(points: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import PCA

    plane = np.zeros((len(points), 2))
    if len(points) > 1:
        plane[:] = PCA(n_components=2, random_state=0).fit_transform(points)
    return plane
