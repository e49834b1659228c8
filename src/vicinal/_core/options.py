"""Options that mean the same everywhere: flags, n_jobs, verbose, seeds and parameter dicts.

`entry` reads the signature of a function and `check_options` that of an estimator, so new functions and
estimators need no code for this.
"""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from vicinal._core.parallel import (
    RUN,
    n_threads,
    one_blas_thread,
    run_with,
)
from vicinal.exceptions import InvalidTypeError, InvalidValueError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
MAX_SEED = 2**32 - 1


def check_flag(value: Any, name: str) -> bool:
    """Convert ``value``, which must be a bool of Python or numpy, to a bool."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InvalidTypeError(f"{name}={value!r}, but True or False is needed.")


def check_verbose(value: Any, name: str = "verbose") -> int:
    """Convert ``value`` to an int >= 0; True and False count as 1 and 0."""
    if type(value) is int and value >= 0:
        return int(value > 0)
    whole = isinstance(value, (numbers.Integral, np.bool_))
    if not whole or value < 0:
        kind = InvalidValueError if whole else InvalidTypeError
        raise kind(
            f"{name}={value!r}, but an integer >= 0 is needed; values above 0 show progress."
        )
    return int(value > 0)


def check_seed(value: Any, name: str = "random_state") -> Any:
    """Return ``value`` if it is None, an int, or a random generator of numpy."""
    if type(value) is int and 0 <= value <= MAX_SEED:
        return value  # without the checks below, for short calls
    if value is None or isinstance(value, (np.random.Generator, np.random.RandomState)):
        return value
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if whole and 0 <= value <= MAX_SEED:
        return int(value)
    kind = InvalidValueError if whole else InvalidTypeError
    raise kind(
        f"{name}={value!r}, but an integer from 0 to {MAX_SEED}, a numpy.random.Generator, "
        "a numpy.random.RandomState or None is needed."
    )


def random_generator(random_state: Any, name: str = "random_state") -> np.random.Generator:
    """Create a generator from any seed that `check_seed` accepts; a Generator is returned unchanged."""
    seed = check_seed(random_state, name)
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(np.iinfo(np.int32).max))
    return np.random.default_rng(seed)


def seed_from(random_state: Any) -> int:
    """Derive an int from any seed that `check_seed` accepts; the same for equal ints."""
    seed = check_seed(random_state)
    largest = np.iinfo(np.int32).max
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(largest))
    if isinstance(seed, int):
        return _seed_from_int(seed)
    from sklearn.utils import check_random_state

    return int(check_random_state(seed).randint(largest))


@functools.lru_cache(maxsize=256)
def _seed_from_int(seed: int) -> int:
    # Setting up a generator takes longer than most steps on few points.
    return int(np.random.RandomState(seed).randint(np.iinfo(np.int32).max))


def check_mapping(value: Any, name: str) -> dict[str, Any]:
    """Convert a mapping of parameter names to values to a dict; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidTypeError(
            f"{name}={value!r}, but a dict of parameter names and values is needed, such as "
            "{'n_neighbors': 5}."
        )
    return dict(value)


def check_metric(value: Any, name: str = "metric") -> Any:
    """Return ``value`` if it is the name of a metric or a function of two points."""
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


@overload
def entry(function: Callable[Parameters, Result], /) -> Callable[Parameters, Result]: ...


@overload
def entry(
    *, blas_threads: int
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]: ...


def entry(function: Any = None, /, *, blas_threads: int | None = None) -> Any:
    """Decorate what users call: its options are checked, and hold for all that it calls.

    ``n_jobs`` and ``verbose`` are parameters of a function, or attributes of the object of a method. With
    ``blas_threads=1``, the bits of results do not depend on the threads of matrix products.
    """
    if function is None:
        return functools.partial(_entry, limits_blas=blas_threads == 1)
    return _entry(function)


def _entry(
    function: Callable[Parameters, Result], *, limits_blas: bool = False
) -> Callable[Parameters, Result]:
    parameters = inspect.signature(function).parameters
    checks = _checks_for(parameters)
    # Binding the arguments to the signature would take longer than all checks.
    by_position = [
        (position, name)
        for position, (name, parameter) in enumerate(parameters.items())
        if name in checks and parameter.kind is not parameter.KEYWORD_ONLY
    ]
    n_jobs_of, verbose_of = _option(parameters, "n_jobs", -1), _option(parameters, "verbose", 0)
    limited = one_blas_thread()(function) if limits_blas else function

    @functools.wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for name, value in kwargs.items():
            if name in checks:
                checks[name](value, name)
        for position, name in by_position:
            if position < len(args):
                checks[name](args[position], name)
        n_jobs, verbose = n_jobs_of(args, kwargs), verbose_of(args, kwargs)
        if _is_int(n_jobs, -1) and _is_int(verbose, 0):  # without the steps below, for short calls
            return limited(*args, **kwargs)
        token = RUN.set(run_with(n_jobs, check_verbose(verbose)))
        try:
            return limited(*args, **kwargs)
        finally:
            RUN.reset(token)

    return call


def _is_int(value: object, number: int) -> bool:
    """Whether a value is this number; an array is not, whatever it holds."""
    return type(value) is int and value == number


def _option(
    parameters: Mapping[str, inspect.Parameter], name: str, otherwise: int
) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
    """How the value of an option is found in the arguments of a call."""
    if name in parameters:
        default = parameters[name].default
        position = list(parameters).index(name)
        if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
            return lambda args, kwargs: kwargs.get(name, default)
        return lambda args, kwargs: (
            args[position] if position < len(args) else kwargs.get(name, default)
        )
    if next(iter(parameters), None) == "self":
        return lambda args, kwargs: getattr(args[0] if args else None, name, otherwise)
    return lambda args, kwargs: otherwise


checked = entry  # its name in some packages


def check_options(estimator: Any) -> None:
    """Check the options that an estimator was constructed with."""
    for name, check in _checks_of_estimator(estimator.__class__).items():
        check(getattr(estimator, name), name)


@functools.lru_cache(maxsize=256)
def _checks_of_estimator(kind: type) -> dict[str, Callable[[Any, str], Any]]:
    return _checks_for(inspect.signature(kind).parameters)


@functools.lru_cache(maxsize=256)
def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the parameters of a function."""
    return tuple(inspect.signature(function).parameters)


def _checks_for(
    parameters: Mapping[str, inspect.Parameter],
) -> dict[str, Callable[[Any, str], Any]]:
    flags = {n: check_flag for n, p in parameters.items() if p.annotation == "bool"}
    return flags | {name: CHECKS[name] for name in parameters if name in CHECKS}
