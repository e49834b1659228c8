"""Every public entry with every odd value: a result, or an error that says what is wrong.

Wrong are: an error that another library raised or that names no argument, a warning about arithmetic, a
changed input, NaN from finite values, a value of another type than in the signature, and
an endless call.
"""

from __future__ import annotations

import dataclasses
import linecache
import numbers
import re
import signal
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas
import pytest
from matplotlib import pyplot as plt
from scipy import sparse
from sklearn.base import BaseEstimator

from odd_values import odd_values
from public_entries import Entry, public_entries
from vicinal import Graph

SECONDS = 60
NAN = "NaN in the result"
# Warnings with which an estimator returns NaN for values that are unknown; its documentation says so.
DOCUMENTED_NAN = {
    "GraphRegressor": (
        r"^no label reaches [\d,]+ of [\d,]+ points .* they get NaN\.",
        r"^the value of [\d,]+ of [\d,]+ points is unknown \(NaN\)",
        "^the noise of the labels is unknown, and standard deviations are NaN",
    )
}
EXPECTED_ERRORS = (ValueError, TypeError, MemoryError, OSError, ImportError)
KINDS: dict[str, Any] = {
    "int": lambda v: isinstance(v, numbers.Integral) and not isinstance(v, bool),
    "float": lambda v: isinstance(v, numbers.Real) and not isinstance(v, bool),
    "bool": lambda v: isinstance(v, (bool, np.bool_)),
    "str": lambda v: isinstance(v, str),
    "None": lambda v: v is None,
    "function": callable,
    "seed": lambda v: (
        v is None
        or isinstance(v, (np.random.Generator, np.random.RandomState))
        or (isinstance(v, numbers.Integral) and not isinstance(v, bool))
    ),
}
# Words by which users recognise a table, besides its parameter: new points, the content of a matrix.
OTHER_NAMES = ("X", "graph", "queries", "lengths", "strengths", "node", "edge", "ranking")
# Values that other libraries accept: verbose=True, n_jobs=2.0.
ALSO = {"verbose": "bool", "n_jobs": "float"}


