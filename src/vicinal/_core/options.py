"""Options that mean the same everywhere: flags, n_jobs, verbose, seeds and mappings of parameters.

`checked` looks at a function's signature, `check_options` at an estimator's, so that a new one is checked
without a line of its own.
"""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np

from vicinal._core.parallel import n_threads
from vicinal.exceptions import InvalidTypeError, InvalidValueError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
LARGEST_SEED = 2**32 - 1


def check_flag(value: Any, name: str) -> bool:
    """`value` as a bool, which it has to be."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InvalidTypeError(f"{name}={value!r}, but True or False is needed.")


def check_verbose(value: Any, name: str = "verbose") -> int:
    """`value` as an int >= 0; True and False count as 1 and 0."""
    whole = isinstance(value, (numbers.Integral, np.bool_))
    if not whole or value < 0:
        kind = InvalidValueError if whole else InvalidTypeError
        raise kind(f"{name}={value!r}, but an integer >= 0 is needed; above 0 shows progress.")
    return int(value > 0)


def check_seed(value: Any, name: str = "random_state") -> Any:
    """`value` if it is None, an int, or a generator of numpy."""
    if value is None or isinstance(value, (np.random.Generator, np.random.RandomState)):
        return value
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if whole and 0 <= value <= LARGEST_SEED:
        return int(value)
    kind = InvalidValueError if whole else InvalidTypeError
    raise kind(
        f"{name}={value!r}, but an integer from 0 to {LARGEST_SEED}, a numpy.random.Generator, "
        "a numpy.random.RandomState or None is needed."
    )


def random_generator(random_state: Any, name: str = "random_state") -> np.random.Generator:
    """A generator from any seed that `check_seed` accepts; a Generator is returned as it is."""
    seed = check_seed(random_state, name)
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(np.iinfo(np.int32).max))
    return np.random.default_rng(seed)


def seed_from(random_state: Any) -> int:
    """An int from any seed that `check_seed` accepts; for an int always the same."""
    seed = check_seed(random_state)
    largest = np.iinfo(np.int32).max
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(largest))
    from sklearn.utils import check_random_state

    return int(check_random_state(seed).randint(largest))


def check_mapping(value: Any, name: str) -> dict[str, Any]:
    """`value`, a mapping of parameters by name, as a dict; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidTypeError(
            f"{name}={value!r}, but a dict of parameters by name is needed, such as {{'k': 5}}."
        )
    return dict(value)


def check_metric(value: Any, name: str = "metric") -> Any:
    """`value` if it is the name of a metric, or a function that measures two points."""
    if isinstance(value, str) or callable(value):
        return value
    raise InvalidTypeError(f"{name}={value!r}, but the name of a metric or a callable is needed.")


CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "n_jobs": lambda value, _: n_threads(value),
    "verbose": check_verbose,
    "random_state": check_seed,
    "graph_params": check_mapping,
    "metric": check_metric,
}


def checked(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """The function, which checks the options of its signature before anything else."""
    signature = inspect.signature(function)
    checks = _checks_of(signature)

    @functools.wraps(function)
    def call(*values: Parameters.args, **options: Parameters.kwargs) -> Result:
        try:
            given = signature.bind_partial(*values, **options).arguments
        except TypeError:
            given = {}  # the call below says it in Python's own words
        for name, check in checks.items():
            if name in given:
                check(given[name], name)
        return function(*values, **options)

    return call


def check_options(estimator: Any) -> None:
    """Check the options that an estimator was constructed with."""
    for name, check in _checks_of(inspect.signature(type(estimator))).items():
        check(getattr(estimator, name), name)


def _checks_of(signature: inspect.Signature) -> dict[str, Callable[[Any, str], Any]]:
    flags = {n: check_flag for n, p in signature.parameters.items() if p.annotation == "bool"}
    return flags | {name: CHECKS[name] for name in signature.parameters if name in CHECKS}
