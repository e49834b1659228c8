"""Clusters that satisfy constraints: rows that belong together or apart, and limits on cluster sizes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError

# Steps of the search for an assignment without conflicts, per group with conflicts.
MAX_STEPS_PER_GROUP = 1000


class Constraints(NamedTuple):
    """What clusters have to satisfy.

    Attributes
    ----------
    group : ndarray of int (n,)
        Group of each node; nodes of one group get the same cluster.
    conflicts : ndarray of int (m, 2)
        Pairs of groups that get different clusters.
    constrained : ndarray of bool (n,)
        Nodes in a given pair: they are not noise.
    weights : ndarray of int (n,)
        Number of rows of each node.
    min_size, max_size : int or None
        Limits on the number of rows of a cluster.
    """

    group: np.ndarray
    conflicts: np.ndarray
    constrained: np.ndarray
    weights: np.ndarray
    min_size: int | None
    max_size: int | None

    def of_nodes(self, kept: np.ndarray) -> Constraints:
        """The constraints on some nodes, among them all that are constrained."""
        groups, group = np.unique(self.group[kept], return_inverse=True)
        number = np.full(int(self.group.max()) + 1, -1)
        number[groups] = np.arange(len(groups))
        return self._replace(
            group=group,
            conflicts=number[self.conflicts],
            constrained=self.constrained[kept],
            weights=self.weights[kept],
        )

    @property
    def min_clusters(self) -> int:
        """Number of clusters that is enough to separate all conflicts and to keep clusters small."""
        needed = 1
        if len(self.conflicts):
            needed = int(_greedy_colours(self._neighbors()).max()) + 1
        if self.max_size is not None:
            needed = max(needed, -(-int(self.weights.sum()) // int(self.max_size)))
        return needed

    def _neighbors(self) -> list[list[int]]:
        """Groups that each group must not share a cluster with."""
        neighbors: list[list[int]] = [[] for _ in range(int(self.group.max()) + 1)]
        for a, b in self.conflicts.tolist():
            neighbors[a].append(b)
            neighbors[b].append(a)
        return neighbors


def read_constraints(
    must_link: Any,
    cannot_link: Any,
    min_size: int | None,
    max_size: int | None,
    weights: np.ndarray,
    node: np.ndarray | None = None,
) -> Constraints | None:
    """Check constraints on rows; None without any. ``node`` is that of each row, if rows share nodes."""
    if min_size is not None:
        check_count(min_size, "min_cluster_size")
    if max_size is not None:
        low = 1 if min_size is None else min_size
        remedy = "It must not be below min_cluster_size."
        check_count(max_size, "max_cluster_size", low=low, remedy=remedy)
    n_rows = len(weights) if node is None else len(node)
    together = _check_pairs(must_link, "must_link", n_rows)
    apart = _check_pairs(cannot_link, "cannot_link", n_rows)
    if min_size is None and max_size is None and not len(together) and not len(apart):
        return None
    node = np.arange(n_rows) if node is None else node
    n = len(weights)
    links = sparse.csr_array(
        (np.ones(len(together), np.int8), (node[together[:, 0]], node[together[:, 1]])), (n, n)
    )
    group = connected_components(links, directed=False)[1].astype(np.int64)
    ends = group[node[apart]]
    wrong = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if len(wrong):
        i, j = apart[wrong[0]].tolist()
        why = "these rows are equal" if node[i] == node[j] else "must_link connects these rows"
        raise InvalidValueError(
            f"cannot_link contains the pair ({i}, {j}), but {why}; remove one of the constraints."
        )
    constrained = np.zeros(n, np.bool_)
    constrained[node[together.ravel()]] = constrained[node[apart.ravel()]] = True
    conflicts = np.unique(np.sort(ends, axis=1), axis=0)
    if max_size is not None:
        largest = int(np.bincount(group, weights).max())
        if largest > max_size:
            raise InvalidValueError(
                f"max_cluster_size={max_size}, but {largest} rows are equal or connected by must_link; "
                "allow larger clusters."
            )
    return Constraints(group, conflicts, constrained, weights, min_size, max_size)


def constrained_labels(costs: np.ndarray, constraints: Constraints) -> np.ndarray:
    """Cluster of each node, given the cost of each node in each cluster, with all constraints satisfied.

    Groups get the cluster with the lowest total cost, unless a constraint forbids it. Clusters below the
    smallest size are dissolved, one after the other, the smallest first.
    """
    group, weights = constraints.group, constraints.weights
    n_groups = int(group.max()) + 1
    totals = np.stack(
        [np.bincount(group, weights * column, n_groups) for column in costs.T], axis=1
    )
    sizes = np.bincount(group, weights, n_groups).astype(np.int64)
    allowed = np.ones(costs.shape[1], np.bool_)
    while True:
        kept = np.flatnonzero(allowed)
        labels = kept[_assign(totals[:, kept], sizes, constraints)]
        counts = np.bincount(labels, sizes, len(allowed))
        small = np.flatnonzero((counts < (constraints.min_size or 0)) & allowed)
        if len(small) == 0 or len(kept) == 1:
            return labels[group]
        allowed[small[np.argmin(counts[small])]] = False


def _assign(totals: np.ndarray, sizes: np.ndarray, constraints: Constraints) -> np.ndarray:
    """Cluster of each group, without conflicts and with at most the largest size."""
    labels = totals.argmin(axis=1)
    neighbors = constraints._neighbors()
    if len(constraints.conflicts):
        _separate(labels, totals, neighbors)
    if constraints.max_size is not None:
        _limit_sizes(labels, totals, sizes, neighbors, constraints.max_size)
    return labels


def _separate(labels: np.ndarray, totals: np.ndarray, neighbors: list[list[int]]) -> None:
    """Give groups in conflict different clusters, by backtracking; the cheapest are tried first."""
    n_clusters = totals.shape[1]
    order = _order_by_conflicts(neighbors)
    tried = np.zeros(len(order), np.int64)
    ranked = {g: np.argsort(totals[g], kind="stable") for g in order}
    assigned: dict[int, int] = {}
    position, steps = 0, 0
    while position < len(order):
        steps += 1
        group = order[position]
        assigned.pop(group, None)
        taken = {assigned[other] for other in neighbors[group] if other in assigned}
        while tried[position] < n_clusters and int(ranked[group][tried[position]]) in taken:
            tried[position] += 1
        if tried[position] == n_clusters:
            tried[position] = 0
            position -= 1
            if position < 0 or steps > MAX_STEPS_PER_GROUP * len(order):
                raise InvalidValueError(
                    f"cannot_link pairs need more than {n_clusters} clusters, or no assignment was found; "
                    "increase n_clusters or remove some pairs."
                )
            tried[position] += 1
            continue
        assigned[group] = int(ranked[group][tried[position]])
        position += 1
        if position < len(order):
            tried[position] = 0
    for group, label in assigned.items():
        labels[group] = label


def _order_by_conflicts(neighbors: list[list[int]]) -> list[int]:
    """Groups with conflicts, those next to each other in a row, the ones with most conflicts first."""
    seen: set[int] = set()
    order: list[int] = []
    by_degree = sorted(range(len(neighbors)), key=lambda g: (-len(neighbors[g]), g))
    for start in by_degree:
        queue = [start] if neighbors[start] and start not in seen else []
        seen.update(queue)
        while queue:
            group = queue.pop(0)
            order.append(group)
            following = sorted(set(neighbors[group]) - seen, key=lambda g: (-len(neighbors[g]), g))
            seen.update(following)
            queue += following
    return order


def _greedy_colours(neighbors: list[list[int]]) -> np.ndarray:
    """Colours of a greedy colouring, in the order of `_order_by_conflicts`."""
    colours = np.zeros(len(neighbors), np.int64)
    done: set[int] = set()
    for group in _order_by_conflicts(neighbors):
        taken = {int(colours[other]) for other in neighbors[group] if other in done}
        colours[group] = next(c for c in range(len(taken) + 1) if c not in taken)
        done.add(group)
    return colours


def _limit_sizes(
    labels: np.ndarray,
    totals: np.ndarray,
    sizes: np.ndarray,
    neighbors: list[list[int]],
    max_size: int,
) -> None:
    """Move groups out of clusters that are too large, those with the smallest loss per row first."""
    n_clusters = totals.shape[1]
    counts = np.bincount(labels, sizes, n_clusters).astype(np.int64)
    if counts.sum() > n_clusters * max_size:
        raise InvalidValueError(
            f"max_cluster_size={max_size} and {n_clusters} clusters leave no room for {counts.sum()} rows; "
            "increase one of them."
        )
    for cluster in np.flatnonzero(counts > max_size).tolist():
        while counts[cluster] > max_size:
            members = np.flatnonzero(labels == cluster)
            open_clusters = np.flatnonzero(counts < max_size)
            open_clusters = open_clusters[open_clusters != cluster]
            loss = totals[np.ix_(members, open_clusters)] - totals[members, cluster][:, None]
            best = loss.min(axis=1) / sizes[members]
            before = int(counts[cluster])
            for m in np.argsort(best, kind="stable").tolist():
                group = int(members[m])
                taken = {int(labels[other]) for other in neighbors[group]}
                for target in open_clusters[np.argsort(loss[m], kind="stable")].tolist():
                    if counts[target] + sizes[group] <= max_size and target not in taken:
                        labels[group] = target
                        counts[target] += sizes[group]
                        counts[cluster] -= sizes[group]
                        break
                if counts[cluster] <= max_size:
                    break
            if counts[cluster] == before:
                raise InvalidValueError(
                    f"max_cluster_size={max_size} cannot be met together with must_link and cannot_link; "
                    "allow larger or more clusters."
                )


def _check_pairs(pairs: Any, name: str, n: int) -> np.ndarray:
    if pairs is None:
        return np.empty((0, 2), np.int64)
    try:
        array = np.asarray(pairs)
    except ValueError as error:
        raise InvalidTypeError(
            f"{name} is ragged, but pairs of row numbers, an integer array of shape (m, 2), are needed."
        ) from error
    if array.size == 0:
        return np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InvalidTypeError(
            f"{name} has shape {array.shape} and dtype {array.dtype}, but pairs of row numbers, an integer "
            "array of shape (m, 2), are needed."
        )
    if array.min() < 0 or array.max() >= n:
        raise InvalidValueError(
            f"{name} contains rows {array.min()} to {array.max()}, but there are rows 0 to {n - 1}."
        )
    if name == "cannot_link" and (array[:, 0] == array[:, 1]).any():
        row = int(array[(array[:, 0] == array[:, 1]).argmax(), 0])
        raise InvalidValueError(
            f"cannot_link contains the pair ({row}, {row}) of a row with itself."
        )
    return array.astype(np.int64)
