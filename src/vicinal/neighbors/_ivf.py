"""Points in groups by k-means, and the search of each point's nearest groups.

Group after group: one matrix product with all points of a block that ask for the group.
"""

from __future__ import annotations

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal.neighbors import _brute as brute
from vicinal.neighbors._brute import Frame, Placed
from vicinal.neighbors._brute_kernels import measure_best, push_candidates

N_ITERATIONS, SAMPLES_PER_GROUP = 6, 32
# Groups around that of a point, for each one that it probes: its nearest ones are among them.
WIDER = 4
# Groups that a point looks into before all others: they narrow its reach at once.
FIRST = 4
# Queries that a task works on; enough of them ask for the same group to make products pay.
QUERIES, COLUMNS = 16384, 4096


class Groups:
    """Points grouped by k-means, along the leading axes if there are any."""

    def __init__(
        self,
        frame: Frame,
        placed: Placed,
        axes: np.ndarray | None,
        turned: np.ndarray,
        random: np.random.Generator,
        n_jobs: int | None,
    ) -> None:
        # ``turned`` are the placed points along the axes.
        self.frame, self.placed, self.axes, self.points = frame, placed, axes, turned
        n_groups = int(2.5 * np.sqrt(len(self.points)))
        self.centres = find_centres(self.points, n_groups, random, n_jobs)
        self.labels = nearest_centre(self.points, self.centres, n_jobs)
        self.order = np.argsort(self.labels, kind="stable")
        self.sizes = np.bincount(self.labels, minlength=n_groups)
        self.ends = np.cumsum(self.sizes)
        self.half = brute.half_squares(self.centres).astype(np.float32)
        self.around = np.argsort(self.half - self.centres @ self.centres.T, axis=1, kind="stable")

    def turn(self, points: np.ndarray) -> np.ndarray:
        """Coordinates of placed points along the axes."""
        return points if self.axes is None else points @ self.axes.T

    def probes(self, points: np.ndarray, labels: np.ndarray, n_groups: int) -> np.ndarray:
        """The ``n_groups`` groups whose centres are nearest to each point, the `FIRST` of them in front.

        Looked for among those around the point's own group. Points come in the order of their ``labels``.
        """
        n_around = min(WIDER * n_groups + 16, len(self.centres))
        probed = np.empty((len(points), n_groups), np.uint16)
        parted = sorted({min(FIRST, n_groups) - 1, n_groups - 1})
        starts = np.flatnonzero(np.diff(labels, prepend=-1))
        for a, b in zip(starts, [*starts[1:], len(labels)], strict=True):
            near = self.around[labels[a], :n_around]
            keys = self.half[near] - points[a:b] @ self.centres[near].T
            probed[a:b] = near[np.argpartition(keys, parted, axis=1)[:, :n_groups]]
        return probed

    def join(
        self,
        queries: np.ndarray,
        X: np.ndarray,
        asked: np.ndarray,
        labels: np.ndarray,
        k: int,
        n_groups: int,
        *,
        exclude_self: bool,
        n_jobs: int | None,
        progress: str | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Neighbours among X of the queries, which are ``asked`` along the axes, near centres ``labels``."""
        n, order = len(queries), np.argsort(labels, kind="stable")
        indices, squares = np.empty((n, k), np.int64), np.empty((n, k))

        def search(span: tuple[int, int]) -> None:
            rows = order[span[0] : span[1]]
            points = asked[rows]
            probed = self.probes(points, labels[rows], n_groups)
            reach, keys, ids = _new_lists(len(rows), list_length(k))
            names = rows if exclude_self else np.full(len(rows), -1)
            for part in (probed[:, :FIRST], probed[:, FIRST:]):
                self._offer_groups(points, part, names, reach, keys, ids)
            measure_best(queries, X, rows, ids, indices, squares)
            short = rows[indices[rows, -1] < 0]
            # Products that are exact among the points need not be so with other queries.
            frame = self.frame if exclude_self else self.frame._replace(exact=())
            brute.search_completely(
                queries, X, frame, self.placed, short, indices, squares, exclude_self
            )

        with one_blas_thread():
            spans = blocks(n, min(QUERIES, max(1024, n // 8)))
            map_threads(search, spans, n_jobs, progress=progress)
        return indices, np.sqrt(squares, out=squares)

    def _offer_groups(
        self,
        points: np.ndarray,
        probed: np.ndarray,
        names: np.ndarray,
        reach: np.ndarray,
        keys: np.ndarray,
        ids: np.ndarray,
    ) -> None:
        """Offer to the list of each point the members of the groups that it probes."""
        # Two bytes a number: numpy sorts these by radix.
        asking = np.argsort(probed, axis=None, kind="stable") // max(1, probed.shape[1])
        ends = np.cumsum(np.bincount(probed.ravel(), minlength=len(self.sizes)))
        for group in np.unique(probed):
            at = asking[ends[group - 1] if group else 0 : ends[group]]
            first, last = self.ends[group] - self.sizes[group], self.ends[group]
            for c in range(first, last, COLUMNS):
                near = self.order[c : min(c + COLUMNS, last)]
                members, their_names = self.points[near].T, near.astype(np.int32)
                half = self.placed.half[near].astype(np.float32)
                for a, b in blocks(len(at), brute.STRIP_ROWS):
                    products = points[at[a:b]] @ members
                    push_candidates(products, at[a:b], half, their_names, names, reach, keys, ids)


def list_length(k: int) -> int:
    """Candidates that are measured for k neighbours: products of few axes and digits may swap some."""
    return k + max(8, k // 4)


def _new_lists(n: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Empty lists of candidates: the reach of each, keys and names."""
    return (
        np.full(n, np.inf, np.float32),
        np.full((n, length), np.inf, np.float32),
        np.full((n, length), -1, np.int32),
    )


def load_kernels(X: np.ndarray) -> None:
    """Compile, or read from the cache, what `Groups.join` runs."""
    own, (reach, keys, ids) = np.zeros(1, np.int64), _new_lists(1, 1)
    push_candidates(keys, own, reach, ids[0], own, reach, keys, ids)
    measure_best(X[:1], X[:1], own, ids, ids.astype(np.int64), keys.astype(np.float64))


def find_centres(
    points: np.ndarray, n_groups: int, random: np.random.Generator, n_jobs: int | None
) -> np.ndarray:
    """Centres of groups by a few rounds of k-means on a sample."""
    size = min(len(points), SAMPLES_PER_GROUP * n_groups)
    sample = points[np.sort(random.choice(len(points), size, replace=False))]
    centres = sample[random.choice(size, n_groups, replace=False)]
    for _ in range(N_ITERATIONS):
        labels = nearest_centre(sample, centres, n_jobs)
        order = np.argsort(labels, kind="stable")
        filled, starts = np.unique(labels[order], return_index=True)
        sums = np.add.reduceat(sample[order], starts, axis=0)
        # A group that lost all its points keeps its centre.
        centres[filled] = sums / np.diff(np.append(starts, size))[:, None]
    return centres


def nearest_centre(points: np.ndarray, centres: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Number of the centre nearest to each point."""
    half = brute.half_squares(centres).astype(np.float32)
    labels = np.empty(len(points), np.int64)

    def assign(span: tuple[int, int]) -> None:
        a, b = span
        products = points[a:b] @ centres.T
        products -= half
        labels[a:b] = products.argmax(axis=1)

    with one_blas_thread():
        # Large blocks: between two of them a thread may wait for the one that compiles.
        map_threads(assign, blocks(len(points), 4096), n_jobs)
    return labels
