"""Graphs by the names that commands give them, and the options that mean something to each."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, NamedTuple

from vicinal.cli.options import flag, number_or_word
from vicinal.exceptions import InvalidValueError


class Kind(NamedTuple):
    """A graph that the command builds, and the options that mean something to it."""

    builder: str
    about: str
    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = {}
    # Such a graph is to be looked at; methods on graphs need an undirected one.
    only_directed: bool = False


KINDS = {
    "knn": Kind(
        "knn", "k nearest neighbours of either end", ("neighbors", "directed", "search", "metric")
    ),
    "mutual-knn": Kind(
        "knn",
        "k nearest neighbours of both ends",
        ("neighbors", "search", "metric"),
        fixed={"mutual": True},
    ),
    "epsilon": Kind("epsilon_ball", "all pairs within a radius", ("metric",), ("radius",)),
    "mst": Kind("mst", "minimum spanning tree", ("metric",)),
    "dmst": Kind("disjoint_mst", "trees that share no edge", ("n_trees", "metric")),
    "pmst": Kind(
        "perturbed_mst",
        "trees of jittered copies; strength is frequency",
        ("n_trees", "jitter", "neighbors", "metric"),
    ),
    "delaunay": Kind("delaunay", "Delaunay triangulation", ("coplanar",)),
    "gabriel": Kind("gabriel", "empty ball over each edge", ("metric",)),
    "rng": Kind("relative_neighborhood", "empty lune over each edge", ("metric",)),
    "beta": Kind("beta_skeleton", "from gabriel (1) to rng (2)", ("metric",), ("beta",)),
    "contextual": Kind(
        "contextual",
        "neighbours by what they mean to each other's context",
        ("neighbors", "descriptor", "metric"),
        only_directed=True,
    ),
    "l1": Kind("l1", "the few others that represent a row", ("penalty",)),
    "structure-aware-l1": Kind(
        "structure_aware_l1", "the few of its own structure that do", ("n_atoms", "penalty")
    ),
    "complete": Kind("complete", "all pairs", ("metric",)),
    "gaussian": Kind("gaussian", "all pairs; strength falls with length", ("scale", "metric")),
}

# The parameter of the builder that an option sets, where it has another name.
PARAMETERS = {"neighbors": "n_neighbors", "search": "method", "jitter": "noise"}
OPTIONS = tuple(dict.fromkeys(o for kind in KINDS.values() for o in kind.options + kind.required))


def add_kinds(
    parser: argparse.ArgumentParser, option: str, default: str | None, extra: str | None = None
) -> None:
    """The choice of a graph and the options of its kind."""
    choices = [name for name, kind in KINDS.items() if not (extra and kind.only_directed)]
    choices += [extra] if extra else []
    parser.add_argument(
        option,
        choices=choices,
        default=default,
        metavar="KIND",
        help=f"{', '.join(choices)}; default: {default or 'knn'}"
        + (f"; {extra}: DATA is a matrix of affinities, the larger the nearer" if extra else ""),
    )
    # Absent unless given: an option that the kind does not use must be an error, not ignored.
    group = parser.add_argument_group("options of some graphs", argument_default=argparse.SUPPRESS)
    group.add_argument("--neighbors", type=int, metavar="N", help="number of neighbours")
    group.add_argument("--search", help="auto, exact or approximate")
    group.add_argument("--radius", type=float, help="longest edge")
    group.add_argument("--n-trees", type=int, metavar="N", help="number of trees")
    group.add_argument("--jitter", type=float, help="in mean neighbour distances")
    group.add_argument("--beta", type=float, help="size of the empty region")
    group.add_argument("--coplanar", help="points on a flat: raise (explain) or joggle")
    group.add_argument("--penalty", type=number_or_word, help="of sparse codes: auto or a number")
    group.add_argument(
        "--n-atoms", type=number_or_word, metavar="N", help="a count, or a share < 1"
    )
    group.add_argument("--scale", type=number_or_word, help="auto, local or a number")
    group.add_argument("--metric", help="euclidean, ..., or precomputed for a distance matrix")
    if extra is None:
        group.add_argument("--directed", action="store_true", help="keep directions of neighbours")
        group.add_argument("--descriptor", help="of a context: coding_length, centroid or trivial")


def kinds_listing() -> str:
    """A line for each kind with its options, for the end of a help page."""
    lines = [
        [f"  {name}", kind.about, " ".join(map(flag, kind.required + kind.options))]
        for name, kind in KINDS.items()
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "kinds of graphs, and the options each of them takes:\n" + "\n".join(
        f"{name:<{widths[0]}}  {about:<{widths[1]}}  {options}" for name, about, options in lines
    )


def kind_parameters(
    chosen: str, option: str, given: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Builder of the chosen graph and its parameters; refuses options that mean nothing to it."""
    kind = KINDS[chosen]
    for name in given:
        if name not in kind.options + kind.required:
            users = [n for n, other in KINDS.items() if name in other.options + other.required]
            raise InvalidValueError(
                f"{flag(name)} means nothing to {option} {chosen}; "
                f"it is an option of {', '.join(users)}."
            )
    for name in kind.required:
        if name not in given:
            raise InvalidValueError(f"{option} {chosen} needs {flag(name)}.")
    named = {PARAMETERS.get(name, name): value for name, value in given.items()}
    return kind.builder, {**kind.fixed, **named}
