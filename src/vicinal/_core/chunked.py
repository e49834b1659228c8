"""Rows that are not in memory. `vicinal.scale` processes them."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from vicinal._core.array_checks import check_points
from vicinal._core.memory import require_memory
from vicinal._core.options import check_options
from vicinal._core.tables import is_lazy
from vicinal.exceptions import InvalidTypeError


class ChunkedRows:
    """Rows of a dask array. They are loaded only by `gather`, never by accident.

    Parameters
    ----------
    array : dask.array.Array
        The rows.
    """

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def chunks(self) -> tuple[int, ...]:
        """Number of rows in each chunk."""
        return self.array.chunks[0]

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, rows: np.ndarray) -> ChunkedRows:
        """Some of the rows, not loaded either."""
        return ChunkedRows(self.array[rows])

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise InvalidTypeError(
            "X is a dask array, which is processed in chunks, but this step needs all rows in memory; pass "
            "X.compute() if it fits."
        )

    @staticmethod
    def load(results: Any) -> np.ndarray:
        """Results in the chunks of these rows, in memory."""
        return results.compute()

    def gather(self, what: str, remedy: str) -> np.ndarray:
        """Load all rows, if they fit into memory; ``what`` needs them, and ``remedy`` is the alternative."""
        require_memory(2.0 * math.prod(self.shape) * self.dtype.itemsize, what, remedy)
        return check_points(self.array.compute(), dtype=None)


def in_memory(points: Any, what: str, remedy: str) -> Any:
    """Points as they are, or gathered if they are `ChunkedRows`."""
    return points.gather(what, remedy) if isinstance(points, ChunkedRows) else points


def validate_chunks(model: Any, X: Any) -> ChunkedRows:
    """Check the parameters of an estimator, and store the number of features of a dask array."""
    from sklearn.utils.validation import _check_n_features

    check_options(model)
    rows = X if isinstance(X, ChunkedRows) else ChunkedRows(X)
    _check_n_features(model, rows, reset=True)
    # Dask arrays have no names; drop those of an earlier fit.
    model.__dict__.pop("feature_names_in_", None)
    return rows


def is_chunked(X: Any) -> bool:
    """Whether X is a dask array, or already `ChunkedRows`."""
    return isinstance(X, ChunkedRows) or (is_lazy(X) and hasattr(X, "rechunk"))
