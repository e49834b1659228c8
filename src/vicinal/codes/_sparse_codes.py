"""Sparse codes of many points: each as a sparse combination of others.

Two problems for a point x with the dictionary Z of its atoms, both with a >= 0 unless signs are allowed:

- penalised: min 1/2 |x - Z'a|^2 + penalty sum(a),
- exact: min sum(a) such that x = Z'a, the limit of small penalties, if it exists.

Points are processed in blocks and rounds. A round computes one product of the block's residuals with all
atoms, which shows the atoms that would improve a code; a few of them are added and the small problem is
solved (`_code_kernels`). When no atom improves a code any more, it is optimal. No (n, n) matrix is stored.
"""

from __future__ import annotations

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
    n_jobs: int | None = -1,
    progress: str | None = None,
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
    n_jobs : int or None
        Number of threads.
    progress : str, optional
        Title of a progress bar.
    long_work : LongWork, optional
        Without a bar, warn if the work takes minutes or longer.
    """
    n = len(points)
    max_length = float(np.sqrt(np.einsum("ij,ij->i", points, points).max()))

    def code(span: tuple[int, int]) -> tuple[np.ndarray, ...]:
        block = CodeBlock(points, atoms, signed, max_length, *span)
        return block.exact(penalty) if equality else block.penalised(penalty)

    width = n if atoms is None else atoms.shape[1]
    size = min(ROWS_PER_BLOCK, max(16, ENTRIES_PER_BLOCK // max(width, 1)))
    with one_blas_thread():
        results = map_threads(code, blocks(n, size), n_jobs, progress=progress, long_work=long_work)
    counts, indices, values, penalties, explained, gaps, inexact = map(
        np.concatenate, zip(*results, strict=True)
    )
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Codes(indptr, indices, values, penalties, explained, gaps, np.flatnonzero(inexact))
