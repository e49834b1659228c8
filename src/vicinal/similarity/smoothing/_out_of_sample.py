"""Points in a smoothed similarity: distances of the fitted ones, and the first step of new ones to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import validate_input
from vicinal._core.memory import require_memory
from vicinal._core.parallel import blocks
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.neighborhoods import knn
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors._kept_search import KeptSearch
from vicinal.neighbors.metric import as_metric
from vicinal.similarity.smoothing.operator import SELF, check_self_similarity

# Similarities of new points that are held at a time.
ENTRIES = 1 << 22
# Self-similarities that differ by less are the same.
SAME = 1e-12


@dataclass
class PointKernel:
    """The kernel of fitted points, to be extended to others.

    Attributes
    ----------
    points : ndarray (n, n_features) or None
        None if distances were given.
    scales : ndarray (n,)
        Of the fitted points.
    nearest : int
        Number of fitted points that a new one is compared with.
    """

    points: np.ndarray | None
    scales: np.ndarray
    nearest: int
    bandwidth: float
    n_neighbors: int
    width: str
    metric: Any
    n_jobs: int | None
    _search: KeptSearch

    @classmethod
    def of(
        cls, points: np.ndarray | None, distances: Any, scales: np.ndarray, model: Any
    ) -> PointKernel:
        """The kernel of a `SelfSmoothing`, from distances and the scales of the points."""
        n = len(scales)
        # Sparse distances are those to near points only.
        nearest = n if isinstance(distances, np.ndarray) else min(n, model.n_neighbors + 1)
        return cls(
            points,
            scales,
            nearest,
            model.bandwidth,
            model.n_neighbors,
            model.width,
            model.metric,
            model.n_jobs,
            KeptSearch(points, model.metric),
        )

    def search(self) -> NeighborSearch | None:
        """The search among fitted points; None if distances are given."""
        return None if self.points is None else self._search(self.n_jobs)

    def similarities(self, X: np.ndarray, search: NeighborSearch | None) -> np.ndarray:
        """Kernel (m, n) of new points and fitted ones, formula (1)."""
        indices, _, exponents = self._exponents(X, search)
        return _placed(np.exp(-exponents), indices, len(self.scales))

    def first_step(
        self, X: np.ndarray, search: NeighborSearch | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities (m, n) of the first step of each new point, and its degree."""
        indices, distances, exponents = self._exponents(X, search)
        degrees = np.maximum(np.exp(-exponents).sum(axis=1), 1.0)
        with np.errstate(invalid="ignore"):
            # Relative to the nearest: a point far from everything still goes somewhere.
            relative = exponents - exponents.min(axis=1, keepdims=True)
            shares = np.exp(-np.nan_to_num(relative, nan=0.0))
        shares[np.isinf(distances)] = 0.0
        shares /= shares.sum(axis=1, keepdims=True)
        return _placed(shares, indices, len(self.scales)), degrees

    def _exponents(
        self, X: np.ndarray, search: NeighborSearch | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Fitted points by distance, their distances, and what the kernel has in its exponent."""
        if search is None:
            indices = np.argsort(X, axis=1, kind="stable")
            distances = np.take_along_axis(X, indices, axis=1)
        else:
            indices, distances = search.nearest(self.nearest, queries=X)
        scales = self.scales[indices] / 2 + self._own_scales(distances)[:, None] / 2
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            exponents = np.where(
                distances == 0, 0.0, np.square(distances / scales) / self.bandwidth
            )
        return indices, distances, exponents

    def _own_scales(self, distances: np.ndarray) -> np.ndarray:
        if self.width == "global":
            return np.full(len(distances), self.scales[0])
        k = max(1, min(self.n_neighbors, len(self.scales) - 1))
        near = distances[:, : k + 1]
        known = np.isfinite(near)
        # A point at a fitted one is that one, which is not its own neighbour.
        here = (distances[:, 0] == 0).astype(np.int64)
        used = np.clip(known.sum(axis=1) - here, 1, k)
        known &= np.arange(near.shape[1]) < (used + here)[:, None]
        return (np.where(known, near, 0.0) / used[:, None]).sum(axis=1)


def _placed(values: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    rows = np.zeros((len(indices), n))
    np.put_along_axis(rows, indices, values, axis=1)
    return rows


def point_distances(points: np.ndarray, model: Any, dense: bool) -> Any:
    """Distances of all pairs of points, or of near ones in a sparse matrix."""
    n = len(points)
    if n == 1:
        return np.zeros((1, 1)) if dense else sparse.csr_array((1, 1))
    if not dense:
        k = min(model.n_neighbors, n - 1)
        graph = knn(points, k, metric=model.metric, n_jobs=model.n_jobs, verbose=model.verbose)
        return graph.to_scipy("lengths")
    remedy = "Give method='sparse', which holds near pairs only."
    require_memory(40.0 * n * n, f"The similarity of {n:,} points", remedy)
    return as_metric(model.metric).distance_rows(points, model.n_jobs)(0, n)


def is_given(metric: Any) -> bool:
    """Whether X holds distances or similarities, not points."""
    return isinstance(metric, str) and metric in ("precomputed", "similarity")


def check_new(model: Any, X: Any) -> Any:
    """New points of a fitted `SelfSmoothing`, or their distances or similarities to the fitted ones."""
    if not hasattr(model._walk, "sums") or (model.metric != "similarity" and not model._kernel):
        raise InvalidValueError(
            "this SelfSmoothing was fused from similarities, so new points have none; fit it on "
            "points, distances or a similarity."
        )
    given = is_given(model.metric)
    sparse_too = "csr" if given else False
    new = validate_input(model, X, reset=False, dtype=np.float64, accept_sparse=sparse_too)
    if given and new.min() < 0:
        raise InvalidValueError(f"X holds the negative value {new.min():g}, but it must be >= 0.")
    return new


def extended_blocks(model: Any, X: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """Similarities of new points to the fitted ones before clamping, of a block of points at a time.

    Parameters
    ----------
    model : SelfSmoothing
    X : ndarray or csr_array
        As `check_new` gives it. A distance that is not stored is infinite, a similarity 0.
    """
    walk, kernel, t = model._walk, model._kernel, model.t_
    own = _own_at_the_start(walk) if t == 0 else None
    if own is None and not walk.symmetric:
        raise InvalidValueError(
            "the fitted similarity is not symmetric, so rows of new items do not tell how similar fitted "
            "items are to them, and with that not how similar they are to themselves; fit (W + W.T) / 2."
        )
    search = kernel.search() if kernel else None
    for start, stop in blocks(X.shape[0], max(1, ENTRIES // len(walk.sums))):
        part = X[start:stop]
        if sparse.issparse(part):
            part = _filled(part, np.inf if kernel else 0.0)
        items = np.arange(start, stop)
        if kernel:
            _check_reached(np.isfinite(part).any(axis=1), items)
        else:
            part = np.ldexp(part, -walk.exponent)
        if own is not None:
            rows = kernel.similarities(part, search) if kernel else part / own
        else:
            first, degrees = kernel.first_step(part, search) if kernel else _first_step(part, items)
            rows = extended_rows(walk, first, degrees, t, items)
        yield slice(start, stop), rows


def extended_rows(
    walk: Any, first: np.ndarray, degrees: np.ndarray, t: float, items: np.ndarray
) -> np.ndarray:
    """Rows of W_t of new points over their own entry.

    With w = d p the similarities of a new point, its row of W P^t is d p P^t, and its own entry is
    d p P^(t-1) D^-1 p' d. At a fitted point both are what they are there.
    """
    remedy = SELF
    if t < 1:
        own = walk.complete().returns(first, t - 1)
        remedy = "A similarity that is not positive semi-definite needs t = 1 or more."
    else:
        # Not times an inverse: that of a very small sum overflows.
        sums = np.where(walk.sums > 0, walk.sums, np.inf)
        own = (walk.spread(first, t - 1) * first / sums).sum(axis=1)
    check_self_similarity(own, items, remedy)
    rows = first if t == 0 else walk.spread(first, t)
    return rows / (degrees * own)[:, None]


def _own_at_the_start(walk: Any) -> float | None:
    """What every fitted item has as similarity to itself, so that new ones have it too."""
    diagonal = walk.weights.diagonal()
    check_self_similarity(diagonal)
    if np.ptp(diagonal) <= SAME * diagonal.max():
        return float(diagonal[0])
    if walk.symmetric and hasattr(walk, "complete"):
        return None
    raise InvalidValueError(
        "t=0, but fitted items are more or less similar to themselves, so that it is not known how similar "
        "new ones are; divide rows by the diagonal first."
    )


def _first_step(rows: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and degree of new items from their similarities to the fitted ones."""
    degrees = rows.sum(axis=1)
    _check_reached(degrees > 0, items)
    return rows / degrees[:, None], degrees


def _check_reached(reached: np.ndarray, items: np.ndarray) -> None:
    if not reached.all():
        raise InvalidValueError(
            f"X[{items[np.argmin(reached)]}] is not similar to any fitted item, so there is no way to it."
        )


def _filled(part: Any, missing: float) -> np.ndarray:
    """A sparse block in full; stored zeros stay."""
    part = sparse.coo_array(part)
    part.sum_duplicates()
    full = np.full(part.shape, missing)
    full[part.row, part.col] = part.data
    return full
