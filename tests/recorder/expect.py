"""What a result must be on every machine: functions that take it and fail if it is something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from vicinal import Graph

from .inputs import GROUPS, N

Expectation = Callable[[Any], None]


def array(*shape: int, dtype: Any = np.float64, finite: bool = True) -> Expectation:
    def check(value: Any) -> None:
        value = value if hasattr(value, "dtype") else np.asarray(value)
        assert value.shape == shape, f"shape {value.shape} instead of {shape}"
        assert value.dtype == dtype, f"{value.dtype} instead of {dtype}"
        entries = np.asarray(getattr(value, "data", value) if sparse.issparse(value) else value)
        assert not finite or np.isfinite(entries).all(), "not finite"

    return check


def graph(
    edges: int | None = None,
    *,
    nodes: int = N,
    components: int | None = None,
    dtype: Any = np.float64,
    directed: bool = False,
) -> Expectation:
    def check(value: Any) -> None:
        assert isinstance(value, Graph), repr(value)
        assert value.n_nodes == nodes, value
        assert value.directed == directed, value
        assert edges is None or value.n_edges == edges, value
        assert components is None or value.n_components == components, value
        assert value.lengths.dtype == dtype, value.lengths.dtype

    return check


def groups(truth: np.ndarray = GROUPS) -> Expectation:
    """Labels that divide the points as the groups do, numbered anyhow."""

    def check(value: Any) -> None:
        anything(value)
        value = np.asarray(value)
        assert value.shape == truth.shape, value.shape
        n = len(np.unique(truth))
        assert len(np.unique(np.stack([value.ravel(), truth.ravel()]), axis=1).T) == n, value
        assert len(np.unique(value)) == n, value

    return check


def has(**expected: Any) -> Expectation:
    """An object with these attributes, each as expected or equal."""

    def check(value: Any) -> None:
        anything(value)
        for name, one in expected.items():
            found = getattr(value, name)
            one(found) if callable(one) else equal(one)(found)

    return check


def equal(expected: Any) -> Expectation:
    def check(value: Any) -> None:
        assert np.array_equal(np.asarray(value), expected), f"{value!r} instead of {expected!r}"

    return check


def near(expected: Any, tolerance: float = 1e-8) -> Expectation:
    return lambda value: np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


def each(*expected: Expectation) -> Expectation:
    """A tuple with one expectation for each entry."""

    def check(value: Any) -> None:
        anything(value)
        assert len(value) == len(expected), len(value)
        for one, part in zip(expected, value, strict=True):
            one(part)

    return check


def error(says: str, *kinds: type[BaseException]) -> Expectation:
    """An error with text that the pattern is found in; by default about a value or a type."""

    def check(value: Any) -> None:
        assert isinstance(value, kinds or (ValueError, TypeError)), repr(value)
        assert re.search(says, str(value)), f"{says!r} is not in: {value}"

    return check


def every(expected: Mapping[str, Expectation]) -> Expectation:
    """A mapping with one expectation for each name; all that fail are said."""

    def check(value: Any) -> None:
        anything(value)
        failed = []
        for name, one in expected.items():
            try:
                one(value[name])
            except AssertionError as error:
                failed.append(f"{name}: {error}")
        assert not failed, "\n".join(failed)

    return check


# Fitted attributes with a value for each row.
BY_ROW = (
    "labels_",
    "embedding_",
    "probabilities_",
    "noise_score_",
    "outlier_score_",
    "transduction_",
)


def by_row(model: Any, n: int) -> None:
    for name in BY_ROW:
        if hasattr(model, name):
            assert len(getattr(model, name)) == n, f"{name} has not {n} rows"


def same_form(answers: dict[str, Any]) -> None:
    """One row alone has an answer of the kind and shape that it has among others."""
    for name, answer in answers.items():
        is_refused = isinstance(answer, TypeError) and "argument" in str(answer)
        assert not is_refused, f"say in QUESTIONS how {name} is asked: {answer}"
        if not isinstance(answer, dict):
            continue
        many, one = answer.get("new points"), answer.get("one row")
        if isinstance(many, np.ndarray) and isinstance(one, np.ndarray):
            assert (one.dtype, one.shape) == (many.dtype, (1, *many.shape[1:])), (many, one)


def anything(value: Any) -> None:
    assert not isinstance(value, Exception), value


def isa(kind: type) -> Expectation:
    def check(value: Any) -> None:
        assert isinstance(value, kind), repr(value)

    return check
