"""New items after a fusion: their similarities to fitted items in each source, combined like the sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import real_array
from vicinal._core.scalar_checks import check_list
from vicinal.exceptions import InvalidValueError
from vicinal.similarity.smoothing._fusion import SimilaritySource
from vicinal.similarity.smoothing._out_of_sample import extended_rows, first_step_from, to_dense
from vicinal.similarity.smoothing._walks import DenseWalk


class Fusion(NamedTuple):
    """Sources of a fusion, their weights, and how they are combined."""

    sources: Sequence[SimilaritySource]
    weights: np.ndarray
    how: str
    n: int


class FusedRows(NamedTuple):
    """New items: for each source, their similarities (m, n_known), and which of them it contains."""

    fusion: Fusion
    similarities: list[np.ndarray]
    present: list[np.ndarray]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.present[0]), self.fusion.n

    def mean(self) -> np.ndarray:
        """Weighted mean of the similarities over the sources that contain both items of a pair."""
        return self._mean_of(self.similarities)

    def smoothed(self, t: float) -> np.ndarray:
        """Weighted mean of the similarities that are smoothed along each source."""
        rows = []
        for source, similarities, present in zip(
            self.fusion.sources, self.similarities, self.present, strict=True
        ):
            if not source.symmetric:
                raise InvalidValueError(
                    "cannot extend an asymmetric similarity to new items; fuse symmetrised matrices "
                    "(W + W.T) / 2."
                )
            extended = np.zeros_like(similarities)
            if present.any():
                walk = DenseWalk(source.weights, True)
                scaled = np.ldexp(similarities[present], -walk.exponent)
                items = np.flatnonzero(present)
                found = extended_rows(walk, *first_step_from(scaled, items), t, items)
                extended[present] = np.minimum(found, 1.0)
            rows.append(extended)
        return self._mean_of(rows)

    def _mean_of(self, rows: list[np.ndarray]) -> np.ndarray:
        total, total_weight = np.zeros(self.shape), np.zeros(self.shape)
        for source, weight, values, present in zip(
            self.fusion.sources, self.fusion.weights, rows, self.present, strict=True
        ):
            inside = np.ix_(present, source.known)
            total[inside] += weight * values[present]
            total_weight[inside] += weight
        return np.divide(total, total_weight, out=total, where=total_weight > 0)


def read_fused_rows(fusion: Fusion, X: Any) -> FusedRows:
    """New items of a fusion, from their similarities or distances to fitted items in each source."""
    if fusion.how == "cross":
        raise InvalidValueError(
            "new items cannot be added after fuse(how='cross'), which mixes pairs of sources; use "
            "how='before' or how='after'."
        )
    matrices = check_list(X, "X", "matrices, one per source")
    if len(matrices) != len(fusion.sources):
        raise InvalidValueError(
            f"X has {len(matrices)} matrices, but {len(fusion.sources)} sources were fused; pass one matrix "
            f"of shape (m, {fusion.n}) per source."
        )
    similarities: list[np.ndarray] = []
    present: list[np.ndarray] = []
    for i, (matrix, source) in enumerate(zip(matrices, fusion.sources, strict=True)):
        name = f"X[{i}]"
        rows = _dense_rows(matrix, name, source)
        if rows.ndim != 2 or rows.shape[1] != fusion.n:
            raise InvalidValueError(
                f"{name} has shape {rows.shape}, but (m, {fusion.n}) is needed: the values between new and "
                "fitted items."
            )
        if i and len(rows) != len(present[0]):
            raise InvalidValueError(
                f"{name} has {len(rows)} rows and X[0] has {len(present[0])}; each must describe the same "
                "new items. Mark items that are missing in a source by rows of NaN."
            )
        contained, values = _known_values(rows, name, source)
        similarities.append(values)
        present.append(contained)
    weighted = [own for own, weight in zip(present, fusion.weights, strict=True) if weight > 0]
    missing = ~np.any(weighted, axis=0)
    if missing.any():
        raise InvalidValueError(
            f"new item {int(missing.argmax())} is missing in every source of positive weight; drop it."
        )
    return FusedRows(fusion, similarities, present)


def fused_blocks(new: FusedRows, t: float) -> Iterator[tuple[slice, np.ndarray]]:
    """All new items of a fusion by how="after", as one block."""
    yield slice(0, new.shape[0]), new.smoothed(t)


def _dense_rows(matrix: Any, name: str, source: SimilaritySource) -> np.ndarray:
    if not sparse.issparse(matrix):
        return np.asarray(real_array(matrix, name), np.float64)
    # Pairs that are not stored are infinitely far apart.
    return to_dense(matrix, 0.0 if source.kernel is None else np.inf)


def _known_values(
    rows: np.ndarray, name: str, source: SimilaritySource
) -> tuple[np.ndarray, np.ndarray]:
    """Which new items a source contains, and their similarities to its fitted items."""
    values = rows[:, source.known]
    present = ~np.isnan(values).all(axis=1)
    checked = values[present]
    if np.isnan(checked).any() or (checked < 0).any():
        raise InvalidValueError(
            f"{name} contains negative values, or NaN in a row that is not all NaN, but similarities and "
            "distances must be >= 0, and a missing item is a row of NaN."
        )
    similarities = np.zeros_like(values)
    if present.any():
        similarities[present] = (
            checked if source.kernel is None else source.kernel.similarities(checked, None)
        )
    return present, similarities
