"""`OutlierDetector`: rows that are far from small samples of the others."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.array_checks import validate_input
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.options import seed_from
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.neighbors._sampled_distances import N_SAMPLES, SAMPLE_SIZE, SampledDistances

# Fence of a boxplot, in quartile distances.
WHISKER = 1.5
CURVE = 101


class OutlierDetector(OutlierMixin, FitCallbacks, BaseEstimator):
    """Outliers as rows that are far from the nearest member of small random samples.

    In a sample of a few rows, dense and sparse regions are both represented by their nearest member, while a
    small group of outliers is mostly absent. So rows of such a group stand out, which neighbours in the whole
    table would hide, and no number of neighbours has to fit the size of the group.

    Columns count as they are: bring them to one unit first, for instance each to [0, 1].

    Parameters
    ----------
    contamination : "auto" or float in (0, 0.5], default="auto"
        Fraction of outliers. "auto" reads a threshold off the distribution of the scores: the fence of a
        boxplot of their logarithms. On data without outliers up to 3 % lie beyond it, or none.
    sample_size : int, default=16
        Rows per sample; in tables of fewer than 256 rows one in 16, but 2 at least.
    n_samples : int, default=100
        Number of samples. More give smoother scores.
    random_state : int, RandomState or None, default=0
        Seed of the samples. They are drawn from sorted rows, so scores do not depend on the order of rows.
    n_jobs : int or None, default=-1
        Number of threads, all cores by default. The result does not depend on it.

    Attributes
    ----------
    offset_ : float
        Threshold on `score_samples`; rows below it are outliers.
    threshold_curve_ : ndarray (101, 2)
        Thresholds on `score_samples`, and the fraction of training rows that lie below each.
    contamination_ : float
        Fraction of training rows that are outliers.
    labels_ : ndarray of int (n,)
        -1 for outliers, 1 for the other training rows.
    n_features_in_ : int

    References
    ----------
    Sugiyama and Borgwardt, "Rapid distance-based outlier detection via sampling", NIPS 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import OutlierDetector
    >>> X = np.r_[np.random.default_rng(0).normal(size=(100, 2)), [[9.0, 9.0]]]
    >>> int(OutlierDetector().fit_predict(X)[-1])
    -1
    """

    def __init__(
        self,
        contamination: float | str = "auto",
        *,
        sample_size: int = SAMPLE_SIZE,
        n_samples: int = N_SAMPLES,
        random_state: Any = 0,
        n_jobs: int | None = -1,
    ) -> None:
        self.contamination = contamination
        self.sample_size = sample_size
        self.n_samples = n_samples
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> OutlierDetector:
        """Draw samples and find the threshold.

        Parameters
        ----------
        X : array (n, n_features)
        y : ignored

        Returns
        -------
        self
        """
        if isinstance(self.contamination, str):
            check_choice(self.contamination, "contamination", ("auto",))
        else:
            check_real(self.contamination, "contamination", low=0.0, high=0.5, open_low=True)
        size = check_count(self.sample_size, "sample_size")
        n_samples = check_count(self.n_samples, "n_samples")
        points = validate_input(self, X, dtype=np.float64, ensure_min_samples=2)
        self._rescaling = fit_rescaling(points)
        placed = self._rescaling.transform(points)
        n = len(placed)
        rng = np.random.default_rng(seed_from(self.random_state))
        self._distances = SampledDistances(placed, rng, size, n_samples)
        self._unit = 1.0
        distances = -self._score(placed)
        # Scores are in units of the typical distance, so they mean the same in any unit of the data.
        self._unit = float(np.median(distances)) or float(distances.max()) or 1.0
        scores = -distances / self._unit
        self.offset_ = self._threshold(scores)
        levels = np.quantile(scores, np.linspace(0.0, 1.0, CURVE))
        below = np.searchsorted(np.sort(scores), levels) / n
        self.threshold_curve_ = np.column_stack([levels, below])
        self.labels_ = np.where(scores < self.offset_, -1, 1)
        self.contamination_ = float(np.mean(self.labels_ == -1))
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Scores, the higher the more normal: minus the mean distance to samples, -1 for a typical row.

        Parameters
        ----------
        X : array (m, n_features)

        Returns
        -------
        ndarray (m,)
            Training rows get the scores that they had in `fit`.
        """
        check_is_fitted(self)
        points = validate_input(self, X, reset=False, dtype=np.float64)
        return self._score(self._rescaling.transform(points))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores above the threshold: negative for outliers.

        Parameters
        ----------
        X : array (m, n_features)

        Returns
        -------
        ndarray (m,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """-1 for outliers, 1 for the other rows.

        Parameters
        ----------
        X : array (m, n_features)

        Returns
        -------
        ndarray of int (m,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and label the training rows: -1 for outliers, 1 for the others.

        Parameters
        ----------
        X : array (n, n_features)
        y : ignored

        Returns
        -------
        ndarray of int (n,)
        """
        return self.fit(X).labels_

    def _score(self, placed: np.ndarray) -> np.ndarray:
        return -self._distances(placed, self.n_jobs) / self._unit

    def _threshold(self, scores: np.ndarray) -> float:
        if isinstance(self.contamination, numbers.Real):
            return float(np.percentile(scores, 100.0 * float(self.contamination)))
        distances = -scores[scores < 0]
        if len(distances) == 0:
            return 0.0
        low, high = np.quantile(np.log(distances), [0.25, 0.75])
        return float(-np.exp(high + WHISKER * (high - low)))
