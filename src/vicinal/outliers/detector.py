"""`OutlierDetector`: outliers by their distances to small random samples."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin

from vicinal._base.chunked_fit import by_chunks, chunked_fit
from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.array_checks import validate_input
from vicinal._core.boxplot_scores import fit_boxplot, score_of
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.chunked import is_chunked, validate_chunks
from vicinal._core.fitted import check_is_fitted
from vicinal._core.options import seed_from
from vicinal._core.parallel import one_blas_thread
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors._sampled_distances import (
    N_SAMPLES,
    SAMPLE_SIZE,
    SampledDistances,
    draw_ranks,
)

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs, RandomStateLike

# Length of the whiskers of a boxplot, in interquartile ranges.
WHISKER_LENGTH = 1.5
N_CURVE_POINTS = 101


class OutlierDetector(OutlierMixin, FitCallbacks, BaseEstimator):
    """Detect rows that are far from the nearest member of small random samples.

    A small sample represents dense and sparse regions, but rarely contains a member of a small group of
    outliers. So even outliers that are close to each other stand out, and there is no number of neighbours to
    match to the size of such groups.

    Columns are not rescaled: bring them to a common scale first, for instance to [0, 1].

    Parameters
    ----------
    contamination : "auto" or float in (0, 0.5], default="auto"
        Fraction of outliers. "auto" sets the threshold at the fence of a boxplot of the log distances. In
        data without outliers, 0 to 3 % of the rows are beyond it.
    sample_size : int, default=16
        Number of rows per sample. Tables of fewer than 256 rows use n / 16, but at least 2.
    n_samples : int, default=100
        Number of samples; more samples give smoother scores.
    random_state : int, RandomState or None, default=0
        Seed of the samples. Scores do not depend on the order of the rows.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`; rows below it are outliers.
    threshold_curve_ : ndarray of shape (101, 2)
        Thresholds on `score_samples`, and the fraction of training rows below each.
    contamination_ : float
        Fraction of training rows that are outliers.
    labels_ : ndarray of int of shape (n,)
        Labels of the training rows: -1 for outliers, 1 for inliers.
    outlier_score_ : ndarray of shape (n,)
        Scores of the training rows as in `outlier_score`: from 0 to 1, above 0.5 for outliers.
    n_features_in_ : int
        Number of columns.

    References
    ----------
    Sugiyama and Borgwardt, "Rapid distance-based outlier detection via sampling", NIPS 2013.

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
        sample_size: int = SAMPLE_SIZE,
        n_samples: int = N_SAMPLES,
        random_state: RandomStateLike = 0,
        n_jobs: NJobs = -1,
    ) -> None:
        self.contamination = contamination
        self.sample_size = sample_size
        self.n_samples = n_samples
        self.random_state = random_state
        self.n_jobs = n_jobs

    @chunked_fit
    @one_blas_thread()
    def fit(self, X: ArrayLike, y: object = None) -> OutlierDetector:
        """Draw the samples and set the threshold.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training rows. For a dask array, ``labels_`` is a dask array in its chunks.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        if isinstance(self.contamination, str):
            check_choice(self.contamination, "contamination", ("auto",))
        else:
            check_real(self.contamination, "contamination", low=0.0, high=0.5, open_low=True)
        size = check_count(self.sample_size, "sample_size")
        n_samples = check_count(self.n_samples, "n_samples")
        rng = np.random.default_rng(seed_from(self.random_state))
        self._unit = 1.0
        if is_chunked(X):
            distances = self._distances_of_chunks(X, rng, size, n_samples)
        else:
            points = validate_input(self, X, dtype=np.float64, ensure_min_samples=2)
            self._rescaling = fit_rescaling(points)
            rescaled = self._rescaling.transform(points)
            self._distances = SampledDistances(rescaled, rng, size, n_samples)
            distances = -self._score(rescaled)
        n = len(distances)
        # Scores are in units of the typical distance, so they do not depend on the unit of the data.
        self._unit = float(np.median(distances)) or float(distances.max()) or 1.0
        scores = -distances / self._unit
        self.offset_ = self._threshold(scores)
        levels = np.quantile(scores, np.linspace(0.0, 1.0, N_CURVE_POINTS))
        below = np.searchsorted(np.sort(scores), levels) / n
        self.threshold_curve_ = np.column_stack([levels, below])
        self.labels_ = np.where(scores < self.offset_, -1, 1)
        self.contamination_ = float(np.mean(self.labels_ == -1))
        self._scale = fit_boxplot(-scores)
        self.outlier_score_ = self._calibrated(scores)
        return self

    def _distances_of_chunks(
        self, X: Any, rng: np.random.Generator, size: int, n_samples: int
    ) -> np.ndarray:
        """Distances of the rows of a dask array to the samples drawn from it."""
        from vicinal.scale._rows import CheckedRows

        rows = CheckedRows(validate_chunks(self, X))
        if len(rows) < 2:
            raise InvalidValueError("X has n_samples=1, but at least 2 rows are needed.")
        rescaling = self._rescaling = rows.rescaling()
        drawn = rows.rows_at_ranks(draw_ranks(len(rows), rng, size, n_samples))
        samples = [rescaling.transform(part) for part in drawn]
        distances = self._distances = SampledDistances.from_samples(np.array(samples))
        return rows.map(lambda block: distances(rescaling.transform(block)), "outliers")

    @by_chunks(dtype=lambda model: np.float64)
    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Compute the negative mean distance to the samples, -1 for a typical row; higher is more normal.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows to score. A dask array is processed lazily, chunk by chunk.

        Returns
        -------
        ndarray of shape (m,)
            Scores; training rows have the same scores as in `fit`.
        """
        check_is_fitted(self)
        points = validate_input(self, X, reset=False, dtype=np.float64)
        return self._score(self._rescaling.transform(points))

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
        increases with the distance to the samples. At the fence of a boxplot of the log distances of the
        training rows it is about 0.25, or 0.75 for outliers; an outlier with a lower score is only one
        because of the requested ``contamination``.

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

    @by_chunks()
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict whether rows are outliers.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Rows to label. A dask array is processed lazily, chunk by chunk.

        Returns
        -------
        ndarray of int of shape (m,)
            -1 for outliers, 1 for inliers.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

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

    def _calibrated(self, scores: np.ndarray) -> np.ndarray:
        return score_of(self._scale.units(-scores), scores < self.offset_)

    def _score(self, rescaled: np.ndarray) -> np.ndarray:
        return -self._distances(rescaled) / self._unit

    def _threshold(self, scores: np.ndarray) -> float:
        if isinstance(self.contamination, numbers.Real):
            return float(np.percentile(scores, 100.0 * float(self.contamination)))
        distances = -scores[scores < 0]
        if len(distances) == 0:
            return 0.0
        low, high = np.quantile(np.log(distances), [0.25, 0.75])
        return float(-np.exp(high + WHISKER_LENGTH * (high - low)))
