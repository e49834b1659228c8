"""Graphs of sparse codes: each point is connected to the points that represent it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vicinal._core.array_checks import check_points
from vicinal._core.chunked import ChunkedRows, is_chunked
from vicinal._core.lazy import chunked_counterpart
from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.parallel import n_threads
from vicinal._core.scalar_checks import check_real
from vicinal._core.warn import LongWork
from vicinal.codes._directions import code_points
from vicinal.codes._sparse_codes import ENTRIES_PER_BLOCK, CodeQuality, Codes, sparse_codes
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._entries import Entries, index_dtype, rows_of
from vicinal.graphs.graph import Graph
from vicinal.neighbors.metric import EUCLIDEAN

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs


@entry
def l1(
    X: ArrayLike,
    penalty: float | Literal["auto"] = "auto",
    *,
    equality: bool = False,
    normalize: bool = True,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """L1 graph: each point is a sparse, nonnegative combination of its neighbours.

    The code a of a point x over all others, the columns of Z, minimises
    ``1/2 |x - Z a|^2 + penalty sum(a)``, a >= 0. Its coefficients are the strengths of the edges, so the
    number of neighbours and their weights adapt to each point.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points, in memory or a dask array (see `vicinal.scale`). A zero row has no direction and raises an
        error.
    penalty : float or "auto", default="auto"
        Penalty of the coefficients, > 0; larger values give fewer edges. "auto" is, for each point, a
        tenth of the penalty at which its code becomes empty.
    equality : bool, default=False
        Compute exact codes: min sum(a) such that x = Z a, a >= 0 (basis pursuit). Points that are not a
        nonnegative combination of the others get the penalised code; they are listed in
        ``codes.inexact``.
    normalize : bool, default=True
        Scale points to length 1 for the codes, so that only directions matter. Without it the penalty
        is in units of X squared.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    Graph
        Directed; lengths are distances between points of X. ``metadata["codes"]`` gives the explained
        fraction, the number of atoms and the duality gap of each code. Estimators with ``graph="l1"``
        symmetrise it with ``symmetrize("mean")``. A point without positive inner product with any other
        has no outgoing edges; points on a line through the origin (as with one feature) are
        represented by the first other point on their side.

    References
    ----------
    Cheng, Yang, Yan, Fu and Huang, "Learning with l1-graph for image analysis", IEEE Transactions on Image
    Processing 2010.

    Examples
    --------
    >>> from vicinal.graphs import l1
    >>> graph = l1([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.2]], penalty=0.1)
    >>> graph.to_scipy("strengths").toarray().round(2)
    array([[0.  , 0.  , 0.61, 0.  ],
           [0.  , 0.  , 0.95, 0.63],
           [0.61, 0.61, 0.  , 0.  ],
           [0.  , 0.1 , 0.  , 0.  ]])
    >>> graph.metadata["codes"].support_sizes
    array([1, 2, 2, 1])
    """
    return representation(X, penalty, equality=equality, normalize=normalize)


def representation(
    X: ArrayLike,
    penalty: float | str,
    *,
    equality: bool,
    normalize: bool = True,
    signed: bool = False,
) -> Graph:
    """The graph of `l1`; if ``signed``, coefficients may be negative, and their absolute
    values are the strengths.
    """
    points = check_code_points(X)
    checked_penalty = check_penalty(penalty)
    n, n_features = points.shape
    long_work = LongWork(
        f"the L1 graph of {n:,} points", "structure_aware_l1(X) has small dictionaries"
    )
    options: dict[str, Any] = {"equality": bool(equality), "signed": signed}
    require_memory(
        n_threads() * 8.0 * max(ENTRIES_PER_BLOCK, 16 * n) + 16.0 * n * n_features,
        f"The L1 graph of {n:,} points",
        "Use fewer threads, or structure_aware_l1(X), whose dictionaries are small.",
    )
    if is_chunked(points):
        from vicinal.codes._chunked_codes import chunked_codes

        codes, unit = chunked_codes(
            points,
            None,
            normalize=normalize,
            penalty=checked_penalty,
            long_work=long_work,
            **options,
        )
        return code_graph(codes, points, unit)
    directions, unit = code_points(points, normalize)
    codes = sparse_codes(
        directions,
        penalty=None if checked_penalty is None else checked_penalty * unit**2,
        long_work=long_work,
        **options,
    )
    return code_graph(codes, points, unit)


def check_code_points(X: ArrayLike) -> Any:
    """Points in double precision, or those of a dask array in cells."""
    if is_chunked(X):
        return chunked_counterpart("store_points")(X, "euclidean")
    return check_points(X)


def check_penalty(penalty: object) -> float | None:
    """`penalty` as a number > 0; None for "auto"."""
    if isinstance(penalty, str):
        if penalty == "auto":
            return None
        raise InvalidValueError(f"penalty={penalty!r}, but a number > 0 or 'auto' is needed.")
    remedy = "Use equality=True for codes without a penalty."
    return check_real(penalty, "penalty", low=0.0, open_low=True, remedy=remedy)


def code_graph(
    codes: Codes,
    points: np.ndarray | ChunkedRows,
    unit: float,
    recall: float = 1.0,
) -> Graph:
    """Directed graph with the coefficients as strengths."""
    n, m = len(points), len(codes.indices)
    dtype = index_dtype(n, m)
    indptr, indices = codes.indptr.astype(dtype), codes.indices.astype(dtype)
    pairs = np.column_stack([rows_of(indptr, dtype), indices]).astype(np.int64)
    # Strengths are at most 1; a common factor does not change the graph otherwise.
    strengths = np.abs(codes.values)
    largest = max(1.0, float(strengths.max(initial=0.0)))
    quality = CodeQuality(
        largest,
        np.diff(codes.indptr),
        codes.penalties / unit**2,
        codes.explained,
        codes.gaps,
        codes.inexact,
        recall,
    )
    if isinstance(points, ChunkedRows):
        lengths = chunked_counterpart("pair_lengths")(points, pairs)
    else:
        lengths = EUCLIDEAN.pair_distances(points, pairs)
    entries = Entries(indptr, indices, lengths, strengths / largest)
    return Graph._of_entries(
        entries, True, points, metadata={"codes": quality}, strengths_are_affinities=True
    )
