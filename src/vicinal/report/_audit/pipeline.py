"""`audit`: check a table for duplicates, outliers, doubtful labels and leakage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from vicinal._core.options import entry, seed_from
from vicinal._core.scalar_checks import check_choice
from vicinal._core.tables import RawTable, missing_cells
from vicinal.duplicates import near_duplicates
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors import NeighborSearch
from vicinal.outliers import OutlierDetector
from vicinal.report._audit.copies import conflicting_rows, find_leakage
from vicinal.report._audit.label_doubts import NEIGHBOR_COUNTS, doubt_labels
from vicinal.report._audit.rows import find_hubs, find_outliers, find_typical
from vicinal.report._preprocessing import CleanTable, as_strings, prepare, raw_table
from vicinal.report.audit_result import Audit
from vicinal.report.result import Origin

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs, RandomStateLike, TableLike

METRICS = ("euclidean", "cosine")


@entry
def audit(
    X: TableLike,
    labels: ArrayLike | str | None = None,
    *,
    splits: ArrayLike | str | None = None,
    ids: ArrayLike | str | None = None,
    images: ArrayLike | None = None,
    metric: Literal["euclidean", "cosine"] = "euclidean",
    threshold: float | Literal["auto"] = "auto",
    scaling: Literal["auto", "none", "standard"] = "auto",
    kinds: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
    random_state: RandomStateLike = 0,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Audit:
    """Check a data set: near-duplicates, outliers, doubtful labels, leakage between splits, and hubs.

    Parameters
    ----------
    X : array (n, d), (n, height, width), DataFrame, dict of columns or list of dicts
        Rows to check, such as embeddings. Columns of any kind and missing values are treated as by
        `vicinal.perceive`. At least 10 rows are needed.
    labels : array (n,) or str, optional
        Classes of the rows, or the name of their column; missing values are allowed.
    splits : array (n,) or str, optional
        The part of each row, such as "train" and "test", or the name of that column.
    ids : array (n,) or str, optional
        Names of the rows, or the name of their column; row numbers by default.
    images : array (n, height, width), optional
        One grey-level image per row, shown in the report.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" compares directions only; use it for embeddings of texts.
    threshold : "auto" or float, default="auto"
        Largest distance of a near-duplicate, as for `vicinal.near_duplicates`.
    scaling : {"auto", "none", "standard"}, default="auto"
        "auto" compares columns as `vicinal.perceive` does, but takes them as they are with cosine distances.
        Give "none" for embeddings with Euclidean distances.
    kinds : dict, optional
        Kinds of columns that are guessed otherwise, by name: see `vicinal.TableEncoder`.
    weights : dict, optional
        Weights of columns that are automatic otherwise, by name.
    random_state : int, Generator, RandomState or None, default=0
        Random seed.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        If positive, long searches show a progress bar.

    Returns
    -------
    Audit
        All findings. It prints as a summary; `Audit.to_frame` has one row per row of the table,
        `Audit.to_html` writes the report.

    Examples
    --------
    >>> import vicinal
    >>> X, y = vicinal.datasets.make_two_moons(200, noise=0.05, random_state=0)
    >>> y[7] = 1 - y[7]
    >>> result = vicinal.audit(X, y)
    >>> result.doubtful_rows
    array([7])
    """
    return audit_table(
        raw_table(X, labels, ids, images, splits),
        Origin(),
        metric=metric,
        threshold=threshold,
        scaling=scaling,
        kinds=kinds,
        weights=weights,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )


@entry
def audit_table(
    table: RawTable,
    origin: Origin,
    *,
    metric: str = "euclidean",
    threshold: Any = "auto",
    scaling: str = "auto",
    kinds: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> Audit:
    """`audit` for a table whose ``origin`` is known."""
    check_choice(metric, "metric", METRICS)
    is_direction = scaling != "standard" and metric == "cosine"
    scaling = "none" if is_direction else scaling
    data = prepare(table, scaling, kinds=kinds, weights=weights)
    if is_direction:
        data = data._replace(why_scaling="not rescaled: cosine compares directions")
    splits = _check_splits(table.splits, len(data.points))
    seed = random_state if isinstance(random_state, int) else seed_from(random_state)
    points = _directions(data) if metric == "cosine" else data.points
    # Threads inside matrix products would change the order of summation.
    with threadpool_limits(limits=1):
        duplicates = near_duplicates(
            points,
            metric=metric,
            threshold=threshold,
            random_state=seed,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        search = NeighborSearch(points, n_jobs=n_jobs, verbose=verbose)
        neighbors = search.nearest(min(NEIGHBOR_COUNTS[-1], len(points) - 1))
        detector = OutlierDetector(random_state=seed, n_jobs=n_jobs)
        doubts = conflicts = None
        if data.labels is not None:
            doubts = doubt_labels(points, data.labels, neighbors, n_jobs)
            conflicts = conflicting_rows(duplicates, data.labels)
        return Audit(
            data=data,
            duplicates=duplicates,
            outliers=find_outliers(points, detector, None if data.encoder else data.names),
            label_doubts=doubts,
            conflicts=conflicts,
            leakage=None if splits is None else find_leakage(duplicates, splits),
            typicality=find_typical(points, data.labels, detector),
            hubs=find_hubs(neighbors[0]),
            parameters={
                "metric": metric,
                "threshold": threshold,
                "scaling": scaling,
                "random_state": seed,
            },
            origin=origin,
        )


def _directions(data: CleanTable) -> np.ndarray:
    """Rows of length 1."""
    lengths = np.linalg.norm(data.points, axis=1, keepdims=True)
    zero = np.flatnonzero(lengths == 0)
    if len(zero):
        raise InvalidValueError(
            f"metric='cosine', but row {data.ids[zero[0]]} is a zero vector, which has no direction "
            f"({len(zero):,} in all); remove such rows, or use metric='euclidean'."
        )
    return data.points / lengths


def _check_splits(splits: np.ndarray | None, n: int) -> np.ndarray | None:
    """Splits as text, empty where they are missing."""
    if splits is None:
        return None
    names = as_strings(splits, n, "splits")
    known = np.where(missing_cells(splits), "", names)
    present = sorted(set(known.tolist()) - {""})
    if len(present) < 2:
        raise InvalidValueError(
            f"splits has only the value {', '.join(map(repr, present)) or 'missing'}, but leakage needs at "
            "least two splits; omit splits, or pass all of them."
        )
    return known
