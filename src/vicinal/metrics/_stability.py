"""`stability`: how much clusters change on random subsets, for each value of a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from vicinal._core.array_checks import check_points
from vicinal._core.options import entry, random_generator
from vicinal._core.parallel import progress_bar
from vicinal._core.scalar_checks import check_count, check_real
from vicinal.exceptions import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vicinal._core.types import ArrayLike, RandomStateLike


class Clusterer(Protocol):
    """An estimator with scikit-learn's interface that sets ``labels_``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def fit(self, X: Any) -> Any: ...


class Stability(NamedTuple):
    """Result of `stability`, one entry per value of the parameter.

    Parameters
    ----------
    values : list
        Values of the parameter.
    mean : ndarray of shape (m,)
        Mean adjusted Rand index between clusters of all rows and of subsets: 1 if they are the same.
    std : ndarray of shape (m,)
        Its standard deviation over the subsets.
    n_clusters : ndarray of int of shape (m,)
        Number of clusters of all rows.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from vicinal.metrics import stability
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> model = KMeans(n_init=1, random_state=0)
    >>> stability(model, X, "n_clusters", [2], n_subsets=2, random_state=0).mean
    array([1.])
    """

    values: list[Any]
    mean: np.ndarray
    std: np.ndarray
    n_clusters: np.ndarray

    @property
    def best(self) -> Any:
        """The value with the most stable clusters, if there are several; ties go to most clusters."""
        several = self.n_clusters > 1
        scores = np.where(several, self.mean, -np.inf) if several.any() else self.mean
        ties = np.flatnonzero(scores == scores.max())
        return self.values[int(ties[self.n_clusters[ties].argmax()])]


@entry
def stability(
    estimator: Clusterer,
    X: ArrayLike,
    parameter: str,
    values: Sequence[Any],
    *,
    n_subsets: int = 10,
    fraction: float = 0.8,
    random_state: RandomStateLike = None,
    verbose: int = 0,
) -> Stability:
    """Measure how stable clusters are on random subsets of the rows, for each value of a parameter.

    The estimator clusters all rows and each subset. On the rows of a subset, both clusterings are compared by
    the adjusted Rand index; rows that one of them calls noise (-1) are left out. A single cluster is always
    stable, so compare ``n_clusters`` too.

    Parameters
    ----------
    estimator : clusterer
        Any estimator with ``fit`` and ``labels_``; it is not changed.
    X : array-like of shape (n, n_features)
        Rows.
    parameter : str
        Name of the parameter, also nested, such as "graph_params__n_neighbors".
    values : sequence
        Values of the parameter.
    n_subsets : int, default=10
        Number of subsets; they are the same for all values.
    fraction : float, default=0.8
        Fraction of the rows in a subset.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the subsets.
    verbose : int, default=0
        If positive, show a progress bar.

    Returns
    -------
    Stability
        Values, mean and standard deviation of the adjusted Rand index, and numbers of clusters.

    Examples
    --------
    >>> from vicinal import SpectralClustering
    >>> from vicinal.datasets import make_two_moons
    >>> from vicinal.metrics import stability
    >>> X, _ = make_two_moons(200, noise=0.05, random_state=0)
    >>> model = SpectralClustering(random_state=0)
    >>> stability(model, X, "n_clusters", [2, 5], n_subsets=3, random_state=0).best
    2
    """
    points = check_points(X, dtype=None)
    n_subsets = check_count(n_subsets, "n_subsets")
    fraction = check_real(fraction, "fraction", low=0.0, high=1.0, open_low=True)
    candidates = _check_candidates(estimator, parameter, values)
    n = len(points)
    size = max(2, round(fraction * n))
    if size > n:
        raise InvalidValueError(f"X has {n} row(s), but subsets need at least 2.")
    rng = random_generator(random_state)
    subsets = [np.sort(rng.choice(n, size, replace=False)) for _ in range(n_subsets)]
    scores, counts = np.empty((len(candidates), n_subsets)), []
    with progress_bar(len(candidates) * (n_subsets + 1), "stability") as bar:
        for i, value in enumerate(candidates):
            labels = _labels(estimator, parameter, value, points)
            counts.append(len(set(labels[labels >= 0].tolist())))
            bar.update()
            for j, rows in enumerate(subsets):
                other = _labels(estimator, parameter, value, points[rows])
                known = (labels[rows] >= 0) & (other >= 0)
                agrees = adjusted_rand_score(labels[rows][known], other[known])
                scores[i, j] = agrees if known.any() else 0.0
                bar.update()
    return Stability(candidates, scores.mean(axis=1), scores.std(axis=1), np.array(counts))


def _labels(estimator: Any, parameter: str, value: Any, points: np.ndarray) -> np.ndarray:
    try:
        model = clone(estimator).set_params(**{parameter: value}).fit(points)
    except (ValueError, TypeError) as error:
        raise InvalidValueError(f"values contains {value!r} for {parameter}: {error}") from error
    return np.asarray(model.labels_)


def _check_candidates(estimator: Any, parameter: Any, values: Any) -> list[Any]:
    if not hasattr(estimator, "get_params") or not hasattr(estimator, "fit"):
        raise InvalidTypeError(
            f"estimator={estimator!r}, but a clusterer with fit and labels_ is needed."
        )
    if not isinstance(parameter, str):
        raise InvalidTypeError(f"parameter={parameter!r}, but the name of a parameter is needed.")
    names = estimator.get_params(deep=False)
    if parameter.partition("__")[0] not in names:
        raise InvalidValueError(
            f"parameter={parameter!r}, but {type(estimator).__name__} has {', '.join(names)}."
        )
    try:
        candidates = [] if sparse.issparse(values) else list(values)
    except TypeError:
        candidates = []
    if isinstance(values, str) or not candidates:
        raise InvalidTypeError(f"values={values!r}, but a list of values is needed.")
    return candidates
