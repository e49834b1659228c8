"""Diffusion maps: points are near each other if random walks from them go the same ways.

The squared diffusion distance sums (p_t(i, k) - p_t(j, k))^2 / phi(k) over all k, p_t the walk after t
steps and phi its stationary distribution. In the eigenvectors of the walk it is Euclidean: the
coordinates of i are l^t psi(i), with psi of mean square 1 under phi.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from vicinal._base.affinity_operator import SparseAffinity
from vicinal._core.precision import like_input
from vicinal._core.validation import check_real, require_memory
from vicinal.embed._connected import ConnectedEmbedding
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph
from vicinal.operators._eigen.eigenpairs_by_modulus import eigenpairs_by_modulus
from vicinal.operators.eigenpairs import random_walk_eigenvectors
from vicinal.operators.laplacians import as_affinity, degrees, normalized_affinity
from vicinal.similarity.smoothing._spectral import all_pairs
from vicinal.similarity.smoothing.operator import check_steps

# With t="auto": what the first direction left out may weigh beside the first one kept.
FAINT = 0.1
MAX_STEPS = 1e6


class DiffusionSpectrum(NamedTuple):
    """Eigenpairs of a random walk; vectors have mean square 1 under its stationary distribution."""

    values: np.ndarray
    vectors: np.ndarray
    stationary: np.ndarray

    def places(self, t: float) -> np.ndarray:
        """Coordinates after t steps, around their mean."""
        # The sign of a negative eigenvalue would only mirror its axis.
        places = self.vectors * np.abs(self.values) ** t
        return places - self.stationary @ places

    def distances(self, t: float) -> np.ndarray:
        """Diffusion distances of all pairs after t steps."""
        places = self.places(t)
        products = places @ places.T
        squares = np.diagonal(products)
        products = squares[:, None] + squares - 2.0 * products
        np.fill_diagonal(products, 0.0)
        return np.sqrt(np.maximum(products, 0.0, out=products), out=products)


def diffusion_distance(affinity: Any, t: float = 1.0, *, alpha: float = 0.0) -> np.ndarray:
    """Diffusion distances of all pairs of nodes, exact.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix of shape (n, n)
        Symmetric nonnegative weights. For a graph they are its `Graph.affinity` and 1 on the diagonal, as
        for `DiffusionMaps`. Every node needs some.
    t : float, default=1.0
        Number of steps, >= 0; need not be whole.
    alpha : float, default=0.0
        Share of the density of nodes that is taken out first, from 0 to 1, see `DiffusionMaps`.

    Returns
    -------
    ndarray of shape (n, n)

    See Also
    --------
    DiffusionMaps : coordinates in few dimensions, for many points.

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


def diffusion_spectrum(affinity: Any, *, alpha: float = 0.0) -> DiffusionSpectrum:
    """All eigenpairs of the walk on an affinity, from which distances after any t follow."""
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
            f"node {int(np.argmin(sums))} has no affinity to any node, itself included, so no walk "
            "leaves or reaches it; drop it, or set its diagonal entry."
        )
    pairs = all_pairs(normalized_affinity(weights, sums).toarray(), np.sqrt(sums))
    return DiffusionSpectrum(
        pairs.values, _unit_mean_square(pairs.vectors, sums), sums / sums.sum()
    )


def with_diagonal(weights: sparse.csr_array) -> sparse.csr_array:
    """Affinities of a graph, which has no loops, and the kernel's value at a distance of 0.

    A walk without it never stays where it is, and its eigenvalues are not those of the kernel.
    """
    return sparse.csr_array(weights + sparse.eye_array(weights.shape[0], format="csr"))


def without_density(weights: sparse.csr_array, sums: np.ndarray, alpha: float) -> sparse.csr_array:
    """w_ij / (d_i d_j)^alpha, d the degrees: with alpha = 1 a walk does not depend on the density."""
    # Relative to the largest: sums of very large or small weights have no powers.
    largest = sums.max()
    factors = np.where(sums > 0, sums / (largest if largest > 0 else 1.0), 1.0) ** -alpha
    values = np.repeat(factors, np.diff(weights.indptr)) * factors[weights.indices]
    return sparse.csr_array(
        (values * weights.data, weights.indices, weights.indptr), shape=weights.shape
    )


