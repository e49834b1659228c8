"""Estimators by the names that commands give them, and the options that mean something to each."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from vicinal.cli.kinds import OPTIONS as KIND_OPTIONS
from vicinal.cli.kinds import add_kinds, kind_parameters
from vicinal.cli.options import flag, verbosity
from vicinal.exceptions import InvalidValueError


class Method(NamedTuple):
    """An estimator of the library and how the command line speaks of it."""

    estimator: str
    about: str
    # Parameters of the estimator by the options that set them.
    options: Mapping[str, str] = {}
    fixed: Mapping[str, Any] = {}
    # Whether it works on a graph of any kind.
    on_graph: bool = False


def add_methods(
    parser: argparse.ArgumentParser, methods: Mapping[str, Method], default: str
) -> None:
    """The choice of a method, and of the graph it works on."""
    parser.add_argument(
        "--method",
        choices=methods,
        default=default,
        metavar="METHOD",
        help=f"{', '.join(methods)}; default: {default}",
    )
    add_kinds(parser, "--graph", None, extra="precomputed")


def methods_listing(methods: Mapping[str, Method]) -> str:
    """A line for each method with its options, for the end of a help page."""
    width = max(map(len, methods))
    lines = []
    for name, method in methods.items():
        words = [
            *map(flag, method.options),
            *(["--graph and its options"] if method.on_graph else []),
        ]
        lines.append(f"  {name:<{width}}  {method.about}\n  {'':<{width}}    {' '.join(words)}")
    return "methods, and the options each of them takes:\n" + "\n".join(lines)


def build_estimator(
    arguments: argparse.Namespace, methods: Mapping[str, Method], **parameters: Any
) -> Any:
    """The estimator that the options ask for; refuses options that mean nothing to it."""
    import vicinal

    method = methods[arguments.method]
    known = {"graph", *KIND_OPTIONS, *(o for other in methods.values() for o in other.options)}
    given = {k: v for k, v in vars(arguments).items() if k in known and v is not None}
    for name in given:
        users = [n for n, other in methods.items() if _takes(other, name)]
        if arguments.method not in users:
            raise InvalidValueError(
                f"{flag(name)} means nothing to --method {arguments.method}; "
                f"it is an option of {', '.join(users)}."
            )
    own = {name: given.pop(name) for name in method.options if name in given}
    if method.on_graph:
        parameters |= _graph_parameters(given.pop("graph", "knn"), given)
    parameters |= {**method.fixed, **{method.options[name]: own[name] for name in own}}
    kind = getattr(vicinal, method.estimator)
    accepted = inspect.signature(kind).parameters
    manner = {
        "random_state": arguments.seed,
        "n_jobs": arguments.jobs,
        "verbose": verbosity(arguments),
    }
    return kind(**{k: v for k, v in manner.items() if k in accepted}, **parameters)


def takes_matrix(arguments: argparse.Namespace) -> bool:
    """Whether the table is a matrix of all pairs, which has no coordinates."""
    chosen = (getattr(arguments, option, None) for option in ("graph", "metric", "kernel"))
    return "precomputed" in chosen


def _takes(method: Method, option: str) -> bool:
    return option in method.options or (method.on_graph and option in ("graph", *KIND_OPTIONS))


def _graph_parameters(chosen: str, given: dict[str, Any]) -> dict[str, Any]:
    if chosen != "precomputed":
        builder, parameters = kind_parameters(chosen, "--graph", given)
        return {"graph": builder, "graph_params": parameters}
    for name in given:
        raise InvalidValueError(
            f"{flag(name)} means nothing to --graph precomputed, where the table is the graph."
        )
    return {"graph": "precomputed"}
