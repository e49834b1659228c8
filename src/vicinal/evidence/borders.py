"""Clusters as groups of points with a valley of the density along each border between two of them.

Points climb to the nearest denser neighbour, and the pieces that climb to one peak merge where a border has
no valley. The coordinate across a border is where a walk from a point ends up on average, -1 or +1, as a
quantile of the normal distribution: across a straight border in even density it is evenly spread. A valley is
a stretch of it that is emptier, in standard errors, than both sides.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from vicinal.evidence._border_kernels import deepest_valley, nodes_near_border, walk_across
from vicinal.evidence.constants import (
    CHANCE_DEPTH,
    COMPACT,
    CURVE,
    FREE_VALLEY,
    MAX_STEPS,
    MIN_SIDE,
    MIN_STEPS,
    MIN_VALLEY,
    MIN_VALLEY_ON_CURVES,
    MIN_WINDOW,
    N_NEIGHBORS,
    REACH,
    SCALE_NEIGHBOR,
)
from vicinal.operators._matmul_kernels import hops_from

# Rounds of a walk, each of which smooths the border.
ROUNDS = 3
# Quantiles beyond this are rounding errors of the walk.
SMALLEST = 1e-16


class Valleys(NamedTuple):
    """Groups with valleys between them, and the merges that would come next.

    Attributes
    ----------
    labels : ndarray of int (n,)
        Group of each point.
    merges : list of (ndarray of int, float)
        Labels after each further merge, with the depth of the valley that it ignores, relative to the least
        that counts, ascending.
    """

    labels: np.ndarray
    merges: list[tuple[np.ndarray, float]]


def find_valleys(
    weights: sparse.csr_array,
    indices: np.ndarray,
    distances: np.ndarray,
    dimension: float,
    parts: np.ndarray,
) -> Valleys:
    """Groups of points with valleys between them, within each of the given parts.

    Parameters
    ----------
    weights : csr_array (n, n)
        Symmetric weights of a graph of neighbours, in which every part is connected and no two parts are.
    indices, distances : ndarray (n, more than 10)
        Nearest neighbours, starting with the point itself.
    dimension : float
        Intrinsic dimension.
    parts : ndarray of int (n,)
        Part of each point.
    """
    required = np.array(
        [required_valley(weights, np.flatnonzero(parts == p)) for p in range(parts.max() + 1)]
    )
    pieces = climb(indices, distances, parts)
    borders = _Borders(weights, pieces, dimension, required[parts])
    labels = borders.merge_without_valley()
    return Valleys(labels, borders.merge_the_rest())


def required_valley(weights: sparse.csr_array, members: np.ndarray) -> float:
    """Depth of a valley that chance does not reach in a set of this shape, in standard errors."""
    within = (
        sparse.csr_array(weights[members][:, members])
        if len(members) < weights.shape[0]
        else weights
    )
    shapes = [COMPACT, CURVE]
    return float(np.interp(thinness(within), shapes, [MIN_VALLEY, MIN_VALLEY_ON_CURVES]))


def thinness(graph: sparse.csr_array) -> float:
    """Longest shortest path, in units of the side of a square of as many neighbourhoods."""
    n = graph.shape[0]
    steps = np.empty(n, np.int64)
    ends = graph.indptr.astype(np.int32), graph.indices.astype(np.int32)
    last = hops_from(hops_from(0, *ends, steps), *ends, steps)
    # A step is one radius long; an independent neighbourhood is two radii wide.
    return float(steps[last] / 2.0 / np.sqrt(n / N_NEIGHBORS))


def climb(indices: np.ndarray, distances: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Pieces of points that climb to the same peak, by their nearest denser neighbour of the same part.

    Only neighbours that list the point too are climbed to, so that an outlier is a peak of its own.
    """
    n = len(indices)
    k = min(N_NEIGHBORS, distances.shape[1] - 1)
    radii = distances[:, k]
    rank = np.empty(n, np.int64)
    rank[np.argsort(radii, kind="stable")] = np.arange(n)
    few = min(SCALE_NEIGHBOR, k)
    near, lengths = indices[:, 1 : few + 1], distances[:, 1 : few + 1]
    is_up = (
        (rank[near] < rank[:, None]) & (lengths <= radii[near]) & (parts[near] == parts[:, None])
    )
    up = np.where(is_up.any(axis=1), near[np.arange(n), is_up.argmax(axis=1)], np.arange(n))
    while (up[up] != up).any():
        up = up[up]
    return np.unique(up, return_inverse=True)[1]


