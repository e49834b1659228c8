"""Label propagation along a random walk, with clamped labels.

Each step is f <- P f, then f_i <- y_i for labelled nodes, where P is the row-normalised affinity. The limit
needs no steps: it is the harmonic function of the labels, from one positive definite system.

References
----------
Zhu and Ghahramani, "Learning from labeled and unlabeled data with label propagation", 2002.
[2] Jiang, Wang and Tu, "Unsupervised metric learning by self-smoothing operator", ICCV 2011,
section 2, for the number of steps as a scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.options import entry
from vicinal._core.parallel import progress_bar
from vicinal._core.scalar_checks import check_count
from vicinal.operators.laplacians import as_affinity, transition
from vicinal.semi_supervised._absorption import Spread, harmonic, normalize_rows
from vicinal.semi_supervised._classification import TransductiveClassifier
from vicinal.semi_supervised._labels import check_codes, frequencies
from vicinal.semi_supervised.graph_prior import indicators

if TYPE_CHECKING:
    from collections.abc import Callable

    from vicinal._core.types import ArrayLike, MatrixLike, NJobs, RandomStateLike, ScaleLike
    from vicinal.graphs.graph import Graph


@entry
def propagate_labels(
    affinity: Graph | MatrixLike,
    y: ArrayLike,
    *,
    n_steps: int | None = None,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Spread:
    """Class probabilities of all nodes by label propagation with clamped labels.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix of shape (n, n)
        Symmetric nonnegative weights; of a graph its `Graph.affinity`.
    y : array of int of shape (n,)
        Class codes 0, 1, ...; -1 where unknown.
    n_steps : int, optional
        Number of steps; by default the limit, from a linear system.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar for long computations if greater than 0.

    Returns
    -------
    Spread
        The ``values`` of shape (n, y.max() + 1), whose rows sum to 1, and the mask ``reached``.

    Examples
    --------
    >>> from vicinal import Graph
    >>> from vicinal.semi_supervised import propagate_labels
    >>> path = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3]], lengths=[1.0, 1.0, 1.0])
    >>> propagate_labels(path, [0, -1, -1, 1]).values.round(6)
    array([[1.      , 0.      ],
           [0.666667, 0.333333],
           [0.333333, 0.666667],
           [0.      , 1.      ]])
    >>> propagate_labels(path, [0, -1, -1, 1], n_steps=1).values
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    _check_steps(n_steps)
    weights = as_affinity(affinity)
    return spread_steps(weights, check_codes(y, weights.shape[0]), n_steps)


def _check_steps(n_steps: Any) -> None:
    if n_steps is not None:
        check_count(n_steps, "n_steps", remedy="None is the limit of many steps.")


def spread_steps(
    weights: sparse.csr_array,
    codes: np.ndarray,
    n_steps: int | None,
) -> Spread:
    """`propagate_labels` of checked weights and classes."""
    labels, known = indicators(codes), codes >= 0
    if n_steps is None:
        limit = harmonic(weights, labels, known)
        return normalize_rows(weights, *limit, frequencies(codes))
    walk, values = transition(weights), labels
    with progress_bar(n_steps, "steps") as bar:
        for _ in range(n_steps):
            values = walk @ values
            values[known] = labels[known]
            bar.update()
    return normalize_rows(weights, values, 0.0, frequencies(codes))


class LabelPropagation(TransductiveClassifier):
    """Classifier for few labels: a random walk spreads them along a graph; labelled points keep theirs.

    Parameters
    ----------
    n_steps : int, optional
        Number of steps; fewer steps make the classifier more local. By default the limit, from a linear
        system; it is the limit of scikit-learn's `LabelPropagation`.
    graph : str or callable, default="knn"
        Name of a function in `vicinal.graphs`, a function from points to a `Graph`,
        "precomputed_affinity" or "precomputed_distances", as for `SpectralClustering`.
    graph_params : dict, optional
        Parameters of the graph.
    scale : float, "auto" or "local", default="auto"
        Scale of the affinities, see `Graph.affinity`.
    random_state : int, RandomState or None, default=None
        Seed of the graph, if it is random.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar for long computations if greater than 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes among the labels.
    transduction_ : ndarray of shape (n,)
        Most probable class of each training point; -1 where ``reached_`` is False ("-1" if classes are
        strings).
    label_distributions_ : ndarray of shape (n, n_classes)
        Class probabilities of each training point.
    reached_ : ndarray of bool of shape (n,)
        False for points that no label reaches: their probabilities are the class frequencies of the
        labels.
    graph_ : Graph or None
        The graph; None if X is an affinity matrix.
    affinity_ : csr_array of shape (n, n)
        The affinities along which labels spread.
    scale_ : float, ndarray or None
        Scale of the affinities; None if X is an affinity matrix.

    Examples
    --------
    >>> from vicinal import LabelPropagation
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> y = ["low", -1, -1, -1, -1, "high"]
    >>> LabelPropagation(graph_params={"n_neighbors": 2}).fit(X, y).transduction_
    array(['low', 'low', 'low', 'high', 'high', 'high'], dtype='<U4')
    """

    def __init__(
        self,
        n_steps: int | None = None,
        *,
        graph: str | Callable[..., Graph] = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: ScaleLike = "auto",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_steps = n_steps
        self.graph = graph
        self.graph_params = graph_params
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        _check_steps(self.n_steps)

    def _spread(self, affinity: sparse.csr_array, codes: np.ndarray) -> Spread:
        return spread_steps(affinity, codes, self.n_steps)
