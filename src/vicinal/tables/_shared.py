"""What columns share: correlations between different columns, and their axes that are no chance.

A column says nothing about itself, so its block of the correlations is 0, and so are those of its copies:
what is left of the Burt matrix in joint correspondence analysis (Greenacre 1988). Axes count if they are
stronger than the strongest of tables whose columns are shuffled (parallel analysis, Horn 1965).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh

from vicinal.tables._constants import (
    COPY,
    MAX_LEVELS,
    MAX_MODES,
    MODE_VARIANCE,
    ROUNDS,
    SDS,
    TAILS,
)

# More coordinates than this need no matrix of all pairs of them.
MAX_DENSE = 1000


class Axes(NamedTuple):
    """Axes of the shared part.

    Attributes
    ----------
    vectors : ndarray (p, q)
        Orthonormal columns.
    shrink : ndarray (q,)
        Part of the variance of scores that columns share.
    """

    vectors: np.ndarray
    shrink: np.ndarray


class Relevance(NamedTuple):
    """Number of axes that are no chance, columns that depend on another one, numbers that form groups."""

    n_axes: int
    depends: np.ndarray
    grouped: np.ndarray


def copy_groups(A: np.ndarray, column_of: np.ndarray) -> np.ndarray:
    """Number of the set of copies that each column belongs to.

    Two columns are copies if their blocks determine each other: if the RV coefficient of their coordinates
    (Escoufier 1973), which is the squared correlation of two numbers, is above `COPY`.
    """
    first = np.flatnonzero(np.diff(column_of, prepend=-1))
    ends = np.append(first[1:], len(column_of))
    d = len(first)
    blocks = [A[:, start:end] for start, end in zip(first, ends, strict=True)]
    sizes = np.maximum([np.linalg.norm(own.T @ own / len(A)) for own in blocks], 1e-300)
    pairs: list[np.ndarray] = []
    # Blocks of columns, so that memory does not grow with the square of their number.
    step = max(MAX_DENSE**2 // (4 * len(column_of)), 1)
    for start in range(0, d, step):
        stop = min(start + step, d)
        squares = (A[:, first[start] : ends[stop - 1]].T @ A / len(A)) ** 2
        sums = np.add.reduceat(squares, first[start:stop] - first[start], axis=0)
        sums = np.add.reduceat(sums, first, axis=1)
        known = sums > COPY * sizes[start:stop, None] * sizes
        pairs.append(np.argwhere(known) + np.array([start, 0]))
    i, j = np.concatenate(pairs).T
    graph = coo_array((np.ones(len(i)), (i, j)), shape=(d, d))
    return connected_components(graph, directed=False)[1]


def between(A: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Correlations of the coordinates of different groups of columns; 0 within a group."""
    C = A.T @ A / len(A)
    C[group[:, None] == group] = 0.0
    return C


def _operator(A: np.ndarray, group: np.ndarray) -> LinearOperator:
    """`between` as products with vectors, for many coordinates."""
    blocks = [np.flatnonzero(group == g) for g in np.unique(group)]
    single = np.concatenate([own for own in blocks if len(own) == 1] or [np.empty(0, dtype=int)])
    several = [(own, A[:, own].T @ A[:, own] / len(A)) for own in blocks if len(own) > 1]
    diagonal = np.zeros(A.shape[1])
    diagonal[single] = np.einsum("ij,ij->j", A[:, single], A[:, single]) / len(A)

    def product(v: np.ndarray) -> np.ndarray:
        v = v.reshape(len(diagonal), -1)
        out = A.T @ (A @ v) / len(A) - diagonal[:, None] * v
        for own, block in several:
            out[own] -= block @ v[own]
        return out

    return LinearOperator((A.shape[1],) * 2, matvec=product, matmat=product, dtype=np.float64)


