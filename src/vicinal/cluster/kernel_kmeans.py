"""`KernelKMeans`: k-means on a kernel, such as a smoothed similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.utils import Tags

from vicinal._base.row_assignment import relabel_by_first_occurrence
from vicinal._core.affine_rescaling import fit_rescaling
from vicinal._core.array_checks import real_array, validate_input
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.fitted import check_is_fitted
from vicinal._core.memory import require_memory
from vicinal._core.options import seed_from
from vicinal._core.parallel import map_threads, one_blas_thread
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.cluster._kernel_kmeans import (
    MIN_RELATIVE_GAIN,
    FactoredKernel,
    FullKernel,
    Kernel,
    kernel_kmeans,
)
from vicinal.cluster._psd_kernel import positive_kernel
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike, NJobs, RandomStateLike

KERNELS = ("rbf", "linear", "precomputed")
# With this coefficient a Gaussian is 1 at its centre and 0 elsewhere; a larger one would overflow.
MAX_GAMMA = 1e300


class KernelKMeans(ClusterMixin, FitCallbacks, BaseEstimator):
    """Cluster by k-means in the feature space of a kernel.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; none is left empty.
    kernel : {"rbf", "linear", "precomputed"} or callable, default="rbf"
        "precomputed" if X is a kernel matrix, dense or sparse. A function takes two tables of points and
        returns their inner products. "linear" forms no matrix: the rows of X may be factors of a
        low-rank kernel.
    gamma : float or "scale", default="scale"
        Coefficient in exp(-gamma d^2); "scale" is 1 / (n_features * variance of X).
    psd : {"check", "project"}, default="check"
        What to do with a kernel that is not symmetric positive semi-definite: "check" raises an error
        (k-means may not converge); "project" uses the nearest PSD matrix, with a warning if it spreads over
        far more directions than clusters, as similarities smoothed for retrieval do.
    n_init : int, default=10
        Number of k-means++ initialisations; the best result is kept.
    max_iter : int, default=300
        Maximum number of iterations per initialisation.
    random_state : int, RandomState or None, default=None
        Seed of the initialisations.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar if greater than 0.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n,)
        Cluster of each item, numbered by first occurrence.
    inertia_ : float
        Sum of squared distances in feature space to the cluster means.
    n_iter_ : int
        Number of iterations of the best initialisation.
    probabilities_ : ndarray of shape (n, n_clusters + 1)
        Membership of each item in each cluster, inversely proportional to the squared distance to its mean
        (as in fuzzy c-means with exponent 2). The last column, for noise, is 0. Rows sum to 1.

    References
    ----------
    Shawe-Taylor and Cristianini, "Kernel methods for pattern analysis", 2004.
    [2] Jiang, Wang and Tu, "Unsupervised metric learning by self-smoothing operator", ICCV 2011, for the
    projection.

    Examples
    --------
    >>> from vicinal import KernelKMeans, SelfSmoothing
    >>> from vicinal.datasets import make_two_moons
    >>> from vicinal.metrics import clustering_accuracy
    >>> X, truth = make_two_moons(200, noise=0.05, random_state=0)
    >>> similarity = SelfSmoothing(n_clusters=2).fit(X).similarity_
    >>> model = KernelKMeans(2, kernel="precomputed", psd="project", random_state=0)
    >>> clustering_accuracy(truth, model.fit_predict(similarity))
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Literal["rbf", "linear", "precomputed"]
        | Callable[[np.ndarray, np.ndarray], ArrayLike] = "rbf",
        gamma: float | Literal["scale"] = "scale",
        psd: Literal["check", "project"] = "check",
        n_init: int = 10,
        max_iter: int = 300,
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.psd = psd
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self._is("precomputed")
        return tags

    def fit(self, X: MatrixLike, y: object = None) -> KernelKMeans:
        """Cluster points, or the items of a kernel matrix.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or kernel matrix of shape (n, n)
            Points; with ``kernel="precomputed"``, a kernel matrix, dense or sparse.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        n_init, max_iter = self._check_parameters()
        kernel, basis = self._kernel_of(X)
        n = len(kernel.diagonal)
        if self.n_clusters > n:
            raise InvalidValueError(
                f"n_clusters={self.n_clusters}, but there are n_samples={n} items."
            )
        seeds = np.random.SeedSequence(seed_from(self.random_state)).spawn(n_init)
        with one_blas_thread():
            partitions = map_threads(
                lambda seed: kernel_kmeans(kernel, self.n_clusters, seed, max_iter),
                seeds,
                self.n_jobs,
                title="k-means" if self.verbose > 0 else None,
            )
        best = min(partitions, key=lambda partition: partition.inertia)
        self.inertia_, self.n_iter_ = best.inertia, best.n_iter
        if self._is("linear"):
            self.inertia_ = float(best.inertia) * self._rescaling.unit * self._rescaling.unit
        means = np.eye(self.n_clusters)[best.labels] / np.bincount(best.labels)
        if basis is not None:
            # New rows are projected as the rows of the kernel were.
            means = basis @ (basis.T @ means)
        self.labels_, weights = relabel_by_first_occurrence(best.labels, means.T)
        self._weights = weights.T
        sums = np.zeros((self.n_clusters, n))
        kernel.move(np.arange(n), np.full(n, -1), self.labels_, sums)
        sizes = np.bincount(self.labels_)
        within = np.bincount(self.labels_, weights=sums[self.labels_, np.arange(n)])
        self._squared_lengths = within / sizes**2
        self._mean_diagonal = float(kernel.diagonal.mean())
        products = sums.T / sizes
        self.probabilities_ = self._membership(kernel.diagonal, products)
        return self

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the cluster with the nearest mean in feature space.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or kernel rows of shape (m, n)
            New items; with ``kernel="precomputed"``, their rows of the kernel. If the fitted matrix W was not
            symmetric, as for a self-smoothed similarity, these are rows of (W + W') / 2.

        Returns
        -------
        ndarray of int of shape (m,)
            Cluster of each item. Fitted items keep their clusters if k-means converged within ``max_iter``.
        """
        products = self._inner_with_fitted(self._new_items(X)) @ self._weights
        return np.argmin(self._squared_lengths - 2.0 * products, axis=1)

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict the membership of new items in each cluster, as in ``probabilities_``.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or kernel rows of shape (m, n)
            New items, as for `predict`. Rows of a precomputed kernel do not contain the inner product of an
            item with itself; the mean over the fitted items is used instead.

        Returns
        -------
        ndarray of shape (m, n_clusters + 1)
            Rows sum to 1; the last column, for noise, is 0.
        """
        items = self._new_items(X)
        return self._membership(
            self._squares(items), self._inner_with_fitted(items) @ self._weights
        )

    def _new_items(self, X: MatrixLike) -> Any:
        """Checked new items, in the unit of the fitted ones."""
        check_is_fitted(self)
        precomputed = self._is("precomputed")
        items = validate_input(self, X, reset=False, dtype=np.float64, accept_sparse=precomputed)
        return items if precomputed or callable(self.kernel) else self._rescaling.transform(items)

    def _inner_with_fitted(self, items: Any) -> Any:
        return items if self._is("precomputed") else self._inner(items, self._points)

    def _squares(self, items: Any) -> np.ndarray:
        """Inner products of new items with themselves; of rows of a kernel, those of the fitted items."""
        if self._is("precomputed"):
            return np.full(items.shape[0], self._mean_diagonal)
        if self._is("linear"):
            return np.square(items).sum(axis=1)
        if callable(self.kernel):
            return np.array([self._inner(item, item)[0, 0] for item in items[:, None]])
        return np.ones(len(items))

    def _membership(self, squares: np.ndarray, products: np.ndarray) -> np.ndarray:
        """Shares of the inverse squared distances; all of them in the clusters whose means are the item."""
        distances = squares[:, None] - 2.0 * products + self._squared_lengths
        smallest = MIN_RELATIVE_GAIN * (self._mean_diagonal or 1.0)
        # The mean of the fitted items can be too small for the square of a new one.
        distances = np.maximum(
            distances - distances.min(axis=1, keepdims=True).clip(max=0), smallest
        )
        shares = distances.min(axis=1, keepdims=True) / distances
        shares /= shares.sum(axis=1, keepdims=True)
        return np.column_stack([shares, np.zeros(len(shares))])

    def _check_parameters(self) -> tuple[int, int]:
        check_count(self.n_clusters, "n_clusters")
        if not callable(self.kernel):
            check_choice(self.kernel, "kernel", KERNELS)
        if isinstance(self.gamma, str):
            check_choice(self.gamma, "gamma", ("scale",))
        else:
            check_real(self.gamma, "gamma", low=0.0, open_low=True)
        check_choice(self.psd, "psd", ("check", "project"))
        return check_count(self.n_init, "n_init"), check_count(self.max_iter, "max_iter")

    def _kernel_of(self, X: MatrixLike) -> tuple[Kernel, np.ndarray | None]:
        """The kernel of the items, and the basis of its feature space if it was projected."""
        if self._is("precomputed"):
            matrix = validate_input(self, X, dtype=np.float64, accept_sparse="csr")
            if matrix.shape[0] != matrix.shape[1]:
                raise InvalidValueError(
                    f"X has shape {matrix.shape}, but kernel='precomputed' needs a square matrix; "
                    "for points use kernel='rbf' or 'linear'."
                )
            return positive_kernel(matrix, self.psd, self.n_clusters)
        points = self._points = validate_input(self, X, dtype=np.float64)
        if not callable(self.kernel):
            # Neither a shift nor a unit changes the clusters.
            self._rescaling = fit_rescaling(points)
            points = self._points = self._rescaling.transform(points)
        if self._is("linear"):
            return FactoredKernel(points), None
        n = len(points)
        remedy = "Cluster a sample and predict the rest, or pass a sparse kernel with kernel='precomputed'."
        require_memory(24.0 * n * n, f"The kernel of {n:,} points", remedy)
        if callable(self.kernel):
            return positive_kernel(self._inner(points, points), self.psd, self.n_clusters)
        self._gamma = self._gamma_of(points)
        # A Gaussian is positive semi-definite.
        return FullKernel(self._inner(points, points)), None

    def _is(self, kernel: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel == kernel

    def _gamma_of(self, points: np.ndarray) -> float:
        """Coefficient of the Gaussian for the rescaled points."""
        if not isinstance(self.gamma, str):
            return min(float(self.gamma) * self._rescaling.unit * self._rescaling.unit, MAX_GAMMA)
        variance = points.var(axis=0).mean()
        return 1.0 / (points.shape[1] * variance) if variance > 0 else 1.0

    def _inner(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        if callable(self.kernel):
            products = np.asarray(
                real_array(self.kernel(X, Y), "the kernel's result"), dtype=np.float64
            )
            if products.shape != (len(X), len(Y)) or not np.isfinite(products).all():
                raise InvalidValueError(
                    f"kernel={self.kernel!r} returned an array of shape {products.shape} or with values that "
                    f"are NaN or infinite, but finite inner products of shape {(len(X), len(Y))} are needed."
                )
            return products
        if self.kernel == "linear":
            return linear_kernel(X, Y)
        with np.errstate(over="ignore"):  # exp(-inf) is 0
            return rbf_kernel(X, Y, self._gamma)
