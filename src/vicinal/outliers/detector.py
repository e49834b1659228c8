"""`OutlierDetector`: outliers by three distances, and decisions with an error rate where one exists."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin

from vicinal._base.chunked_fit import by_chunks, chunked_fit
from vicinal._core.array_checks import validate_input
from vicinal._core.boxplot_scores import score_of
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.chunked import is_chunked, validate_chunks
from vicinal._core.fitted import check_is_fitted
from vicinal._core.matrix_checks import check_distances
from vicinal._core.options import seed_from
from vicinal._core.parallel import one_blas_thread
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors import NeighborSearch
from vicinal.outliers._voices import VOICES, Reason, Voices, reason_of

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from vicinal._core.types import ArrayLike, MetricLike, NJobs, RandomStateLike

# False discovery rate of the automatic threshold, if the tail of the scores is exponential or lighter.
AUTO_RATE = 0.1
N_CURVE_POINTS = 101
# Larger tables are compared with a random sample of this many rows.
MAX_REFERENCE = 20_000


class OutlierDetector(OutlierMixin, FitCallbacks, BaseEstimator):
    """Detect rows that do not fit the rest, by three distances in one score.

    - The **global** distance to the nearest member of small random samples finds rows far from all
      regions, even if they are close to each other.
    - The **local** distance to the nearest rows, relative to that of these rows, finds rows at the edge
      of a dense region.
    - The **shape** distance to the centre, in units of the spread in each direction, finds unusual
      combinations of values, also in hundreds of columns.

    Each counts as much as the number of independent directions it sees, which is taken from the data, so
    that embeddings are led by their shape and tables are not. `explain` says which distance makes a row
    unusual, and which columns.

    Use it to rank rows for inspection, or for new rows beside a clean table (``novelty=True``). The
    scores of a clustering, ``noise_score_``, answer another question: they are high between and around
    clusters, where density is low.

    Columns are not rescaled: bring them to a common scale first, for instance to [0, 1].

    Parameters
    ----------
    contamination : "auto" or float in (0, 0.5], default="auto"
        Fraction of outliers. "auto" expects scores of inliers to fall off beyond their upper quartile at
        least as fast as before it. It hardly ever raises an alarm in data without outliers, and needs
        fewer than a quarter of them. Without rows known to be clean, no method can promise an error rate.
    novelty : bool, default=False
        Whether the training rows are known to be clean, and the question is whether new rows are like them.
    fdr : float in (0, 1], optional
        With ``novelty=True``, false discovery rate of `predict`: at most this fraction of the rows
        labelled as outliers are inliers, on average over tables whose inliers are drawn like the training
        rows. Half of the training rows are then set aside as a yardstick, by which `p_values` are
        measured.
    metric : str or callable, default="euclidean"
        Metric of the global and the local distance, as for `NeighborSearch`. With "precomputed", X holds
        distances, which have no shape.
    random_state : int, RandomState or None, default=0
        Seed of the samples. Scores do not depend on the order of the rows.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`; rows below it are outliers. With ``fdr``, the threshold for one new
        row by itself.
    threshold_curve_ : ndarray of shape (101, 2)
        Thresholds on `score_samples`, and the fraction of training rows below each.
    contamination_ : float
        Fraction of training rows that are outliers.
    labels_ : ndarray of int of shape (n,)
        Labels of the training rows: -1 for outliers, 1 for inliers.
    outlier_score_ : ndarray of shape (n,)
        Scores of the training rows as in `outlier_score`: from 0 to 1, above 0.5 for outliers.
    voices_ : dict
        Weights of the global, the local and the shape distance; their squares sum to 1. A distance that
        is the same for all rows, and the shape of distances without coordinates, have 0.
    n_features_in_ : int
        Number of columns.

    References
    ----------
    Sugiyama and Borgwardt, "Rapid distance-based outlier detection via sampling", NIPS 2013.
    Breunig, Kriegel, Ng and Sander, "LOF: identifying density-based local outliers", SIGMOD 2000.
    Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", Journal of
    Multivariate Analysis 88 (2004).
    Bates, Candès, Lei, Romano and Sesia, "Testing for outliers with conformal p-values", Annals of
    Statistics 51 (2023).

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import OutlierDetector
    >>> X = np.r_[np.random.default_rng(0).normal(size=(100, 2)), [[9.0, 9.0]]]
    >>> model = OutlierDetector().fit(X)
    >>> int(model.labels_[-1]), bool(model.outlier_score_[-1] > 0.75)
    (-1, True)
    """

    def __init__(
        self,
        contamination: float | Literal["auto"] = "auto",
        *,
        novelty: bool = False,
        fdr: float | None = None,
        metric: MetricLike = "euclidean",
        random_state: RandomStateLike = 0,
        n_jobs: NJobs = -1,
    ) -> None:
        self.contamination = contamination
        self.novelty = novelty
        self.fdr = fdr
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs

    @chunked_fit
    @one_blas_thread()
    def fit(self, X: ArrayLike, y: object = None) -> OutlierDetector:
        """Measure the training rows and set the threshold.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or (n, n) distances if ``metric="precomputed"``
            Training rows. For a dask array, ``labels_`` is a dask array in its chunks.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_options()
        rows = self._rows(X)
        rng = np.random.default_rng(seed_from(self.random_state))
        n = len(rows)
        n_reference = min(n if self.fdr is None else n // 2, MAX_REFERENCE)
        ranks = np.arange(n) if n_reference == n else rng.permutation(n)
        chosen = np.sort(ranks[:n_reference])
        # Distances are those to the reference.
        self._columns = rows.order[chosen] if self._is_precomputed() else slice(None)
        self._voices = Voices(
            rows.rows_at_ranks(chosen)[:, self._columns],
            rng,
            metric=self.metric,
            has_points=not self._is_precomputed(),
            is_clean=self.novelty,
            n_jobs=self.n_jobs,
        )
        self.voices_ = dict(zip(VOICES, self._voices.weights.tolist(), strict=True))
        if n_reference == n and isinstance(rows, _Table):
            unusual = np.empty(n)
            unusual[rows.order] = self._voices.scores
        else:
            unusual = rows.map(self._unusual, "outliers")
        self._calibration: Any = None
        if self.fdr is not None:
            aside = np.sort(ranks[n_reference : n_reference + MAX_REFERENCE])
            self._calibration = np.sort(self._unusual(rows.rows_at_ranks(aside)))
        self._set_threshold(-unusual)
        return self

    def _set_threshold(self, scores: np.ndarray) -> None:
        low, self._middle, high = np.quantile(-scores, [0.25, 0.5, 0.75])
        # If most scores are equal, the range of all is the unit.
        self._unit = float(high - low) or float(np.ptp(scores)) or 1.0
        self.offset_ = self._threshold(scores)
        levels = np.quantile(scores, np.linspace(0.0, 1.0, N_CURVE_POINTS))
        below = np.searchsorted(np.sort(scores), levels) / len(scores)
        self.threshold_curve_ = np.column_stack([levels, below])
        self.labels_ = self._labels(scores)
        self.contamination_ = float(np.mean(self.labels_ == -1))
        self.outlier_score_ = self._calibrated(scores)

    def _check_options(self) -> None:
        if isinstance(self.contamination, str):
            check_choice(self.contamination, "contamination", ("auto",))
        else:
            check_real(self.contamination, "contamination", low=0.0, high=0.5, open_low=True)
        if self.fdr is None:
            return
        check_real(self.fdr, "fdr", low=0.0, high=1.0, open_low=True)
        if not self.novelty or self.contamination != "auto":
            raise InvalidValueError(
                f"fdr={self.fdr!r} with novelty={self.novelty!r} and contamination="
                f"{self.contamination!r}, but a false discovery rate is only known beside clean rows: "
                "fit on such rows with novelty=True and contamination='auto', or omit fdr."
            )

    def _rows(self, X: Any) -> Any:
        """The checked rows of X, by their rank in an order that does not depend on the given one."""
        at_least = 2 if self.fdr is None else 4
        if is_chunked(X):
            from vicinal.scale._rows import CheckedRows

            if self._is_precomputed():
                raise InvalidValueError(
                    "X is a dask array, which is taken for points, but metric='precomputed' needs "
                    "distances: pass points and the name of a metric, or distances as a NumPy array."
                )
            rows = CheckedRows(validate_chunks(self, X))
            if len(rows) < at_least:
                raise InvalidValueError(
                    f"X has n_samples={len(rows)}, but at least {at_least} rows are needed."
                )
            return rows
        points = validate_input(self, X, dtype=np.float64, ensure_min_samples=at_least)
        if not self._is_precomputed():
            if self.metric != "euclidean":
                # Errors about rows name them as they were given.
                NeighborSearch(points, metric=self.metric)
            return _Table(points, np.lexsort(points.T[::-1]))
        return _Table(check_distances(points), np.arange(len(points)))

    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags

    @by_chunks(dtype=lambda model: np.float64)
    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Compute the negative score of the three distances: near 0 if typical; higher is more normal.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows to score; with ``metric="precomputed"``, their distances (m, n) to the training rows. A
            dask array is processed lazily, chunk by chunk.

        Returns
        -------
        ndarray of shape (m,)
            Scores. A row at the place of a training row is scored as that row: compared with the others.
        """
        return -self._unusual(self._checked(X))

    @by_chunks(dtype=lambda model: np.float64)
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Compute scores relative to the threshold; negative for outliers.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows to score. A dask array is processed lazily, chunk by chunk.

        Returns
        -------
        ndarray of shape (m,)
            Scores minus ``offset_``.
        """
        return self.score_samples(X) - self.offset_

    @by_chunks(dtype=lambda model: np.float64)
    def outlier_score(self, X: ArrayLike) -> np.ndarray:
        """Compute scores from 0 to 1 that are comparable between data sets, like ``noise_score_``.

        The score is above 0.5 exactly for rows that `predict` labels as outliers. Within both groups it
        decreases with `score_samples`. Two interquartile ranges beyond the median of the training rows,
        where the whisker of a boxplot ends, it is about 0.25, or 0.75 for outliers.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows to score. A dask array is processed lazily, chunk by chunk.

        Returns
        -------
        ndarray of shape (m,)
            Scores; training rows have the same scores as in ``outlier_score_``.
        """
        return self._calibrated(self.score_samples(X))

    def p_values(self, X: ArrayLike) -> np.ndarray:
        """Compute the fraction of clean rows that are at least as unusual, for a model with ``fdr``.

        The clean rows are those of the training rows that were set aside. For a row that is drawn like
        them, the p-value is uniform: the probability that it is at most p is at most p. With n rows set
        aside, it cannot be below 1 / (n + 1).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New rows. A dask array is processed lazily, chunk by chunk.

        Returns
        -------
        ndarray of shape (m,)
            The p-values.
        """
        check_is_fitted(self)
        if self._calibration is None:
            raise InvalidValueError(
                "p_values needs clean rows that were set aside, but the model was fitted with fdr=None; use "
                "OutlierDetector(novelty=True, fdr=0.1)."
            )
        return self._p_values(X)

    @by_chunks(dtype=lambda model: np.float64)
    def _p_values(self, X: ArrayLike) -> np.ndarray:
        return conformal_p_values(self._calibration, self._unusual(self._checked(X)))

    @by_chunks()
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict whether rows are outliers.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows to label. A dask array is processed lazily, chunk by chunk. With ``fdr``, all rows (of a
            chunk) are decided together, by the procedure of Benjamini and Hochberg: the more rows are
            unusual, the lower is the threshold.

        Returns
        -------
        ndarray of int of shape (m,)
            -1 for outliers, 1 for inliers.
        """
        return self._labels(self.score_samples(X))

    def explain(self, X: ArrayLike, n_columns: int = 3) -> list[Reason]:
        """Say which of the three distances makes each row as unusual as it is, and which columns.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows to explain, such as the outliers among the training rows.
        n_columns : int, default=3
            Largest number of columns per row.

        Returns
        -------
        list of Reason
            For each row the ``voice`` ("global", "local" or "shape") with the largest part in its score; the
            ``parts`` of all three, whose sum is the negative of `score_samples`; and ``columns``, pairs
            of the name or number of a column and its part in that distance, the largest first. There are
            none for given distances, and for the global and the local distance in a metric that is not
            Euclidean.

        Examples
        --------
        >>> import numpy as np
        >>> from vicinal import OutlierDetector
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> X[0, 2] = 9.0
        >>> print(OutlierDetector().fit(X).explain(X[:1], n_columns=1)[0].columns[0][0])
        2
        """
        points = self._checked(X)
        check_count(n_columns, "n_columns")
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()
        rows = points[:, self._columns]
        parts = self._voices.parts(rows)
        return [
            reason_of(part, partial(self._voices.shares, row), names, n_columns)
            for row, part in zip(rows, parts, strict=True)
        ]

    def fit_predict(self, X: ArrayLike, y: object = None) -> np.ndarray:
        """Fit, and return the labels of the training rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training rows.
        y : None
            Ignored.

        Returns
        -------
        ndarray of int of shape (n,)
            -1 for outliers, 1 for inliers.
        """
        return self.fit(X).labels_

    def _checked(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        points: np.ndarray = validate_input(self, X, reset=False, dtype=np.float64)
        return points

    def _unusual(self, points: np.ndarray) -> np.ndarray:
        return self._voices(points[:, self._columns])

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        if self.fdr is None or self._calibration is None:
            return np.where(scores < self.offset_, -1, 1)
        return np.where(rejected(conformal_p_values(self._calibration, -scores), self.fdr), -1, 1)

    def _calibrated(self, scores: np.ndarray) -> np.ndarray:
        return score_of((-scores - self._middle) / self._unit, self._labels(scores) == -1)

    def _threshold(self, scores: np.ndarray) -> float:
        if self.fdr is not None and self._calibration is not None:
            n_beyond = int(self.fdr * (len(self._calibration) + 1))
            return -float(self._calibration[-n_beyond]) if n_beyond else -np.inf
        if isinstance(self.contamination, numbers.Real):
            return float(np.percentile(scores, 100.0 * float(self.contamination)))
        return -tail_threshold(-scores)


@dataclass
class _Table:
    """Rows in memory, as `CheckedRows` are on disk; ``order`` has the row at each rank."""

    points: np.ndarray
    order: np.ndarray

    def __len__(self) -> int:
        return len(self.points)

    def rows_at_ranks(self, ranks: np.ndarray) -> np.ndarray:
        return self.points[self.order[ranks]]

    def map(self, function: Callable[[np.ndarray], np.ndarray], title: str) -> np.ndarray:
        return function(self.points)


def tail_threshold(scores: np.ndarray) -> float:
    """Score beyond which rows are outliers, if inliers fall off beyond the median as fast as up to the
    upper quartile.

    Under this exponential tail, a score s has the p-value ``exp(-(s - median) log 2 / (quartile -
    median)) / 2``, and the procedure of Benjamini and Hochberg rejects the rows above the threshold.
    """
    middle, upper = np.quantile(scores, [0.5, 0.75])
    # Where a quarter of the rows or more share the median, the range of all is the unit.
    unit = float(upper - middle) or float(scores.max() - middle)
    n = len(scores)
    with np.errstate(divide="ignore", over="ignore"):
        beyond = (np.sort(scores)[::-1] - middle) / unit if unit > 0 else np.zeros(n)
        p_values = 0.5 * np.exp2(-beyond)
    n_rejected = np.flatnonzero(p_values <= AUTO_RATE * np.arange(1, n + 1) / n)
    level = AUTO_RATE * (n_rejected[-1] + 1 if len(n_rejected) else 1) / n
    return float(middle - unit * np.log2(2.0 * level))


def conformal_p_values(calibration: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Fraction of the calibration rows, and the row itself, with at least this score (``calibration``
    ascends)."""
    n = len(calibration)
    return (1.0 + n - np.searchsorted(calibration, scores, side="left")) / (n + 1.0)


def rejected(p_values: np.ndarray, rate: float) -> np.ndarray:
    """Rows that Benjamini and Hochberg reject at a false discovery rate."""
    ordered = np.sort(p_values)
    n = len(ordered)
    passed = np.flatnonzero(ordered <= rate * np.arange(1, n + 1) / n)
    return p_values <= (ordered[passed[-1]] if len(passed) else -1.0)
