"""Points in a smoothed similarity: distances of fitted points, and the first step from new points to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import validate_input
from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.neighborhoods import knn
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors._cached_search import CachedSearch
from vicinal.neighbors.metric import as_metric
from vicinal.similarity.smoothing.operator import POSITIVE_DIAGONAL, check_self_similarity

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike

# Number of similarities of new points per block.
ENTRIES_PER_BLOCK = 1 << 22
# Self-similarities that differ by less, relatively, are equal.
DIAGONAL_TOLERANCE = 1e-12


@dataclass
class PointKernel:
    """The kernel of fitted points, which can be extended to new points.

    Attributes
    ----------
    points : ndarray (n, n_features) or None
        Fitted points; None if X holds distances.
    scales : ndarray (n,)
        Kernel scales of the fitted points.
    nearest : int
        Number of fitted points that each new point is compared with.
    """

    points: Any
    scales: np.ndarray
    nearest: int
    bandwidth: float
    n_neighbors: int
    width: str
    metric: Any
    n_jobs: int | None
    _search: CachedSearch

    @classmethod
    def of(cls, points: Any, distances: Any, scales: np.ndarray, model: Any) -> PointKernel:
        """The kernel of a `SelfSmoothing`, from the distances and scales of its points."""
        n = len(scales)
        # Sparse distances contain near points only.
        nearest = n if isinstance(distances, np.ndarray) else min(n, model.n_neighbors + 1)
        return cls(
            points,
            scales,
            nearest,
            float(model.bandwidth),
            model.n_neighbors,
            model.width,
            model.metric,
            model.n_jobs,
            CachedSearch(points, model.metric),
        )

    def with_one_scale(self, scale: float, bandwidth: float) -> PointKernel:
        """The kernel with the same scale for all points."""
        scales = np.full(len(self.scales), scale)
        return replace(self, scales=scales, bandwidth=bandwidth, width="global")

    def search(self) -> NeighborSearch | None:
        """The search among fitted points; None if X holds distances."""
        return None if self.points is None else self._search()

    def similarities(self, X: Any, search: NeighborSearch | None) -> np.ndarray:
        """Kernel (m, n) between new and fitted points, formula (1)."""
        indices, _, exponents = self._exponents(X, search)
        return _scatter(np.exp(-exponents), indices, len(self.scales))

    def first_step(self, X: Any, search: NeighborSearch | None) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities (m, n) of the first step of each new point, and its degree."""
        indices, distances, exponents = self._exponents(X, search)
        degrees = np.maximum(np.exp(-exponents).sum(axis=1), 1.0)
        with np.errstate(invalid="ignore"):
            # Relative to the nearest point, so that a distant point has a first step, too.
            relative = exponents - exponents.min(axis=1, keepdims=True)
            probabilities = np.exp(-np.nan_to_num(relative, nan=0.0))
        probabilities[np.isinf(distances)] = 0.0
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return _scatter(probabilities, indices, len(self.scales)), degrees

    def _exponents(
        self, X: Any, search: NeighborSearch | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Fitted points sorted by distance, their distances, and the negative exponents of the kernel."""
        if search is None:
            indices = np.argsort(X, axis=1, kind="stable")
            distances = np.take_along_axis(X, indices, axis=1)
        else:
            indices, distances = search.nearest(self.nearest, queries=X)
        scales = self.scales[indices] / 2 + self._new_scales(distances)[:, None] / 2
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            exponents = np.where(
                distances == 0, 0.0, np.square(distances / scales) / self.bandwidth
            )
        return indices, distances, exponents

    def _new_scales(self, distances: np.ndarray) -> np.ndarray:
        """Kernel scales of new points."""
        if self.width == "global":
            return np.full(len(distances), self.scales[0])
        k = max(1, min(self.n_neighbors, len(self.scales) - 1))
        near = distances[:, : k + 1]
        known = np.isfinite(near)
        # A new point at the position of a fitted point is that point, which is not its own neighbour.
        coincides = (distances[:, 0] == 0).astype(np.int64)
        used = np.clip(known.sum(axis=1) - coincides, 1, k)
        known &= np.arange(near.shape[1]) < (used + coincides)[:, None]
        return (np.where(known, near, 0.0) / used[:, None]).sum(axis=1)


def _scatter(values: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    rows = np.zeros((len(indices), n))
    np.put_along_axis(rows, indices, values, axis=1)
    return rows


def point_distances(points: Any, model: Any, dense: bool) -> Any:
    """Distances of all pairs of points, or of neighbours only in a sparse matrix."""
    n = points.shape[0]
    if n == 1:
        return np.zeros((1, 1)) if dense else sparse.csr_array((1, 1))
    if not dense:
        k = min(model.n_neighbors, n - 1)
        graph = knn(points, k, metric=model.metric, n_jobs=model.n_jobs, verbose=model.verbose)
        return graph.to_scipy("lengths")
    remedy = "Use method='sparse', which stores near pairs only."
    require_memory(40.0 * n * n, f"The similarity of {n:,} points", remedy)
    return as_metric(model.metric).distance_rows(points)(0, n)


def holds_similarities(metric: MetricLike) -> bool:
    """Whether X holds similarities of items, metric="similarity"."""
    return isinstance(metric, str) and metric == "similarity"


def is_pairwise(metric: MetricLike) -> bool:
    """Whether X holds distances or similarities of pairs instead of points."""
    return holds_similarities(metric) or as_metric(metric).is_precomputed


def accepts_sparse(metric: MetricLike) -> bool:
    """Whether X may be a sparse matrix."""
    return is_pairwise(metric) or as_metric(metric).accepts_sparse


def check_new(model: Any, X: Any) -> Any:
    """Checked new points of a fitted `SelfSmoothing`, or their distances or similarities to fitted points."""
    pairwise = is_pairwise(model.metric)
    accepted = "csr" if pairwise or sparse.issparse(model._kernel.points) else False
    new = validate_input(model, X, reset=False, dtype=np.float64, accept_sparse=accepted)
    if pairwise and new.min() < 0:
        raise InvalidValueError(
            f"X contains the negative value {new.min():g}, but distances and similarities must be >= 0."
        )
    return new


def extended_blocks(model: Any, X: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """Similarities of new to fitted points before clamping, one block of points at a time.

    Parameters
    ----------
    model : SelfSmoothing
        The fitted estimator.
    X : ndarray or csr_array
        Checked by `check_new`. A distance that is not stored is infinite, a similarity 0.

    Yields
    ------
    rows : slice
        Points of the block.
    similarities : ndarray (len(block), n)
        Their similarities.
    """
    walk, kernel, t = model._walk, model._kernel, model.t_
    diagonal = _constant_diagonal(walk) if t == 0 else None
    if diagonal is None and not walk.symmetric:
        raise InvalidValueError(
            "cannot extend an asymmetric similarity to new items; fit the symmetrised matrix "
            "(W + W.T) / 2."
        )
    search = kernel.search() if kernel else None
    for start, stop in blocks(X.shape[0], max(1, ENTRIES_PER_BLOCK // len(walk.sums))):
        block = X[start:stop]
        items = np.arange(start, stop)
        if search is None and sparse.issparse(block):
            block = to_dense(block, np.inf if kernel else 0.0)
        if not kernel:
            block = np.ldexp(block, -walk.exponent)
        elif search is None:
            _check_reached(np.isfinite(block).any(axis=1), items)
        if diagonal is not None:
            rows = kernel.similarities(block, search) if kernel else block / diagonal
        else:
            step = kernel.first_step(block, search) if kernel else first_step_from(block, items)
            first, degrees = step
            rows = extended_rows(walk, first, degrees, t, items)
        yield slice(start, stop), rows


def extended_rows(
    walk: Any, first: np.ndarray, degrees: np.ndarray, t: float, items: np.ndarray
) -> np.ndarray:
    """Rows of W_t of new points, divided by their self-similarities.

    If w = d p are the similarities of a new point, its row of W P^t is d p P^t, and its self-similarity is
    d p P^(t-1) D^-1 p' d. For a fitted point, both agree with the fitted values.
    """
    remedy = POSITIVE_DIAGONAL
    if t < 1:
        self_similarity = walk.complete().returns(first, t - 1)
        remedy = "A similarity that is not positive semi-definite needs t >= 1."
    else:
        # Division instead of an inverse, which overflows for a very small sum.
        sums = np.where(walk.sums > 0, walk.sums, np.inf)
        self_similarity = (walk.spread(first, t - 1) * first / sums).sum(axis=1)
    check_self_similarity(self_similarity, items, remedy)
    rows = first if t == 0 else walk.spread(first, t)
    return rows / (degrees * self_similarity)[:, None]


def _constant_diagonal(walk: Any) -> float | None:
    """Self-similarity that all fitted items share, and thus new items too; None if it can be extended."""
    diagonal = walk.weights.diagonal()
    check_self_similarity(diagonal)
    if np.ptp(diagonal) <= DIAGONAL_TOLERANCE * diagonal.max():
        return float(diagonal[0])
    if walk.symmetric and hasattr(walk, "complete"):
        return None
    raise InvalidValueError(
        "t=0, but the self-similarities of fitted items differ, so those of new items are unknown; divide "
        "the rows of the similarity by its diagonal before fitting."
    )


def first_step_from(rows: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First-step probabilities and degrees of new items, from their similarities to fitted items."""
    degrees = rows.sum(axis=1)
    _check_reached(degrees > 0, items)
    return rows / degrees[:, None], degrees


def _check_reached(reached: np.ndarray, items: np.ndarray) -> None:
    if not reached.all():
        raise InvalidValueError(
            f"X[{items[np.argmin(reached)]}] has zero similarity to every fitted item; drop it."
        )


def to_dense(block: Any, missing: float) -> np.ndarray:
    """A sparse block as a dense array, with ``missing`` where nothing is stored."""
    entries = sparse.coo_array(block)
    entries.sum_duplicates()
    dense = np.full(entries.shape, missing)
    dense[entries.row, entries.col] = entries.data
    return dense
