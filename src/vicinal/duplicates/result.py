"""`NearDuplicates`: pairs of almost equal rows, their groups, and other thresholds."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from vicinal._core.memory import require_memory
from vicinal._core.pickles import Stamped
from vicinal._core.scalar_checks import check_count, check_real
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal.duplicates._search import Pairs
    from vicinal.graphs._build.duplicates import Duplicates

Linkage = Literal["connected", "complete"]
# Each pair of equal rows is generated in both orders.
BYTES_PER_PAIR = 200.0


class NearDuplicates(Stamped):
    """Pairs of rows within a threshold; created by `near_duplicates`.

    Rows that are exactly equal count once internally, so ``groups`` and ``rethreshold`` stay cheap with many
    of them. Only ``pairs`` and ``distances`` list every combination.

    With ``against``, only pairs between the two tables count, and groups contain positions in both tables one
    after the other: row j of ``against`` is n + j.

    Attributes
    ----------
    threshold : float
        Largest distance of a near-duplicate; 0 if only equal rows are duplicates.
    search_radius : float
        Largest threshold that `rethreshold` accepts.
    recall : float
        Fraction of the pairs within ``search_radius`` that were found: 1.0 if the search was exact, otherwise
        as measured on a sample of rows.
    curve : ndarray of shape (n_thresholds, 4)
        What the automatic threshold is read from: thresholds, number of pairs of distinct rows within each,
        how many of these are expected among ordinary rows, and the estimated F1 score, -1 where too few of
        the pairs are duplicates or most of them are in groups of more than 20 rows.
    n_rows : int
        Number of rows of X.
    n_against : int or None
        Number of rows of ``against``.
    linkage : {"connected", "complete"}
        How groups are formed.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import near_duplicates
    >>> X = np.random.default_rng(0).normal(size=(200, 8))
    >>> X[100] = X[3] + 1e-3
    >>> result = near_duplicates(X)
    >>> result
    NearDuplicates(1 pair in 1 group among 200 rows, threshold 0.0426)
    >>> result.pairs
    array([[  3, 100]])
    """

    def __init__(
        self,
        found: Pairs,
        copies: Duplicates,
        *,
        threshold: float,
        curve: np.ndarray,
        n_rows: int,
        n_against: int | None,
        linkage: Linkage,
    ) -> None:
        self._found, self._copies = found, copies
        self.threshold, self.curve = threshold, curve
        self.search_radius, self.recall = found.radius, found.recall
        self.n_rows, self.n_against, self.linkage = n_rows, n_against, linkage

    def __repr__(self) -> str:
        pairs = "1 pair" if self.n_pairs == 1 else f"{self.n_pairs:,} pairs"
        groups = "1 group" if len(self.groups) == 1 else f"{len(self.groups):,} groups"
        other = "" if self.n_against is None else f" and {self.n_against:,}"
        return (
            f"NearDuplicates({pairs} in {groups} among {self.n_rows:,}{other} rows, "
            f"threshold {self.threshold:.3g})"
        )

    def rethreshold(self, threshold: float) -> NearDuplicates:
        """Apply another threshold, without a new search.

        Parameters
        ----------
        threshold : float
            Largest distance of a near-duplicate, at most ``search_radius``.

        Returns
        -------
        NearDuplicates
            The result for this threshold.
        """
        threshold = check_real(threshold, "threshold", low=0.0)
        if threshold > self.search_radius:
            raise InvalidValueError(
                f"threshold={threshold:g}, but pairs were searched up to a distance of "
                f"{self.search_radius:g}; call near_duplicates(X, threshold={threshold:g}) instead."
            )
        return NearDuplicates(
            self._found,
            self._copies,
            threshold=threshold,
            curve=self.curve,
            n_rows=self.n_rows,
            n_against=self.n_against,
            linkage=self.linkage,
        )

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs, including those of equal rows."""
        counts = self._counts
        i, j = self._near.T
        if self.n_against is None:
            within = counts[:, 0] * (counts[:, 0] - 1) // 2
            return int((counts[i, 0] * counts[j, 0]).sum() + within.sum())
        across = counts[i, 0] * counts[j, 1] + counts[i, 1] * counts[j, 0]
        return int(across.sum() + (counts[:, 0] * counts[:, 1]).sum())

    @property
    def pairs(self) -> np.ndarray:
        """Pairs of rows, as an array of shape (n_pairs, 2), nearest first, ties by row.

        i < j in each pair; with ``against``, a row of X and a row of ``against``.
        """
        return self._expanded[0]

    @property
    def distances(self) -> np.ndarray:
        """Distance of each pair."""
        return self._expanded[1]

    @cached_property
    def labels(self) -> np.ndarray:
        """Group of each row, in the order of their first rows; -1 for rows without a near-duplicate."""
        labels = np.full(self.n_rows + (self.n_against or 0), -1, np.int64)
        for group, rows in enumerate(self.groups):
            labels[rows] = group
        return labels

    @cached_property
    def groups(self) -> list[np.ndarray]:
        """Rows of each group, ascending; groups are in the order of their first rows."""
        node_labels = self._node_labels
        labels = node_labels[self._nodes]
        order = np.argsort(labels, kind="stable")
        starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
        groups = [rows for rows in np.split(order, starts[1:]) if len(rows) > 1]
        if self.n_against is not None:
            groups = [rows for rows in groups if rows[0] < self.n_rows <= rows[-1]]
        return sorted(groups, key=lambda rows: int(rows[0]))

    @cached_property
    def representatives(self) -> np.ndarray:
        """One row of each group: the one with most near-duplicates in it, then the nearest to them."""
        n = len(self._copies.representative)
        counts, labels = self._counts.sum(axis=1), self._node_labels[:n]
        i, j = self._near.T
        if self.n_against is None:
            same = labels[i] == labels[j]
            i, j, lengths = i[same], j[same], self._near_distances[same]
        else:
            lengths = self._near_distances
        n_near = counts - 1.0 + np.bincount(i, counts[j], n) + np.bincount(j, counts[i], n)
        total = np.bincount(i, counts[j] * lengths, n) + np.bincount(j, counts[i] * lengths, n)
        return np.array(
            [min(rows, key=lambda row: self._merit(row, n_near, total)) for rows in self.groups],
            np.int64,
        )

    @property
    def keep(self) -> np.ndarray:
        """Whether to keep each row of X.

        All rows but those that another row of their group represents; with ``against``, all rows of X that
        have no near-duplicate there.
        """
        keep = np.ones(self.n_rows, np.bool_)
        for rows in self.groups:
            keep[rows[rows < self.n_rows]] = False
        if self.n_against is None:
            keep[self.representatives] = True
        return keep

    def least_similar(self, n_pairs: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """Get the accepted pairs with the largest distances, for inspection.

        Parameters
        ----------
        n_pairs : int, default=10
            Number of pairs.

        Returns
        -------
        pairs : ndarray of int of shape (n_pairs, 2)
            The least similar pairs, least similar first.
        distances : ndarray of shape (n_pairs,)
            Their distances.
        """
        n_pairs = check_count(n_pairs, "n_pairs")
        return self.pairs[::-1][:n_pairs], self.distances[::-1][:n_pairs]

    @property
    def distinct_rows(self) -> np.ndarray:
        """Number of the distinct row that each row is equal to, as ``distinct_pairs`` uses it."""
        return self._copies.group

    @property
    def distinct_pairs(self) -> np.ndarray:
        """Near-duplicate pairs of distinct rows, nearest first: few even if many rows are equal."""
        return self._near

    @property
    def distinct_distances(self) -> np.ndarray:
        """Distance of each of ``distinct_pairs``."""
        return self._near_distances

    @cached_property
    def _n_near(self) -> int:
        return int(np.searchsorted(self._found.distances, self.threshold, side="right"))

    @property
    def _near(self) -> np.ndarray:
        """Accepted pairs of distinct rows."""
        return self._found.pairs[: self._n_near]

    @property
    def _near_distances(self) -> np.ndarray:
        return self._found.distances[: self._n_near]

    @cached_property
    def _counts(self) -> np.ndarray:
        """Number of rows of X, and of ``against``, that are equal to each distinct row."""
        n = len(self._copies.representative)
        group = self._copies.group
        return np.column_stack(
            [
                np.bincount(group[: self.n_rows], minlength=n),
                np.bincount(group[self.n_rows :], minlength=n),
            ]
        )

    @property
    def _nodes(self) -> np.ndarray:
        """Node of each row: its distinct row, and with ``against`` one per table."""
        group = self._copies.group
        if self.n_against is None:
            return group
        return group + len(self._copies.representative) * (np.arange(len(group)) >= self.n_rows)

    @cached_property
    def _node_labels(self) -> np.ndarray:
        n = len(self._copies.representative)
        if self.n_against is None:
            link = complete_groups if self.linkage == "complete" else connected_groups
            return link(n, self._near)
        i, j = self._near.T
        counts = self._counts
        both = np.flatnonzero(counts.min(axis=1) > 0)
        across = np.column_stack([np.concatenate([i, j, both]), np.concatenate([j, i, both])])
        across = across[(counts[across[:, 0], 0] > 0) & (counts[across[:, 1], 1] > 0)]
        return connected_groups(2 * n, across + np.array([0, n]))

    def _merit(
        self, row: int, n_near: np.ndarray, total: np.ndarray
    ) -> tuple[bool, float, float, int]:
        node = self._copies.group[row]
        return bool(row >= self.n_rows), -float(n_near[node]), float(total[node]), int(row)

    @cached_property
    def _expanded(self) -> tuple[np.ndarray, np.ndarray]:
        """Every combination of rows of accepted pairs and of equal rows."""
        require_memory(
            BYTES_PER_PAIR * self.n_pairs,
            f"The list of {self.n_pairs:,} pairs, most of them of equal rows,",
            "Use groups, which need no list of pairs, or drop equal rows first.",
        )
        members, start = self._copies.members()
        counts = self._copies.counts
        several = np.flatnonzero(counts > 1)
        first = np.concatenate([several, self._near[:, 0]])
        second = np.concatenate([several, self._near[:, 1]])
        lengths = np.concatenate([np.zeros(len(several)), self._near_distances])
        sizes = counts[first] * counts[second]
        at = np.repeat(np.arange(len(first)), sizes)
        rank = np.arange(len(at)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = np.column_stack(
            [
                members[start[first[at]] + rank // counts[second[at]]],
                members[start[second[at]] + rank % counts[second[at]]],
            ]
        )
        equal = first[at] == second[at]
        rows, distances = _ordered(rows, equal), lengths[at]
        kept = rows[:, 0] < rows[:, 1]
        if self.n_against is not None:
            kept &= (rows[:, 0] < self.n_rows) & (rows[:, 1] >= self.n_rows)
            rows = rows - np.array([0, self.n_rows])
        rows, distances = rows[kept], distances[kept]
        order = np.lexsort([rows[:, 1], rows[:, 0], distances])
        return rows[order], distances[order]


def _ordered(rows: np.ndarray, equal: np.ndarray) -> np.ndarray:
    """Pairs with the smaller row first; those of equal rows, which occur in both orders, stay as they are."""
    return np.where(equal[:, None], rows, np.sort(rows, axis=1))


def connected_groups(n: int, pairs: np.ndarray) -> np.ndarray:
    """Label of each of n nodes: its connected component."""
    ones = np.ones(len(pairs), np.int8)
    links = sparse.csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    labels: np.ndarray = connected_components(links, directed=False)[1]
    return labels.astype(np.int64)


def complete_groups(n: int, pairs: np.ndarray) -> np.ndarray:
    """Label of each of n nodes: its cluster by complete linkage, given the near pairs, nearest first.

    Two clusters merge at the last pair between them, so counting their pairs is enough. Those with a missing
    pair never merge.
    """
    members: dict[int, list[int]] = {}
    cluster = np.arange(n)
    n_pairs: dict[int, dict[int, int]] = {}
    for i, j in pairs.tolist():
        a, b = int(cluster[i]), int(cluster[j])
        if a == b:
            continue
        between = n_pairs.setdefault(a, {})
        between[b] = n_pairs.setdefault(b, {})[a] = between.get(b, 0) + 1
        first, second = members.get(a, [a]), members.get(b, [b])
        if between[b] < len(first) * len(second):
            continue
        cluster[second] = a
        members[a] = first + second
        del n_pairs[a][b]
        for other, count in n_pairs.pop(b).items():
            if other != a:
                total = n_pairs[a].get(other, 0) + count
                n_pairs[a][other] = n_pairs[other][a] = total
                del n_pairs[other][b]
    return cluster
