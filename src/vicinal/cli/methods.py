"""Estimators the commands can run, and the options of each."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from vicinal.cli.kinds import AFFINITY, MATRICES, PRECOMPUTED, add_kinds, kind_parameters
from vicinal.cli.kinds import OPTIONS as KIND_OPTIONS
from vicinal.cli.names import flag, name_type
from vicinal.cli.options import run_parameters
from vicinal.exceptions import InvalidValueError


class Method(NamedTuple):
    """An estimator of the library, and its options on the command line."""

    estimator: str
    about: str
    # Parameters of the estimator by the options that set them.
    options: Mapping[str, str] = {}
    fixed: Mapping[str, Any] = {}
    # Whether it works on a graph of any kind.
    on_graph: bool = False
    # Meaning of --graph precomputed.
    precomputed: str = AFFINITY


def add_methods(parser: argparse.ArgumentParser, methods: Mapping[str, Method]) -> None:
    """Add the choice of a method and of its graph; the first is the default."""
    aliases = {name: name for name in methods}
    for name, method in methods.items():
        aliases.setdefault(method.estimator, name)
    parser.add_argument(
        "--method",
        type=name_type("method", aliases),
        choices=list(methods),
        metavar="METHOD",
        help=f"{', '.join(methods)}, or the name of the estimator (default: {next(iter(methods))}, or the "
        "first that takes the options given)",
    )
    add_kinds(parser, "--graph", None, matrices=True)


def methods_listing(methods: Mapping[str, Method]) -> str:
    """Two lines per method with its options, for the end of a help page."""
    width = max(map(len, methods))
    lines = []
    for name, method in methods.items():
        options = [
            *map(flag, method.options),
            *(["--graph and its options"] if method.on_graph else []),
        ]
        lines.append(f"  {name:<{width}}  {method.about}\n  {'':<{width}}    {' '.join(options)}")
    return "methods and their options:\n" + "\n".join(lines)


def build_estimator(
    arguments: argparse.Namespace, methods: Mapping[str, Method], **parameters: Any
) -> Any:
    """Estimator with the given options; raises for options it does not take.

    Stores the default method in the arguments, if none was given.
    """
    import vicinal

    known = {"graph", *KIND_OPTIONS, *(o for other in methods.values() for o in other.options)}
    given = {k: v for k, v in vars(arguments).items() if k in known and v is not None}
    if arguments.method is None:
        suitable = [n for n, one in methods.items() if all(_takes(one, name) for name in given)]
        arguments.method = (suitable or list(methods))[0]
    method = methods[arguments.method]
    for name in given:
        users = [n for n, other in methods.items() if _takes(other, name)]
        if arguments.method not in users:
            raise InvalidValueError(
                f"{flag(name)} has no effect with --method {arguments.method}; "
                f"it applies to {', '.join(users)}."
            )
    parameters |= method.fixed
    parameters |= {
        method.options[name]: given.pop(name) for name in method.options if name in given
    }
    if method.on_graph:
        parameters |= _graph_parameters(given.pop("graph", "knn"), given, method)
    estimator = getattr(vicinal, method.estimator)
    accepted = inspect.signature(estimator).parameters
    common = {k: v for k, v in run_parameters(arguments).items() if k in accepted}
    return estimator(**common, **parameters)


def matrix_meaning(arguments: argparse.Namespace, methods: Mapping[str, Method]) -> str | None:
    """``affinity``, ``distances`` or ``kernel`` if the table is a square matrix without coordinates."""
    from vicinal.neighbors.metric import as_metric

    if getattr(arguments, "graph", None) in MATRICES:
        return _matrix_kind(arguments.graph, methods[arguments.method]).removeprefix("precomputed_")
    if as_metric(getattr(arguments, "metric", "euclidean")).is_precomputed:
        return "distances"
    return "kernel" if getattr(arguments, "kernel", None) == PRECOMPUTED else None


def _matrix_kind(chosen: str, method: Method) -> str:
    return method.precomputed if chosen == PRECOMPUTED else chosen


def _takes(method: Method, option: str) -> bool:
    return option in method.options or (method.on_graph and option in ("graph", *KIND_OPTIONS))


def _graph_parameters(chosen: str, given: dict[str, Any], method: Method) -> dict[str, Any]:
    if chosen not in MATRICES:
        builder, parameters = kind_parameters(chosen, "--graph", given)
        return {"graph": builder, "graph_params": parameters}
    for name in given:
        raise InvalidValueError(
            f"{flag(name)} has no effect with --graph {chosen}: the table is the graph."
        )
    return {"graph": _matrix_kind(chosen, method)}
