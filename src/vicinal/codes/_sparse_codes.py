"""Sparse codes of many points: each as a sparse combination of others.

Two problems for a point x with the dictionary Z of its atoms, both with a >= 0 unless signs are allowed:

- penalised: min 1/2 |x - Z'a|^2 + penalty sum(a),
- exact: min sum(a) such that x = Z'a, the limit of small penalties, if it exists.

Points are processed in blocks and rounds. A round computes one product of the block's residuals with all
atoms, which shows the atoms that would improve a code; a few of them are added and the small problem is
solved (`_code_kernels`). When no atom improves a code any more, it is optimal. No (n, n) matrix is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vicinal._core.parallel import blocks, map_threads, one_blas_thread
from vicinal._core.warn import LongWork
from vicinal.codes._code_block import CodeBlock

ENTRIES_PER_BLOCK, ROWS_PER_BLOCK = 1 << 22, 256


class Codes(NamedTuple):
    """Codes of all points in compressed rows, with ascending atoms, and their quality.

    Attributes
    ----------
    indptr : ndarray of int of shape (n + 1,)
        Row pointers.
    indices : ndarray of int
        Atoms of each point, ascending.
    values : ndarray
        Coefficients.
    penalties : ndarray of shape (n,)
        Penalty of each point, 0 for an exact code.
    explained : ndarray of shape (n,)
        Fraction of the squared length of a point that its code explains.
    gaps : ndarray of shape (n,)
        Relative duality gap: an upper bound on the distance to the optimum.
    inexact : ndarray of int
        Points without an exact code, if exact codes were requested.
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    penalties: np.ndarray
    explained: np.ndarray
    gaps: np.ndarray
    inexact: np.ndarray


class CodeQuality(NamedTuple):
    """Quality of the codes of a graph; stored as ``metadata["codes"]``.

    Attributes
    ----------
    unit : float
        Coefficients are strengths times this: the largest coefficient if it exceeds 1, otherwise 1.
    support_sizes : ndarray of int of shape (n,)
        Number of atoms that each point uses.
    penalties : ndarray of shape (n,)
        Penalty of each point, 0 for an exact code.
    explained : ndarray of shape (n,)
        Fraction of the squared length of a point that its code explains.
    gaps : ndarray of shape (n,)
        Relative duality gap: an upper bound on the distance to the optimum.
    inexact : ndarray of int
        Points without an exact code, if exact codes were requested.
    recall : float
        Fraction of the best ranked atoms in the dictionaries, for a sample of points; 1 if all points
        are atoms or the ranking is exact.
    """

    unit: float
    support_sizes: np.ndarray
    penalties: np.ndarray
    explained: np.ndarray
    gaps: np.ndarray
    inexact: np.ndarray
    recall: float = 1.0


def sparse_codes(
    points: np.ndarray,
    atoms: np.ndarray | None = None,
    *,
    penalty: float | None = None,
    equality: bool = False,
    signed: bool = False,
    long_work: LongWork | None = None,
) -> Codes:
    """Code of each point over other points.

    Parameters
    ----------
    points : ndarray of float64 of shape (n, n_features)
        Points of lengths near 1; zero points are not allowed.
    atoms : ndarray of int of shape (n, n_atoms), optional
        Dictionary of each point, without the point itself; all others by default.
    penalty : float, optional
        Penalty of the coefficients; by default a tenth of each point's largest correlation with an atom.
    equality : bool, default=False
        Compute exact codes; points without one get a penalised code.
    signed : bool, default=False
        Whether coefficients may be negative.
    long_work : LongWork, optional
        Without a bar, warn if the work takes minutes or longer.
    """
    problem = CodeProblem(len(points), max_length(points), penalty, bool(equality), signed)

    def code(span: tuple[int, int]) -> tuple[np.ndarray, ...]:
        return problem.code(points, None if atoms is None else atoms[slice(*span)], span)

    spans = problem.spans(len(points) if atoms is None else atoms.shape[1])
    with one_blas_thread():
        results = map_threads(code, spans, title="sparse codes", long_work=long_work)
    return join_codes(results)


def max_length(points: np.ndarray) -> float:
    """Largest length of a point."""
    return float(np.sqrt(np.einsum("ij,ij->i", points, points).max()))


class CodeProblem(NamedTuple):
    """What all points have in common.

    Attributes
    ----------
    n_points : int
        Number of points.
    max_length : float
        Largest length of a point.
    penalty : float or None
        Penalty of the coefficients; None for a tenth of each point's largest correlation with an atom.
    equality, signed : bool
        Whether codes are exact, and whether coefficients may be negative.
    """

    n_points: int
    max_length: float
    penalty: float | None
    equality: bool
    signed: bool

    def spans(self, n_atoms: int) -> list[tuple[int, int]]:
        """Ranges of points that are processed together, given the size of a dictionary."""
        size = min(ROWS_PER_BLOCK, max(16, ENTRIES_PER_BLOCK // max(n_atoms, 1)))
        return blocks(self.n_points, size)

    def code(
        self, points: np.ndarray, atoms: np.ndarray | None, span: tuple[int, int]
    ) -> tuple[np.ndarray, ...]:
        """Codes of a range of points and their quality, given their atoms (None for all others)."""
        block = CodeBlock(points, atoms, self.signed, self.max_length, *span)
        return block.exact(self.penalty) if self.equality else block.penalised(self.penalty)


def join_codes(results: Sequence[tuple[np.ndarray, ...]]) -> Codes:
    """The codes of all points from those of consecutive ranges."""
    counts, indices, values, penalties, explained, gaps, inexact = map(
        np.concatenate, zip(*results, strict=True)
    )
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Codes(indptr, indices, values, penalties, explained, gaps, np.flatnonzero(inexact))