class _Borders:
    """Groups that merge, the links between them, and the scratch of the walks."""

    def __init__(
        self, weights: sparse.csr_array, pieces: np.ndarray, dimension: float, required: np.ndarray
    ) -> None:
        n = len(pieces)
        self.arrays = (
            weights.indptr.astype(np.int64),
            weights.indices.astype(np.int64),
            weights.data.astype(np.float64),
        )
        self.group = pieces.astype(np.int64)
        self.required, self.power = required, 2.0 / max(dimension - 1.0, 1.0)
        order = np.argsort(pieces, kind="stable")
        ends = np.cumsum(np.bincount(pieces))[:-1]
        self.members = dict(enumerate(np.split(order, ends)))
        self.n_named = len(self.members)
        between = sparse.coo_array(_sums(weights, pieces))
        self.links: dict[int, dict[int, float]] = {g: {} for g in self.members}
        ends_of_links = between.row.tolist(), between.col.tolist(), between.data.tolist()
        for a, b, weight in zip(*ends_of_links, strict=True):
            if a != b:
                self.links[a][b] = weight
        self.index, self.nodes = np.full(n, -1), np.empty(n, np.int64)
        self.walk = np.empty(n), np.empty(n), np.empty(n), np.empty(n + 1, np.int64)
        self.edges = np.empty(len(weights.data), np.int64), np.empty(len(weights.data))
        self.scratch = np.empty((2, n))
        self.waiting: list[tuple[float, int, int]] = []

    def merge_without_valley(self) -> np.ndarray:
        """Merge until every border has a valley; points near a border get the side of the walk."""
        free: list[tuple[float, int, int]] = []
        for a, links in self.links.items():
            for b in links:
                if a < b:
                    heapq.heappush(free, (-self._link(a, b), a, b))
        while True:
            pair = self._next(free) or self._next(self.waiting)
            if pair is None:
                break
            depth, a, b = pair
            if depth < 0.0:  # by the strength of its link
                depth = self.depth(a, b)
                if depth >= FREE_VALLEY / MIN_VALLEY:
                    heapq.heappush(self.waiting, (depth, a, b))
                    continue
            elif depth >= 1.0:
                heapq.heappush(self.waiting, (depth, a, b))
                break
            merged = self._merge(a, b)
            for other in self.links[merged]:
                heapq.heappush(free, (-self._link(merged, other), merged, other))
        return self._settled()

    def merge_the_rest(self) -> list[tuple[np.ndarray, float]]:
        """Labels after each further merge, those with the shallowest valley first."""
        merges = []
        deepest = 1.0
        while (pair := self._next(self.waiting)) is not None:
            depth, a, b = pair
            merged = self._merge(a, b)
            for other in self.links[merged]:
                heapq.heappush(self.waiting, (max(self.depth(merged, other), 0.0), merged, other))
            deepest = max(deepest, depth)
            merges.append((np.unique(self.group, return_inverse=True)[1], deepest))
        return merges

    def depth(self, a: int, b: int) -> float:
        """Depth of the valley between two groups, relative to the least that counts."""
        if min(len(self.members[a]), len(self.members[b])) < MIN_WINDOW:
            return -np.inf
        u = np.clip((1.0 + self._across(a, b)[0]) / 2.0, SMALLEST, 1.0 - SMALLEST)
        values = np.sort(ndtri(u))
        middle = int(np.searchsorted(values, 0.0))
        first = min(int(np.searchsorted(values, -REACH)), max(middle - MIN_SIDE, 0))
        last = max(int(np.searchsorted(values, REACH)), middle + MIN_SIDE)
        values = spread_ties(values[first:last])
        errors = deepest_valley(values, MIN_WINDOW, CHANCE_DEPTH, *self.scratch)
        return float(errors / self.required[self.members[a][0]])

    def _across(self, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the walk ends on average, from the nodes near a border, and the nodes."""
        indptr, indices, weights = self.arrays
        first, second = self.members[a], self.members[b]
        sizes = len(first), len(second)
        n, steps = nodes_near_border(
            indptr,
            indices,
            self.group,
            a,
            b,
            first if sizes[0] <= sizes[1] else second,
            sizes,
            self.power,
            (MIN_STEPS, MAX_STEPS, MIN_SIDE),
            self.index,
            self.nodes,
            np.empty(2, np.int64),
        )
        arrays = (*self.walk, *self.edges, self.index, self.nodes)
        walk_across(indptr, indices, weights, self.group, a, b, n, sizes, steps, ROUNDS, arrays)
        return self.walk[0][:n].copy(), self.nodes[:n].copy()

    def _settled(self) -> np.ndarray:
        """Labels after points near a border went to the side of the walk, unless a group would vanish."""
        for a in self.members:
            for b in self.links[a]:
                if a > b:
                    continue
                u, nodes = self._across(a, b)
                before = self.group[nodes]
                self.group[nodes] = np.where(u > 0, b, a)
                both = np.concatenate([self.members[a], self.members[b]])
                first, second = both[self.group[both] == a], both[self.group[both] == b]
                if min(len(first), len(second)) < MIN_WINDOW:
                    self.group[nodes] = before
                else:
                    self.members[a], self.members[b] = first, second
        return np.unique(self.group, return_inverse=True)[1]

    def _link(self, a: int, b: int) -> float:
        """Strength of the link of two groups, which is positive."""
        sizes = len(self.members[a]) * len(self.members[b])
        return max(self.links[a][b] / np.sqrt(sizes), 1e-300)

    def _next(self, heap: list[tuple[float, int, int]]) -> tuple[float, int, int] | None:
        """The first pair of groups that still exist."""
        while heap:
            pair = heapq.heappop(heap)
            if pair[1] in self.members and pair[2] in self.members:
                return pair
        return None

    def _merge(self, a: int, b: int) -> int:
        merged, self.n_named = self.n_named, self.n_named + 1
        members = np.concatenate([self.members.pop(a), self.members.pop(b)])
        self.members[merged], self.group[members] = members, merged
        links: dict[int, float] = {}
        for side, other in ((self.links.pop(a), b), (self.links.pop(b), a)):
            for group, weight in side.items():
                if group != other:
                    links[group] = links.get(group, 0.0) + weight
        for group, weight in links.items():
            self.links[group].pop(a, None)
            self.links[group].pop(b, None)
            self.links[group][merged] = weight
        self.links[merged] = links
        return merged


def spread_ties(values: np.ndarray) -> np.ndarray:
    """Sorted values, in which equal ones are spread evenly between their neighbours."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) in (1, len(values)):
        return values
    middle = (distinct[1:] + distinct[:-1]) / 2.0
    low = np.append(2.0 * distinct[0] - middle[0], middle)
    high = np.append(middle, 2.0 * distinct[-1] - middle[-1])
    number = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    share = (number + 0.5) / np.repeat(counts, counts)
    return np.repeat(low, counts) + share * np.repeat(high - low, counts)


def _sums(weights: sparse.csr_array, labels: np.ndarray) -> sparse.csr_array:
    n = len(labels)
    groups = sparse.csr_array(
        (np.ones(n), (np.arange(n), labels)), shape=(n, int(labels.max()) + 1)
    )
    return sparse.csr_array(groups.T @ weights @ groups)
