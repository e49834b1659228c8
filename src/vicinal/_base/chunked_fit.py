"""Estimators on dask arrays: results in the chunks of X, and predictions chunk by chunk.

A model fitted on a dask array holds its results twice: as dask arrays under their public names, and in
memory, for the methods that use them. Both refer to the same values.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from vicinal._core.chunked import is_chunked
from vicinal._core.parallel import serial

Method = TypeVar("Method", bound=Callable[..., Any])


def chunked_fit(fit: Method) -> Method:
    """Decorate `fit` so that results with one row per row of a dask array are dask arrays in its chunks."""

    @functools.wraps(fit)
    def fit_model(self: Any, X: Any, y: object = None, **constraints: Any) -> Any:
        self.__dict__.pop("_rows_in_memory", None)
        fit(self, X, y, **constraints)
        if is_chunked(X):
            _show_in_chunks(self, getattr(X, "array", X))
        return self

    return fit_model  # type: ignore[return-value]


def by_chunks(
    n_columns: Callable[[Any], int] | None = None, dtype: Callable[[Any], Any] | None = None
) -> Callable[[Method], Method]:
    """Decorate a method of new points so that a dask array of them is processed lazily, by chunks.

    ``n_columns`` gives the number of columns of the result of a model; None if it is a vector. ``dtype``
    gives the type of its values; by default, vectors hold integers, and matrices have the precision of the
    points.
    """

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def call(self: Any, X: Any) -> Any:
            model = in_memory_model(self)
            if not is_chunked(X):
                return method(model, X)
            from dask import delayed

            rows = getattr(X, "array", X).rechunk({1: -1})
            columns = None if n_columns is None else n_columns(model)
            layout = (
                {"drop_axis": 1} if columns is None else {"chunks": (rows.chunks[0], (columns,))}
            )
            single = columns is not None and rows.dtype == np.float32
            kind: Any = np.int64 if columns is None else np.float32 if single else np.float64
            kind = kind if dtype is None else dtype(model)
            # One task holds the model, instead of every chunk.
            shared = delayed(model, traverse=False)
            # An example, because the method cannot be tried without the model.
            meta = np.empty((0,) if columns is None else (0, 0), kind)
            return rows.map_blocks(_apply, method=method, model=shared, meta=meta, **layout)

        return call  # type: ignore[return-value]

    return decorate


def pair_by_chunks(
    X: Any, results: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], k: int, dtypes: Any
) -> tuple[Any, Any]:
    """Two lazy results of k columns for each chunk of a dask array, each computed once for both."""
    import dask.array as da
    from dask import delayed

    rows = getattr(X, "array", X).rechunk({1: -1})
    pairs = [delayed(serial(results), nout=2)(block) for block in rows.to_delayed().ravel()]
    first, second = (
        da.concatenate(
            [
                da.from_delayed(pair[part], (size, k), dtype=dtype)
                for pair, size in zip(pairs, rows.chunks[0], strict=True)
            ]
        )
        for part, dtype in enumerate(dtypes)
    )
    return first, second


def rows_by_chunks(values: Method) -> Method:
    """Decorate a method without arguments so that its rows are a dask array if those of the model are."""

    @functools.wraps(values)
    def call(self: Any) -> Any:
        model = in_memory_model(self)
        return values(self) if model is self else _in_chunks(values(model), self._row_chunks)

    return call  # type: ignore[return-value]


def in_memory_model(model: Any) -> Any:
    """The model with its results in memory."""
    kept = model.__dict__.get("_rows_in_memory")
    if kept is None:
        return model
    inside = copy.copy(model)
    inside.__dict__.update(kept)
    del inside._rows_in_memory
    return inside


def _show_in_chunks(model: Any, array: Any) -> None:
    kept = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and isinstance(value, np.ndarray) and len(value) == len(array)
    }
    for name, value in kept.items():
        setattr(model, name, _in_chunks(value, array.chunks[0]))
    model._rows_in_memory, model._row_chunks = kept, array.chunks[0]


def in_chunks_of(model: Any, values: np.ndarray) -> Any:
    """Values of the training rows, as a dask array if the model was fitted on one."""
    fitted_on_chunks = "_rows_in_memory" in model.__dict__
    return _in_chunks(values, model._row_chunks) if fitted_on_chunks else values


def _in_chunks(values: np.ndarray, rows: tuple[int, ...]) -> Any:
    import dask.array as da

    return da.from_array(values, chunks=(rows, *((n,) for n in values.shape[1:])), name=False)


def _apply(block: np.ndarray, method: Callable[..., Any], model: Any) -> np.ndarray:
    return serial(method)(model, block)
