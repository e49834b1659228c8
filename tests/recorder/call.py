"""A call of something public, declared in a line: what is called, on which inputs, with which options.

Its name is made of these. `call` is for functions, `fit` for estimators and other objects, whose methods are
asked as well, and `odd` for inputs that are refused.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from sklearn.base import clone

from .digest import attempt
from .expect import Expectation, anything, by_row, error, every, same_form
from .inputs import Input


class Outcome(NamedTuple):
    """What a call gave: its result, which may be an error, and the warnings on the way."""

    result: Any
    warned: list[str]


@dataclass(frozen=True)
class Call:
    name: str
    run_with: Callable[[dict[str, Any]], Any]
    expect: Expectation

    def run(self, n_jobs: int = 2) -> Outcome:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # Garbage is collected at any time, so its warnings belong to no call.
            warnings.simplefilter("ignore", ResourceWarning)
            result = attempt(lambda: self.run_with({"n_jobs": n_jobs, "random_state": 0}))
        return Outcome(result, [f"{w.category.__name__}: {w.message}" for w in caught])


def call(function: Callable[..., Any], *inputs: Any, expect: Expectation, **options: Any) -> Call:
    """Call a function."""

    def run_with(common: dict[str, Any]) -> Any:
        return function(*map(_value, inputs), **_options(function, common, options))

    return Call(_name(function.__name__, inputs, options), run_with, expect)


class Asked(NamedTuple):
    """An object and the answers of its methods."""

    model: Any
    answers: dict[str, Any]


def fit(
    make: Callable[..., Any],
    X: Input,
    y: Input | None = None,
    *,
    expect: Expectation = anything,
    **options: Any,
) -> Call:
    """Fit an estimator, or make another object of an input, and ask all its methods."""
    inputs = (X,) if y is None else (X, y)

    def run_with(common: dict[str, Any]) -> Any:
        data = tuple(map(_value, inputs))
        given = _options(make, common, options)
        model = make(**given).fit(*data) if hasattr(make, "fit") else make(*data, **given)
        new = X.new() if X.new else None
        answers = {name: attempt(partial(_answer, model, name, data, new)) for name in asked(model)}
        return Asked(model, answers)

    def check(value: Any) -> None:
        if isinstance(value, Asked):
            expect(value.model)
            by_row(value.model, X.n)
            same_form(value.answers)
        else:
            expect(value)

    return Call(_name(make.__name__, inputs, options), run_with, check)


def on(
    forms: Iterable[Input],
    declare: Callable[..., Call],
    make: Callable[..., Any],
    *inputs: Input,
    refuses: Container[Input] = (),
    expect: Expectation = anything,
    **options: Any,
) -> list[Call]:
    """The same call on every form of points; those that it refuses give an error."""
    return [
        declare(make, X, *inputs, expect=error(X.says) if X in refuses else expect, **options)
        for X in forms
    ]


def odd(
    make: Callable[..., Any],
    odd_inputs: Iterable[Input],
    *,
    takes: Container[Input] = (),
    y: Any = None,
    **options: Any,
) -> Call:
    """Pass each odd input to a function or to `fit`; it ``takes`` some of them, and refuses the others.

    The first entries of ``y`` are given with each.
    """
    inputs = list(odd_inputs)

    def result(X: Input, given: dict[str, Any]) -> Any:
        if hasattr(make, "fit"):
            return make(**given).fit(X.make(), *([] if y is None else [y[: X.n]]))
        return make(X.make(), **given)

    def run_with(common: dict[str, Any]) -> Any:
        given = _options(make, common, options)
        return {X.name: attempt(partial(result, X, given)) for X in inputs}

    def check(results: Any) -> None:
        expected = {X.name: anything if X in takes else error(X.says) for X in inputs}
        every(expected)(results)

    return Call(_name(f"{make.__name__} of odd inputs", (), options), run_with, check)


UNASKED = {
    # They answer nothing, or what scikit-learn computes.
    *("fit", "score", "get_params", "get_metadata_routing"),
    # They go before the first release.
    *("insert", "remove", "partial_fit"),
    # They only connect packages.
    *("components", "degrees", "eigenpairs", "extend", "extend_labels", "merge"),
}


def asked(model: Any) -> list[str]:
    return [
        name
        for name, _ in inspect.getmembers(type(model), inspect.isfunction)
        if not name.startswith(("_", "set_")) and name not in UNASKED and hasattr(model, name)
    ]


def _answer(model: Any, name: str, data: tuple[Any, ...], new: Any) -> Any:
    """The answer of a method, by default for new points, and for the first of them alone."""
    method = getattr(model, name)
    question = QUESTIONS.get(f"{type(model).__name__}.{name}") or QUESTIONS.get(name)
    if question:
        return question(method, new)
    if name in ("fit_transform", "fit_predict"):
        return getattr(clone(model), name)(*data)
    return {"new points": method(new), "one row": attempt(lambda: method(new[:1]))}


Question = Callable[[Callable[..., Any], Any], Any]


def _for_rows_and_new(*options: Any, **named: Any) -> Question:
    """Ask for rows 0 and 40, for new points, and for one new point."""
    return lambda method, new: {
        "rows": attempt(lambda: method([0, 40], *options, **named)),
        "new points": attempt(lambda: method(new, *options, **named)),
        "one row": attempt(lambda: method(new[:1], *options, **named)),
    }


def _with(*options: Any, **named: Any) -> Question:
    return lambda method, new: method(*options, **named)


QUESTIONS: dict[str, Question] = {
    "rank": _for_rows_and_new(5),
    "scores": _for_rows_and_new(),
    "kneighbors": lambda nearest, new: {
        "all": nearest(n_neighbors=4),
        "new points": attempt(lambda: nearest(new, 4)),
        "one row": attempt(lambda: nearest(new[:1], 4)),
    },
    "NeighborSearch.nearest": lambda nearest, new: {
        "all": nearest(4),
        "new points": attempt(lambda: nearest(4, new)),
        "one row": attempt(lambda: nearest(4, new[:1])),
    },
    "TableEncoder.nearest": lambda nearest, new: {
        "all": nearest(4),
        "new points": attempt(lambda: nearest(4, new)),
        "one row": attempt(lambda: nearest(4, new[:1])),
    },
    "TableEncoder.differences": lambda differences, new: attempt(lambda: differences(new, new)),
    "within": lambda within, new: {
        "all": within(2.0),
        "new points": attempt(lambda: within(2.0, new)),
    },
    "distances": lambda distances, new: {"new": distances(new), "both": distances(new, new)},
    "get_feature_names_out": _with(),
    "doubtful_labels": _with(),
    "leave_one_out": _with(),
    "leave_one_out_score": _with(),
    "reconstruction_error": _with(),
    "suggest_queries": _with(3),
    "at": _with(4.0),
    "sweep": lambda sweep, new: list(sweep([1.0, 3.0])),
    "sweep_neighbors": lambda sweep, new: list(sweep([1.0, 3.0], n_neighbors=4)),
    "fuse": lambda fuse, new: None,
    "toarray": _with(),
    "to_linkage": _with(),
    "dissimilarity": _with(),
    "pairs": _with([0, 1], [40, 2]),
    "rows": _with([0, 40]),
    "path": _with(0, 40),
    "clusters": _with(3),
    "separate": lambda separate, new: separate([0, *[-1] * 39, 1, *[-1] * 49]),
    "rethreshold": _with(0.0),
    "least_similar": _with(3),
}


def _options(
    function: Callable[..., Any], common: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """The options, with those of the common ones that the function takes."""
    taken = inspect.signature(function).parameters
    return {name: common[name] for name in common if name in taken} | {
        name: _value(value) for name, value in options.items()
    }


def _value(given: Any) -> Any:
    return given.make() if isinstance(given, Input) else given


def _name(title: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> str:
    given = ", ".join(f"{name}={_shown(value)}" for name, value in options.items())
    where = ", ".join(map(_shown, inputs))
    return title + (f"({given})" if given else "") + (f"[{where}]" if where else "")


def _shown(value: Any) -> str:
    if isinstance(value, Input):
        return value.name
    return getattr(value, "__name__", None) or repr(value)
