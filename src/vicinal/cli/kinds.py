"""Graphs the commands can build, and the options of each."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, NamedTuple

from vicinal.cli.names import flag, name_type
from vicinal.cli.options import number_or_word
from vicinal.exceptions import InvalidValueError


class Kind(NamedTuple):
    """A kind of graph: the function that builds it, and the options it takes."""

    builder: str
    about: str
    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = {}
    # Methods on graphs need an undirected one.
    only_directed: bool = False


KINDS = {
    "knn": Kind(
        "knn",
        "k nearest neighbours of either end",
        ("neighbors", "directed", "search", "metric", "duplicates"),
    ),
    "mutual-knn": Kind(
        "knn",
        "k nearest neighbours of both ends",
        ("neighbors", "search", "metric", "duplicates"),
        fixed={"mutual": True},
    ),
    "epsilon": Kind(
        "epsilon_ball", "all pairs within a radius", ("metric", "duplicates"), ("radius",)
    ),
    "mst": Kind("mst", "minimum spanning tree", ("metric",)),
    "dmst": Kind("disjoint_mst", "edge-disjoint spanning trees", ("n_trees", "metric")),
    "pmst": Kind(
        "perturbed_mst",
        "spanning trees of perturbed points; strength is frequency",
        ("n_trees", "jitter", "neighbors", "metric"),
    ),
    "delaunay": Kind("delaunay", "Delaunay triangulation", ("coplanar", "duplicates")),
    "gabriel": Kind("gabriel", "empty ball over each edge", ("metric", "duplicates")),
    "rng": Kind("relative_neighborhood", "empty lune over each edge", ("metric", "duplicates")),
    "beta": Kind(
        "beta_skeleton", "from gabriel (1) to rng (2)", ("metric", "duplicates"), ("beta",)
    ),
    "contextual": Kind(
        "contextual",
        "nearest neighbours, weighted by contextual distance",
        ("neighbors", "descriptor", "metric"),
        only_directed=True,
    ),
    "l1": Kind("l1", "sparse representation by other rows", ("penalty",)),
    "structure-aware-l1": Kind(
        "structure_aware_l1",
        "sparse representation by rows of the same structure",
        ("n_atoms", "penalty"),
    ),
    "complete": Kind("complete", "all pairs", ("metric",)),
    "gaussian": Kind("gaussian", "all pairs; strength falls with length", ("scale", "metric")),
}

# Matrices that replace a graph. What plain "precomputed" means depends on the method.
AFFINITY, DISTANCES, PRECOMPUTED = "precomputed_affinity", "precomputed_distances", "precomputed"
MATRICES = (AFFINITY, DISTANCES, PRECOMPUTED)

# Parameters of the builders that options set, where the names differ.
PARAMETERS = {"neighbors": "n_neighbors", "search": "method", "jitter": "noise"}
OPTIONS = tuple(dict.fromkeys(o for kind in KINDS.values() for o in kind.options + kind.required))


def add_kinds(
    parser: argparse.ArgumentParser, option: str, default: str | None, *, matrices: bool = False
) -> None:
    """Add the choice of a graph and the options of its kind; with `matrices`, also of a matrix."""
    kinds = {name: kind for name, kind in KINDS.items() if not (matrices and kind.only_directed)}
    choices = [*kinds, *(MATRICES if matrices else ())]
    aliases = {name: name for name in choices}
    for name, kind in kinds.items():
        aliases.setdefault(kind.builder, name)
    parser.add_argument(
        option,
        type=name_type("graph", aliases),
        choices=choices,
        default=default,
        metavar="KIND",
        help=f"{', '.join(kinds)}, or the name of the function, such as disjoint_mst "
        f"(default: {default or 'knn'})"
        + (
            f"; {AFFINITY} or {DISTANCES} if DATA is a square matrix; plain {PRECOMPUTED} means "
            "distances for isomap and affinities for other methods"
            if matrices
            else ""
        ),
    )
    # Absent unless given, so that an option the kind does not use is an error instead of ignored.
    group = parser.add_argument_group("options of some graphs", argument_default=argparse.SUPPRESS)
    group.add_argument("--neighbors", type=int, metavar="N", help="number of neighbours")
    group.add_argument("--search", help="neighbour search: auto, exact or approximate")
    group.add_argument("--radius", type=float, help="maximum edge length")
    group.add_argument("--n-trees", type=int, metavar="N", help="number of trees")
    group.add_argument(
        "--jitter", type=float, help="perturbation, relative to the mean neighbour distance"
    )
    group.add_argument("--beta", type=float, help="size of the empty region (1: gabriel, 2: rng)")
    group.add_argument(
        "--coplanar",
        help="degenerate (coplanar) points: 'raise' an error or 'joggle' them slightly",
    )
    group.add_argument(
        "--duplicates", help="'merge' duplicate rows into one point, or 'keep' all of them"
    )
    group.add_argument(
        "--penalty", type=number_or_word, help="L1 penalty of sparse codes: auto or a number"
    )
    group.add_argument(
        "--n-atoms",
        type=number_or_word,
        metavar="N",
        help="dictionary size: a number of rows, or a fraction below 1",
    )
    group.add_argument("--scale", type=number_or_word, help="kernel scale: auto, local or a number")
    group.add_argument("--metric", help="euclidean, ..., or precomputed for a distance matrix")
    if not matrices:
        group.add_argument(
            "--directed", action="store_true", help="directed edges from each row to its neighbours"
        )
        group.add_argument(
            "--descriptor", help="context descriptor: coding_length, centroid or trivial"
        )


def kinds_listing() -> str:
    """One line per kind with its options, for the end of a help page."""
    lines = [
        [f"  {name}", kind.about, " ".join(map(flag, kind.required + kind.options))]
        for name, kind in KINDS.items()
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "kinds of graphs and their options:\n" + "\n".join(
        f"{name:<{widths[0]}}  {about:<{widths[1]}}  {options}" for name, about, options in lines
    )


def kind_parameters(
    chosen: str, option: str, given: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Builder of the chosen graph and its parameters; raises for options it does not take."""
    kind = KINDS[chosen]
    for name in given:
        if name not in kind.options + kind.required:
            users = [n for n, other in KINDS.items() if name in other.options + other.required]
            raise InvalidValueError(
                f"{flag(name)} has no effect with {option} {chosen}; it applies to {', '.join(users)}."
            )
    for name in kind.required:
        if name not in given:
            raise InvalidValueError(f"{option} {chosen} needs {flag(name)}.")
    parameters = {PARAMETERS.get(name, name): value for name, value in given.items()}
    return kind.builder, {**kind.fixed, **parameters}
