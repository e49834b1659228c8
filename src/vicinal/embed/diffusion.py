"""Diffusion maps: points are close if random walks from them have similar distributions.

The squared diffusion distance is the sum of (p_t(i, k) - p_t(j, k))^2 / phi(k) over all k, where p_t is the
distribution of the walk after t steps and phi its stationary distribution. It is Euclidean in the
eigenvectors of the walk: the coordinates of i are l^t psi(i), where psi has mean square 1 under phi.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._base.affinity_operator import SparseAffinity
from vicinal._core.fitted import check_is_fitted
from vicinal._core.memory import require_memory
from vicinal._core.precision import like_input
from vicinal._core.scalar_checks import check_real
from vicinal.embed._connected import ConnectedEmbedding
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.operators._eigen.eigenpairs_by_modulus import eigenpairs_by_modulus
from vicinal.operators.eigenpairs import random_walk_eigenvectors
from vicinal.operators.laplacians import as_affinity, degrees, normalized_affinity
from vicinal.similarity.smoothing._spectral import all_pairs
from vicinal.similarity.smoothing.operator import check_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from vicinal._core.types import MatrixLike, NJobs, RandomStateLike, ScaleLike

# With t="auto": maximum weight of the first discarded direction, relative to the first one.
MAX_RELATIVE_WEIGHT = 0.1
MAX_STEPS = 1e6


class DiffusionSpectrum(NamedTuple):
    """Eigenpairs of a random walk; vectors have mean square 1 under its stationary distribution."""

    values: np.ndarray
    vectors: np.ndarray
    stationary: np.ndarray

    def coordinates(self, t: float) -> np.ndarray:
        """Centred coordinates after t steps."""
        # The sign of a negative eigenvalue would only reflect its axis.
        coordinates = self.vectors * np.abs(self.values) ** t
        return coordinates - self.stationary @ coordinates

    def distances(self, t: float) -> np.ndarray:
        """Diffusion distances of all pairs after t steps."""
        coordinates = self.coordinates(t)
        products = coordinates @ coordinates.T
        squares = np.diagonal(products)
        products = squares[:, None] + squares - 2.0 * products
        np.fill_diagonal(products, 0.0)
        return np.sqrt(np.maximum(products, 0.0, out=products), out=products)


def diffusion_distance(
    affinity: Graph | MatrixLike, t: float = 1.0, *, alpha: float = 0.0
) -> np.ndarray:
    """Compute the exact diffusion distances of all pairs of nodes.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix of shape (n, n)
        Symmetric nonnegative weights, at least one per node. For a graph, its `Graph.affinity` with 1 on
        the diagonal, as for `DiffusionMaps`.
    t : float, default=1.0
        Number of steps >= 0, not necessarily an integer.
    alpha : float, default=0.0
        Exponent of the density normalisation, from 0 to 1, see `DiffusionMaps`.

    Returns
    -------
    ndarray of shape (n, n)
        Diffusion distances.

    See Also
    --------
    vicinal.embed.DiffusionMaps : Low-dimensional coordinates for many points.

    Examples
    --------
    >>> from vicinal.embed import diffusion_distance
    >>> diffusion_distance([[1, 1, 0], [1, 1, 1], [0, 1, 1]], t=1).round(3)
    array([[0.   , 0.742, 1.323],
           [0.742, 0.   , 0.742],
           [1.323, 0.742, 0.   ]])
    """
    t = check_steps(t)
    return diffusion_spectrum(affinity, alpha=alpha).distances(t)


def diffusion_spectrum(affinity: Graph | MatrixLike, *, alpha: float = 0.0) -> DiffusionSpectrum:
    """All eigenpairs of the walk on an affinity; they give the distances for any t."""
    weights = as_affinity(affinity)
    if isinstance(affinity, Graph):
        weights = with_diagonal(weights)
    alpha = check_real(alpha, "alpha", low=0.0, high=1.0)
    if alpha > 0:
        weights = without_density(weights, degrees(weights), alpha)
    n = weights.shape[0]
    require_memory(
        40.0 * n * n, f"The diffusion distances of {n:,} nodes", "Use DiffusionMaps for many."
    )
    sums = degrees(weights)
    if not (sums > 0).all():
        raise InvalidValueError(
            f"node {int(np.argmin(sums))} has no affinity to any node, including itself; remove it or "
            "set its diagonal entry."
        )
    pairs = all_pairs(normalized_affinity(weights, sums).toarray(), np.sqrt(sums))
    return DiffusionSpectrum(
        pairs.values, _unit_mean_square(pairs.vectors, sums), sums / sums.sum()
    )


def with_diagonal(weights: sparse.csr_array) -> sparse.csr_array:
    """Affinities of a graph with 1 on the diagonal, the kernel's value at distance 0.

    Without it, the walk could not stay at a node, and its eigenvalues would not be those of the kernel.
    """
    return sparse.csr_array(weights + sparse.eye_array(weights.shape[0], format="csr"))


def without_density(weights: sparse.csr_array, sums: np.ndarray, alpha: float) -> sparse.csr_array:
    """w_ij / (d_i d_j)^alpha with degrees d; for alpha = 1, walks do not depend on the density."""
    # Relative to the largest, because powers of very large or small sums overflow or underflow.
    largest = sums.max()
    factors = np.where(sums > 0, sums / (largest if largest > 0 else 1.0), 1.0) ** -alpha
    values = np.repeat(factors, np.diff(weights.indptr)) * factors[weights.indices]
    return sparse.csr_array(
        (values * weights.data, weights.indices, weights.indptr), shape=weights.shape
    )


class DiffusionMaps(ConnectedEmbedding):
    """Embed points so that Euclidean distances approximate diffusion distances.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions.
    t : float or "auto", default=1.0
        Number of steps >= 0. More steps suppress directions in which the walk mixes fast. "auto" uses
        the smallest number for which the first discarded direction has at most a tenth of the weight
        of the first one.
    alpha : float, default=0.0
        Exponent of the density normalisation: 0 uses the affinity as it is, 1 removes the density of the
        points so that only their geometry counts (Laplace-Beltrami), 0.5 is in between (Fokker-Planck).
    disconnected : {"connect", "raise"}, default="connect"
        What to do with a disconnected graph: add the shortest edges between its components, or raise
        an error.
    graph : str or callable, default="knn"
        Name of a function in `vicinal.graphs`, a function from points to a `Graph`,
        "precomputed_affinity" or "precomputed_distances", as for `SpectralClustering`.
    graph_params : dict, optional
        Parameters of the graph.
    scale : float, "auto" or "local", default="auto"
        Scale of the affinities, see `Graph.affinity`.
    random_state : int, RandomState or None, default=None
        Seed of the graph, if it is random, and of the eigensolver.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        If positive, long computations show a progress bar.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        Coordinates after ``t_`` steps. Their distances are diffusion distances except for the discarded
        directions.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the walk after the first, which is 1, by descending modulus. Along a negative one,
        the walk alternates sides at each step.
    t_ : float
        Number of steps.
    truncation_error_ : float
        Weight of the first discarded direction, relative to the first one; 0 if there is none.
    graph_ : Graph or None
        The graph, with added edges; None if X is an affinity matrix.
    affinity_ : csr_array of shape (n, n)
        Affinities before density normalisation. The affinity of a point to itself is 1, the kernel's
        value at distance 0; a given affinity keeps its diagonal.
    scale_ : float, ndarray or None
        Scale of the affinities; None if X is an affinity matrix.

    References
    ----------
    Coifman and Lafon, "Diffusion maps", Applied and Computational Harmonic Analysis 2006.

    Examples
    --------
    >>> from vicinal import DiffusionMaps
    >>> from vicinal.datasets import make_spirals
    >>> X, _ = make_spirals(200, random_state=0)
    >>> model = DiffusionMaps(t="auto").fit(X)
    >>> model.embedding_.shape
    (200, 2)
    >>> bool(model.truncation_error_ <= 0.1)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        t: float | Literal["auto"] = 1.0,
        alpha: float = 0.0,
        disconnected: Literal["connect", "raise"] = "connect",
        graph: str | Callable[..., Graph] = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: ScaleLike = "auto",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.t = t
        self.alpha = alpha
        self.disconnected = disconnected
        self.graph = graph
        self.graph_params = graph_params
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Graph | MatrixLike, y: object = None) -> DiffusionMaps:
        """Embed points, the nodes of a `Graph`, or with ``graph="precomputed"`` an affinity.

        Parameters
        ----------
        X : array-like of shape (n, n_features), Graph, or affinity of shape (n, n)
            Points, a graph, or affinities.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        if isinstance(self.t, str) and self.t != "auto":
            raise InvalidValueError(f"t={self.t!r}, but a number >= 0 or 'auto' is needed.")
        steps = None if isinstance(self.t, str) else check_steps(self.t)
        alpha = check_real(self.alpha, "alpha", low=0.0, high=1.0)
        affinity = self._connected_affinity(X)
        if self.graph_ is not None:
            self.affinity_ = with_diagonal(affinity.weights)
            affinity = SparseAffinity(self.affinity_)
        self._density = affinity.degrees() ** alpha if alpha > 0 else None
        if alpha > 0:
            weights = without_density(affinity.weights, affinity.degrees(), alpha)
            affinity = SparseAffinity(weights)
        sums = affinity.degrees()
        pairs = eigenpairs_by_modulus(
            affinity.weights,
            min(self.n_components + 2, len(sums)),
            structure=affinity.structure,
            random_state=self._seed(),
        )
        self.t_ = _auto_steps(np.abs(pairs.values[1:])) if steps is None else steps
        rates = np.abs(pairs.values[1:]) ** self.t_
        discarded = rates[self.n_components :].sum()
        self.truncation_error_ = float(discarded / rates[0]) if rates[0] > 0 else 0.0
        leading = slice(1, self.n_components + 1)
        self.eigenvalues_ = pairs.values[leading]
        embedding = _unit_mean_square(pairs.vectors[:, leading], sums)
        self.embedding_ = like_input(embedding * rates[: self.n_components], X)
        return self

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Embed new points with the Nystrom extension.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points; their affinities (m, n) to the training points if the model was fitted on affinities.

        Returns
        -------
        ndarray of shape (m, n_components)
            Training points keep their coordinates.
        """
        check_is_fitted(self)
        extended = self._extend(X, self.embedding_, self.eigenvalues_, self._density)
        return like_input(extended, X)


def _unit_mean_square(vectors: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Eigenvectors of the walk with mean square 1 under its stationary distribution."""
    return random_walk_eigenvectors(vectors, sums) * np.sqrt(sums.sum())


def _auto_steps(rates: np.ndarray) -> float:
    """Smallest number of steps after which the last rate is small relative to the first."""
    first, last = rates[0], rates[-1]
    if last <= MAX_RELATIVE_WEIGHT * first or len(rates) == 1:
        return 1.0
    if last >= first:
        return MAX_STEPS
    return float(min(np.ceil(np.log(MAX_RELATIVE_WEIGHT) / np.log(last / first)), MAX_STEPS))