class TooLong(BaseException):
    """Not an Exception, so that no handler catches it."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooLong

    # CPU time, so that a busy machine does not matter.
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome(entry: Entry, parameter: str, value: Any) -> str:
    """ "result", "clear error", or what is wrong."""
    arguments = {**entry.arguments, parameter: value}
    before = fingerprint(arguments)
    try:
        with warnings.catch_warnings(record=True) as warned, time_limit(SECONDS):
            warnings.simplefilter("always")
            for category in (RuntimeWarning, np.exceptions.ComplexWarning):
                warnings.simplefilter("error", category)
            result = entry.call(**arguments)
    except TooLong:
        plt.close("all")
        return f"no end within {SECONDS} s"
    except Exception as error:
        fault = fault_of_error(error, entry, parameter)
    else:
        fault = fault_of_result(result, entry, parameter, value)
        if fault == NAN and has_documented_nan(entry, [str(w.message) for w in warned]):
            fault = "result"
    plt.close("all")
    if fingerprint(arguments) != before:
        return "the input was changed"
    return fault


def has_documented_nan(entry: Entry, warned: list[str]) -> bool:
    """Whether a warning of this very entry says that unknown values are NaN, as its documentation does."""
    patterns = DOCUMENTED_NAN.get(entry.name.partition(".")[0], ())
    return any(re.search(pattern, text) for pattern in patterns for text in warned)


def fingerprint(value: Any) -> Any:
    """What would differ if a table, or a container of tables, had been changed."""
    if isinstance(value, dict):
        return {key: fingerprint(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [fingerprint(part) for part in value]
    if isinstance(value, np.ma.MaskedArray):
        return fingerprint(np.asarray(value)), np.ma.getmaskarray(value).tobytes()
    if isinstance(value, np.ndarray):
        content = repr(value.tolist()) if value.dtype.hasobject else value.tobytes()
        return value.dtype, value.shape, value.flags.writeable, content
    if isinstance(value, (pandas.DataFrame, pandas.Series)):
        return repr(value.dtypes), fingerprint(value.to_numpy())
    if sparse.issparse(value):
        arrays = (
            getattr(value, name, None) for name in ("data", "indices", "indptr", "row", "col")
        )
        return value.format, [fingerprint(a) for a in arrays if isinstance(a, np.ndarray)]
    return None


def fault_of_error(error: Exception, entry: Entry, parameter: str) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
    place = f"{file.rpartition('site-packages/')[2].rpartition('/src/')[2]}:{line}"
    said = f"{type(error).__name__}: {str(error)[:150]} ({place})"
    if not isinstance(error, EXPECTED_ERRORS):
        return f"foreign error {said}"
    if "/sklearn/utils/" in file:
        return "clear error"
    if "/vicinal/" not in file or not linecache.getline(file, line).lstrip().startswith("raise"):
        return f"foreign error {said}"
    names = {
        parameter,
        *entry.parameters,
        *entry.options,
        entry.name.partition(".")[0],
        *OTHER_NAMES,
    }
    if not any(re.search(rf"\b{name}\b", str(error)) for name in names):
        return f"no argument is named: {said}"
    return "clear error"


def fault_of_result(result: Any, entry: Entry, parameter: str, value: Any) -> str:
    allowed = kinds_of(entry, parameter)
    if allowed and not any(KINDS[kind](value) for kind in allowed):
        return f"accepted as one of {', '.join(allowed)}"
    return next(faults_in(result), "result")


def kinds_of(entry: Entry, parameter: str) -> list[str]:
    """What the signature allows; nothing where it allows anything."""
    if parameter == "random_state":
        return ["seed"]
    if parameter == "metric":
        return ["str", "function"]
    annotation = entry.parameters[parameter].annotation
    kinds = [kind.strip() for kind in str(annotation).split("|")]
    if parameter in ALSO:
        kinds.append(ALSO[parameter])
    return kinds if set(kinds) <= set(KINDS) else []


def faults_in(result: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(result, Graph):
        if not np.isfinite(result.lengths).all():
            yield "infinite or NaN lengths"
        if not ((result.strengths >= 0) & (result.strengths <= 1)).all():
            yield "strengths outside [0, 1]"
    elif isinstance(result, (float, np.floating, complex)):
        if np.isnan(result):
            yield NAN
    elif isinstance(result, np.ndarray) and result.dtype.kind in "fc":
        if np.isnan(result).any():
            yield NAN
    elif sparse.issparse(result) and result.dtype.kind in "fc":
        yield from faults_in(result.data)
    elif depth < 4:
        for part in parts_of(result):
            yield from faults_in(part, depth + 1)


def parts_of(result: Any) -> list[Any]:
    if isinstance(result, dict):
        return list(result.values())
    if isinstance(result, (tuple, list)):
        return list(result)
    if isinstance(result, BaseEstimator):
        return [v for k, v in vars(result).items() if k.endswith("_") and not k.startswith("_")]
    if dataclasses.is_dataclass(result):
        return [getattr(result, field.name) for field in dataclasses.fields(result)]
    return []


def cross(n_values: int | None) -> tuple[Counter, list[str]]:
    """Outcomes of all calls, or of ``n_values`` of each parameter, always the same ones."""
    counts: Counter = Counter()
    wrong = []
    names: set[str] = set()
    for entry in public_entries():
        counts["entries"] += 1
        for parameter in entry.parameters:
            counts["parameters"] += 1
            values = odd_values(entry.table(parameter))
            order = sorted(
                values, key=lambda v: zlib.crc32(f"{entry.name} {parameter} {v}".encode())
            )
            for name in order[:n_values]:
                if parameter == "download" and "True" in name:  # no test uses the network
                    continue
                names.add(name)
                counts["calls"] += 1
                try:
                    value = values[name]()
                except (ValueError, TypeError, IndexError, np.exceptions.AxisError, MemoryError):
                    continue  # the typical value has no such form
                found = outcome(entry, parameter, value)
                if found in ("result", "clear error"):
                    counts[found] += 1
                else:
                    counts["wrong"] += 1
                    wrong.append(f"{entry.name}({parameter}={name}): {found}")
    counts["values"] = len(names)
    return counts, wrong


def report(counts: Counter, wrong: list[str]) -> str:
    keys = ("entries", "parameters", "values", "calls", "result", "clear error", "wrong")
    return "\n".join([", ".join(f"{counts[key]} {key}" for key in keys), *wrong])


def test_a_sample_of_odd_values_gives_results_or_clear_errors(capsys):
    counts, wrong = cross(n_values=3)
    with capsys.disabled():
        print("\n" + report(counts, wrong))
    assert not wrong, report(counts, wrong)


@pytest.mark.slow
def test_every_odd_value_gives_a_result_or_a_clear_error(capsys):
    counts, wrong = cross(n_values=None)
    with capsys.disabled():
        print("\n" + report(counts, wrong))
    assert not wrong, report(counts, wrong)


def test_only_documented_nan_counts_as_a_result():
    entries = {entry.name: entry for entry in public_entries()}
    said = "no label reaches 2 of 12 points (the first is 3); they get NaN. Label a point"
    assert has_documented_nan(entries["GraphRegressor.fit"], ["another", said])
    assert not has_documented_nan(entries["GraphRegressor.fit"], ["somewhere there is NaN"])
    assert not has_documented_nan(entries["GraphClassifier.fit"], [said])