def leading(A: np.ndarray, group: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of the shared correlations and their vectors."""
    p = A.shape[1]
    if p <= MAX_DENSE or count >= p - 1:
        values, vectors = np.linalg.eigh(between(A, group))
    else:
        start = np.random.default_rng(0).standard_normal(p)
        operator = _operator(A, group)
        values, vectors = eigsh(operator, k=count, which="LA", v0=start, tol=1e-6)
    order = np.argsort(-values, kind="stable")[:count]
    vectors = vectors[:, order]
    # The sign of an eigenvector is arbitrary: the largest entry is positive.
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return values[order], vectors * np.where(largest < 0, -1.0, 1.0)


def weigh(
    A: np.ndarray, Z: np.ndarray, column_of: np.ndarray, group: np.ndarray, own: np.ndarray
) -> Relevance:
    """How many axes are stronger than chance, which columns depend on another, and which numbers form groups.

    Parameters
    ----------
    A, Z : ndarray (n, p)
        Coordinates: 0 where a value is missing, and NaN.
    column_of, group : ndarray of int (p,)
        Column of each coordinate, and set of copies that the column belongs to.
    own : ndarray of bool (p,)
        Coordinates of numbers. If there are no others, all of them count.
    """
    rng, p, numbers = np.random.default_rng(0), A.shape[1], np.flatnonzero(own)
    curves = [] if own.all() else [_polynomials(Z[:, i]) for i in numbers.tolist()]
    B = np.hstack([A, *curves])
    of_curves = np.repeat(numbers, 3) if curves else np.empty(0, dtype=np.int64)
    group_of = np.concatenate([group, group[of_curves]])
    owner = np.concatenate([column_of, column_of[of_curves]])
    sets = [np.flatnonzero(group_of == g) for g in np.unique(group_of)]
    seen = _strengths(B, group_of, owner, p)
    chance = []
    for _ in range(ROUNDS):
        shuffled = np.empty_like(B)
        for members in sets:
            shuffled[:, members] = B[np.ix_(rng.permutation(len(B)), members)]
        chance.append(_strengths(shuffled, group_of, owner, p))
    tops = [top for top, _, _ in chance]
    limit = float(np.mean(tops) + SDS * np.std(tops, ddof=1))
    grouped = np.array([forms_groups(Z[:, i]) for i in numbers.tolist()], dtype=bool)
    depends = np.ones(column_of[-1] + 1, dtype=bool)
    if not own.all():
        depends = _exceeds(seen[1], [own for _, own, _ in chance])
        depends |= _exceeds(seen[2], [own for _, _, own in chance])
    return Relevance(_count_above(A, group, limit, seen[0]), depends, grouped)


def _count_above(A: np.ndarray, group: np.ndarray, limit: float, top: float) -> int:
    if top <= limit:
        return 0
    count = 32
    while True:
        count = min(count, *A.shape)
        values, _ = leading(A, group, count)
        n_above = int((values > limit).sum())
        if n_above < count or count == min(A.shape):
            return n_above
        count *= 2


def _exceeds(seen: np.ndarray, chance: list[np.ndarray]) -> np.ndarray:
    """Which sums of squared correlations are larger than the largest of shuffled tables.

    Columns have different numbers of coordinates, but the variance of such a sum is proportional to its mean.
    """
    of_chance = np.array(chance)
    means = np.maximum(of_chance.mean(axis=0), 1e-12)
    spreads = np.sqrt(means * of_chance.var(axis=0, ddof=1).sum() / means.sum())
    spreads = np.maximum(spreads, 1e-12)
    tops = ((of_chance - means) / spreads).max(axis=1)
    result: np.ndarray = (seen - means) / spreads > tops.mean() + SDS
    return result


def _strengths(
    B: np.ndarray, group_of: np.ndarray, owner: np.ndarray, p: int
) -> tuple[float, np.ndarray, np.ndarray]:
    """Largest eigenvalue, and sums of squared correlations of columns, and of their curves."""
    if p > MAX_DENSE:
        top = float(leading(B[:, :p], group_of[:p], 1)[0][0])
        if p == B.shape[1]:
            return top, np.empty(0), np.empty(0)
    C = between(B, group_of)
    if p <= MAX_DENSE:
        top = float(np.linalg.eigvalsh(C[:p, :p])[-1])
    squares, d = (C**2).sum(axis=1), owner[p - 1] + 1
    own = np.bincount(owner[:p], squares[:p], d)
    return top, own, np.bincount(owner[p:], squares[p:], d)


def _polynomials(z: np.ndarray) -> np.ndarray:
    """Legendre polynomials 2 to 4 of the ranks: dependence that correlations do not see."""
    known = ~np.isnan(z)
    ranks = np.zeros(len(z))
    order = np.argsort(np.argsort(z[known], kind="stable"), kind="stable")
    ranks[known] = 2.0 * (order + 0.5) / max(len(order), 1) - 1.0
    curves = np.polynomial.legendre.legvander(ranks, 4)[:, 2:] * np.sqrt([5.0, 7.0, 9.0])
    curves[~known] = 0.0
    return curves


def forms_groups(z: np.ndarray) -> bool:
    """Whether groups of consecutive values have far less variance within than those of even values."""
    v = np.sort(z[~np.isnan(z)])
    v = np.clip(v, *np.quantile(v, TAILS))
    v = v - v.mean()
    total, n = float(v @ v), len(v)
    if not total > 0:
        return False
    cuts = np.unique(np.linspace(0, n, min(2 * MAX_LEVELS, n) + 1).astype(np.int64))
    sums = np.concatenate([[0.0], np.cumsum(v)])[cuts]
    squares = np.concatenate([[0.0], np.cumsum(v**2)])[cuts]
    counts = cuts[None, :] - cuts[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = squares[None, :] - squares[:, None] - (sums[None, :] - sums[:, None]) ** 2 / counts
    cost = np.where(counts > 0, np.maximum(cost, 0.0), np.inf)
    within, relative = cost[0], []
    for k in range(2, MAX_MODES + 1):
        within = (within[:, None] + cost).min(axis=0)
        # Splitting evenly spread values into k groups divides their variance by k squared.
        relative.append(within[-1] / total * k**2)
    return bool(min(relative) < MODE_VARIANCE)


def fit_axes(A: np.ndarray, group: np.ndarray, gap: np.ndarray, q: int) -> Axes:
    """The strongest axes, of coordinates whose gaps are completed by the axes themselves.

    Iterative regularised analysis of Josse and Husson (2012): shrunk scores say what is expected in a gap.
    """
    if q == 0:
        return Axes(np.zeros((A.shape[1], 0)), np.zeros(0))
    n_rounds = ROUNDS if gap.any() else 0
    for turn in range(n_rounds + 1):
        strengths, vectors = leading(A, group, q)
        strengths = np.maximum(strengths, 0.0)
        variances = np.maximum(((A @ vectors) ** 2).mean(axis=0), strengths)
        axes = Axes(vectors, strengths / np.maximum(variances, 1e-300))
        if turn < n_rounds:
            A = np.where(gap, (A @ vectors * axes.shrink) @ vectors.T, A)
    return axes


def complete(
    A: np.ndarray, gap: np.ndarray, axes: Axes, product: Callable[..., np.ndarray]
) -> np.ndarray:
    """Coordinates whose gaps, 0 at first, are what the axes lead to expect of the row."""
    rows = np.flatnonzero(gap.any(axis=1))
    if not len(rows) or not len(axes.shrink):
        return A
    A, gap = A.copy(), gap[rows]
    part = A[rows]
    back = np.ascontiguousarray((axes.vectors * axes.shrink).T)
    for _ in range(ROUNDS):
        part = np.where(gap, product(product(part, axes.vectors), back), part)
    A[rows] = part
    return A


def from_other_columns(A: np.ndarray, vectors: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Each column predicted, by regression, from the scores of the other columns."""
    C, scores, out = A.T @ A / len(A), A @ vectors, np.zeros_like(A)
    for g in np.unique(group):
        own = group == g
        others = np.where(own[:, None], 0.0, vectors)
        S = others.T @ C @ others
        ridge = 1e-9 * (np.trace(S) + 1.0) * np.eye(len(S))
        slopes = np.linalg.solve(S + ridge, others.T @ C[:, own])
        out[:, own] = (scores - A[:, own] @ vectors[own]) @ slopes
    return out
