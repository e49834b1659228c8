"""Fusion of several similarities of the same items, before, after or across smoothing."""

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
from vicinal.similarity.smoothing._out_of_sample import PointKernel
from vicinal.similarity.smoothing.operator import (
    check_similarity,
    divide_by_diagonal,
    self_normalize,
)

FUSIONS = ("before", "after", "cross")
# Function from distances to similarities and the kernel that extends them to new items.
Kernel = Callable[[Any], tuple[Any, PointKernel]]


class SimilaritySource:
    """One similarity, restricted to the items it contains (``known``)."""

    def __init__(self, matrix: Any, name: str, kernel: Kernel | None) -> None:
        matrix, self.known = _drop_unknown(matrix, name)
        self.kernel: PointKernel | None = None
        if kernel is not None:
            matrix, self.kernel = kernel(check_distances(matrix, name=name))
        self.weights, self.symmetric = check_similarity(matrix, name)

    def smoothed(self, t: float) -> np.ndarray:
        """W P^t of the known items, self-normalised."""
        smooth = smooth_symmetric if self.symmetric else smooth_asymmetric
        return self_normalize(smooth(in_range(self.weights)[0], t), self.known)


def check_sources(
    sources: Any, weights: Any, kernel: Kernel | None = None
) -> tuple[list[SimilaritySource], np.ndarray]:
    """Checked similarities of the same items, and their weights, which sum to 1.

    ``kernel`` converts the sources to similarities if they are distances.
    """
    sources = check_list(sources, "sources", "similarities")
    if not sources:
        raise InvalidValueError("sources is empty, but at least one similarity is needed.")
    shapes = [np.shape(source) for source in sources]
    if len(set(shapes)) > 1:
        raise InvalidValueError(
            f"sources have shapes {', '.join(map(str, shapes))}, but all must describe the same items in "
            "the same order; mark items that are missing in a source by a row and a column of NaN."
        )
    checked = [
        SimilaritySource(source, f"sources[{i}]", kernel) for i, source in enumerate(sources)
    ]
    factors = np.ones(len(sources)) if weights is None else _check_weights(weights, len(sources))
    n = shapes[0][0]
    used = [source.known for source, factor in zip(checked, factors, strict=True) if factor > 0]
    unknown = np.setdiff1d(np.arange(n), np.concatenate(used))
    if len(unknown):
        raise InvalidValueError(
            f"{len(unknown)} item(s) are missing in every source of positive weight, the first is "
            f"{unknown[0]}; drop them, or give a positive weight to a source that contains them."
        )
    return checked, factors / factors.sum()


def mean_similarity(sources: Sequence[SimilaritySource], weights: np.ndarray, n: int) -> Any:
    """Weighted mean of the similarities; for each pair, over the sources that contain it."""
    if all(sparse.issparse(source.weights) for source in sources):
        total = weights[0] * sources[0].weights
        for source, weight in zip(sources[1:], weights[1:], strict=True):
            total = total + weight * source.weights
        return sparse.csr_array(total)
    matrices = [_dense(source.weights) for source in sources]
    return _mean_of_known(matrices, [source.known for source in sources], weights, n)


class FusedWalk:
    """Sources that are smoothed separately, or each along the others, and then averaged."""

    def __init__(
        self, sources: Sequence[SimilaritySource], weights: np.ndarray, how: str, n: int
    ) -> None:
        require_memory(
            8.0 * n * n * (len(sources) + 3), f"The fusion of {n:,} items", "Use how='before'."
        )
        for source in sources:
            source.weights = _dense(source.weights)
        self.sources, self.weights, self.how, self.n = sources, weights, check_fusion(how), n

    def smoothed(self, t: float) -> np.ndarray:
        """The fused similarity after t steps, with ones on the diagonal."""
        known = [source.known for source in self.sources]
        if self.how == "after":
            matrices = [source.smoothed(t) for source in self.sources]
            return _mean_of_known(matrices, known, self.weights, self.n)
        matrices = [self._cross_smoothed(i, t) for i in range(len(self.sources))]
        return divide_by_diagonal(_mean_of_known(matrices, known, self.weights, self.n))

    def _cross_smoothed(self, index: int, t: float) -> np.ndarray:
        """Similarity of the other sources, smoothed along one source: half of the steps on each side."""
        source = self.sources[index]
        others = [i for i in range(len(self.sources)) if i != index] or [index]
        weights = self.weights[others]
        if not weights.any():
            weights = np.ones(len(others))
        mean = _mean_of_known(
            [self.sources[i].weights for i in others],
            [self.sources[i].known for i in others],
            weights,
            self.n,
        )
        # Pairs that no other source contains come from this one.
        inside = np.ix_(source.known, source.known)
        known = np.zeros((self.n, self.n), dtype=bool)
        for i in others:
            known[np.ix_(self.sources[i].known, self.sources[i].known)] = True
        start = np.where(known[inside], mean[inside], source.weights)
        step = walk_power(source.weights, t / 2)
        return np.real(step @ start @ step.T)


def check_fusion(how: Any) -> str:
    """A valid ``how`` of a fusion."""
    return check_choice(how, "how", FUSIONS)


def _mean_of_known(
    matrices: Sequence[np.ndarray], known: Sequence[np.ndarray], weights: np.ndarray, n: int
) -> np.ndarray:
    total, total_weight = np.zeros((n, n)), np.zeros((n, n))
    for matrix, items, weight in zip(matrices, known, weights, strict=True):
        inside = np.ix_(items, items)
        total[inside] += weight * matrix
        total_weight[inside] += weight
    return np.divide(total, total_weight, out=total, where=total_weight > 0)


def _drop_unknown(matrix: Any, name: str) -> tuple[Any, np.ndarray]:
    """A source without its missing items, whose rows and columns are NaN, and the known items."""
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
        raise InvalidValueError(f"{name} contains only NaN; drop this source.")
    if not np.isnan(matrix[:, absent]).all():
        raise InvalidValueError(
            f"{name} has a row of NaN whose column is not NaN; for a missing item, both must be NaN."
        )
    known = np.flatnonzero(~absent)
    return (matrix[np.ix_(known, known)] if absent.any() else matrix), known


def _check_weights(weights: Any, n: int) -> np.ndarray:
    values = check_list(weights, "weights", "numbers >= 0")
    if len(values) != n:
        raise InvalidValueError(f"weights has {len(values)} number(s), but there are {n} sources.")
    factors = np.array([check_real(w, f"weights[{i}]", low=0.0) for i, w in enumerate(values)])
    if not factors.any():
        raise InvalidValueError("weights are all 0, but at least one must be positive.")
    return factors


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else matrix