class DiffusionMaps(ConnectedEmbedding):
    """Embedding in which Euclidean distances are those of a diffusion.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions.
    t : float or "auto", default=1.0
        Number of steps, >= 0: more make directions in which a walk mixes fast fade. "auto" takes the
        fewest after which the first direction that is left out weighs a tenth of the first one.
    alpha : float, default=0.0
        Share of the density of points that is taken out: 0 is the walk of the affinity as it is, with 1
        only the shape of the data counts (Laplace-Beltrami), 0.5 is in between (Fokker-Planck).
    disconnected : {"connect", "raise"}, default="connect"
        If the graph is in pieces: join them by their shortest links, or explain.
    graph, graph_params, scale, random_state, n_jobs, verbose :
        As for `SpectralClustering`.

    Attributes
    ----------
    embedding_ : ndarray (n, n_components)
        Coordinates after ``t_`` steps. Their distances are diffusion distances but for the directions
        left out.
    eigenvalues_ : ndarray (n_components,)
        Eigenvalues of the walk after the first, which is 1, by descending modulus. A negative one is a
        direction in which the walk changes sides at each step.
    t_ : float
        Number of steps.
    left_out_ : float
        Weight of the first direction that is left out, relative to the first one; 0 if there is none.
    graph_ : Graph or None
        The graph, links included.
    affinity_ : csr_array
        Before density is taken out. Each point has the affinity 1 to itself, the value of the kernel at
        a distance of 0; a given affinity keeps the diagonal that it has.
    scale_ : float, ndarray or None

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
    >>> bool(model.left_out_ <= 0.1)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        t: Any = 1.0,
        alpha: float = 0.0,
        disconnected: str = "connect",
        graph: Any = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = -1,
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

    def fit(self, X: Any, y: Any = None) -> DiffusionMaps:
        """Embed points, the nodes of a `Graph`, or with ``graph="precomputed"`` an affinity.

        Parameters
        ----------
        X : array (n, n_features), Graph, or affinity (n, n)
        y : ignored

        Returns
        -------
        self
        """
        if isinstance(self.t, str) and self.t != "auto":
            raise InvalidValueError(f"t={self.t!r}, but a number >= 0 or 'auto' is needed.")
        given = None if isinstance(self.t, str) else check_steps(self.t)
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
            n_jobs=self.n_jobs,
        )
        self.t_ = _steps_to_fade(np.abs(pairs.values[1:])) if given is None else given
        rates = np.abs(pairs.values[1:]) ** self.t_
        beyond = rates[self.n_components :].sum()
        self.left_out_ = float(beyond / rates[0]) if rates[0] > 0 else 0.0
        kept = slice(1, self.n_components + 1)
        self.eigenvalues_ = pairs.values[kept]
        embedding = _unit_mean_square(pairs.vectors[:, kept], sums)
        self.embedding_ = like_input(embedding * rates[: self.n_components], X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Embedding of new points, through the Nystrom extension.

        Parameters
        ----------
        X : array (m, n_features)

        Returns
        -------
        ndarray (m, n_components)
            Training points keep their places.
        """
        check_is_fitted(self)
        extended = self._extend(X, self.embedding_, self.eigenvalues_, self._density)
        return like_input(extended, X)


def _unit_mean_square(vectors: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Eigenvectors of the walk, of mean square 1 under its stationary distribution."""
    return random_walk_eigenvectors(vectors, sums) * np.sqrt(sums.sum())


def _steps_to_fade(rates: np.ndarray) -> float:
    """The fewest whole steps after which the last of the rates weighs little beside the first."""
    first, last = rates[0], rates[-1]
    if last <= FAINT * first or len(rates) == 1:
        return 1.0
    if last >= first:
        return MAX_STEPS
    return float(min(np.ceil(np.log(FAINT) / np.log(last / first)), MAX_STEPS))
