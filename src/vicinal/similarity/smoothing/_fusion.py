"""Several similarities of the same items made one, before, after or across their smoothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import real_array
from vicinal._core.matrix_checks import check_distances
from vicinal._core.memory import require_memory
from vicinal._core.scalar_checks import check_choice, check_list, check_real
from vicinal.exceptions import InvalidValueError
from vicinal.similarity.smoothing._dense import (
    in_range,
    smooth_asymmetric,
    smooth_symmetric,
    walk_power,
)
from vicinal.similarity.smoothing.operator import (
    check_similarity,
    divide_by_diagonal,
    self_normalize,
)

WAYS = ("before", "after", "cross")
# From distances to similarities.
Kernel = Callable[[Any], Any]


class SimilaritySource:
    """One similarity, of the items that it knows."""

    def __init__(self, matrix: Any, name: str, kernel: Kernel | None) -> None:
        matrix, self.known = _known_part(matrix, name)
        if kernel is not None:
            matrix = kernel(check_distances(matrix, name=name))
        self.weights, self.symmetric = check_similarity(matrix, name)

    def smoothed(self, t: float) -> np.ndarray:
        """W P^t of the items it knows, self-normalised."""
        smooth = smooth_symmetric if self.symmetric else smooth_asymmetric
        return self_normalize(smooth(in_range(self.weights)[0], t), self.known)


def check_sources(
    sources: Any, weights: Any, kernel: Kernel | None = None
) -> tuple[list[SimilaritySource], np.ndarray]:
    """Similarities of the same items and their weights, which sum to 1.

    ``kernel`` makes similarities of the sources if these are distances.
    """
    sources = check_list(sources, "sources", "similarities")
    if not sources:
        raise InvalidValueError("sources is empty, but at least one similarity is needed.")
    shapes = [np.shape(source) for source in sources]
    if len(set(shapes)) > 1:
        raise InvalidValueError(
            f"sources have the shapes {', '.join(map(str, shapes))}, but all must be of the same items in "
            "the same order; an item that a source does not know is a row and a column of NaN."
        )
    checked = [
        SimilaritySource(source, f"sources[{i}]", kernel) for i, source in enumerate(sources)
    ]
    shares = np.ones(len(sources)) if weights is None else _check_weights(weights, len(sources))
    n = shapes[0][0]
    counting = [source.known for source, share in zip(checked, shares, strict=True) if share > 0]
    unknown = np.setdiff1d(np.arange(n), np.concatenate(counting))
    if len(unknown):
        raise InvalidValueError(
            f"{len(unknown)} item(s) are missing in every source that counts, the first is {unknown[0]}; "
            "drop them, or give a source that knows them a weight above 0."
        )
    return checked, shares / shares.sum()


def mean_similarity(sources: Sequence[SimilaritySource], shares: np.ndarray, n: int) -> Any:
    """Weighted mean of the similarities, for each pair over the sources that know it."""
    if all(sparse.issparse(source.weights) for source in sources):
        total = shares[0] * sources[0].weights
        for source, share in zip(sources[1:], shares[1:], strict=True):
            total = total + share * source.weights
        return sparse.csr_array(total)
    parts = [_dense(source.weights) for source in sources]
    return _mean_of_known(parts, [source.known for source in sources], shares, n)


class FusedWalk:
    """Sources that are smoothed one by one, or each along the others, and then averaged."""

    def __init__(
        self, sources: Sequence[SimilaritySource], shares: np.ndarray, how: str, n: int
    ) -> None:
        require_memory(
            8.0 * n * n * (len(sources) + 3), f"The fusion of {n:,} items", "Use 'before'."
        )
        for source in sources:
            source.weights = _dense(source.weights)
        self.sources, self.shares, self.how, self.n = sources, shares, check_fusion(how), n

    def smoothed(self, t: float) -> np.ndarray:
        """The fused similarity after t steps, 1 on the diagonal."""
        known = [source.known for source in self.sources]
        if self.how == "after":
            parts = [source.smoothed(t) for source in self.sources]
            return _mean_of_known(parts, known, self.shares, self.n)
        parts = [self._crossed(at, t) for at in range(len(self.sources))]
        return divide_by_diagonal(_mean_of_known(parts, known, self.shares, self.n))

    def _crossed(self, at: int, t: float) -> np.ndarray:
        """Similarity of the other sources, spread along one source: half of the steps from either side."""
        source = self.sources[at]
        others = [i for i in range(len(self.sources)) if i != at] or [at]
        shares = self.shares[others]
        if not shares.any():
            shares = np.ones(len(others))
        mean = _mean_of_known(
            [self.sources[i].weights for i in others],
            [self.sources[i].known for i in others],
            shares,
            self.n,
        )
        # Where no other source knows a pair, this one does.
        inside = np.ix_(source.known, source.known)
        known = np.zeros((self.n, self.n), dtype=bool)
        for i in others:
            known[np.ix_(self.sources[i].known, self.sources[i].known)] = True
        start = np.where(known[inside], mean[inside], source.weights)
        step = walk_power(source.weights, t / 2)
        return np.real(step @ start @ step.T)


def check_fusion(how: Any) -> str:
    """One of the ways to fuse."""
    return check_choice(how, "how", WAYS)


def _mean_of_known(
    parts: Sequence[np.ndarray], known: Sequence[np.ndarray], shares: np.ndarray, n: int
) -> np.ndarray:
    total, weight = np.zeros((n, n)), np.zeros((n, n))
    for part, items, share in zip(parts, known, shares, strict=True):
        inside = np.ix_(items, items)
        total[inside] += share * part
        weight[inside] += share
    return np.divide(total, weight, out=total, where=weight > 0)


def _known_part(matrix: Any, name: str) -> tuple[Any, np.ndarray]:
    """A source without the items it does not know, whose rows and columns are NaN."""
    if not sparse.issparse(matrix):
        matrix = real_array(matrix, name)
    shape = matrix.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidValueError(
            f"{name} has shape {shape}, but a square matrix of similarities is needed."
        )
    if sparse.issparse(matrix) or matrix.dtype.kind != "f":
        return matrix, np.arange(shape[0])
    absent = np.isnan(matrix).all(axis=1)
    if absent.all():
        raise InvalidValueError(f"{name} knows no item: all of it is NaN.")
    if not np.isnan(matrix[:, absent]).all():
        raise InvalidValueError(
            f"{name} has a row of NaN whose column is not: the row and the column of an item that it "
            "does not know must both be NaN."
        )
    known = np.flatnonzero(~absent)
    return (matrix[np.ix_(known, known)] if absent.any() else matrix), known


def _check_weights(weights: Any, n: int) -> np.ndarray:
    values = check_list(weights, "weights", "numbers >= 0")
    if len(values) != n:
        raise InvalidValueError(f"weights has {len(values)} number(s), but there are {n} sources.")
    shares = np.array([check_real(w, f"weights[{i}]", low=0.0) for i, w in enumerate(values)])
    if not shares.any():
        raise InvalidValueError("weights are all 0, but at least one source must count.")
    return shares


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else matrix
