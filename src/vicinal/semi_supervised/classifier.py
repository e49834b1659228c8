"""`GraphClassifier`: classes of all points from the classes of a few, along a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._base.chunked_fit import in_memory_model
from vicinal._core.fitted import check_is_fitted
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal.exceptions import InvalidValueError
from vicinal.operators.laplacians import degrees, transition
from vicinal.semi_supervised._absorption import Spread
from vicinal.semi_supervised._class_mass import check_class_prior
from vicinal.semi_supervised._classification import TransductiveClassifier
from vicinal.semi_supervised._leave_one_out import leave_one_out
from vicinal.semi_supervised._methods import METHODS, Options, spread_by_method
from vicinal.semi_supervised.graph_prior import check_penalties

if TYPE_CHECKING:
    from collections.abc import Callable

    from vicinal._core.types import ClassPrior, LabelMethod, NJobs, RandomStateLike, ScaleLike
    from vicinal.graphs.graph import Graph

# Length of the walks, the best of 3, 8, 20 and 40 on digits and MNIST together.
N_STEPS = 40


class DoubtfulLabels(NamedTuple):
    """Labels that all other labels contradict.

    Attributes
    ----------
    indices : ndarray of int of shape (n_doubtful,)
        Labelled points, the most doubtful first.
    suggested : ndarray of shape (n_doubtful,)
        Their most probable classes without their labels.
    probability : ndarray of shape (n_doubtful,)
        Probabilities of these classes.
    """

    indices: np.ndarray
    suggested: np.ndarray
    probability: np.ndarray


class GraphClassifier(TransductiveClassifier):
    """Classifier for few labels, which spread along the edges of a graph.

    The default, harmonic functions with class mass normalisation, has the highest mean accuracy over 1, 2, 5
    and 10 labels per class, see the guide on few labels and ``python -m benchmarks labels``.

    Parameters
    ----------
    method : {"harmonic", "laplace", "poisson", "poisson_mbo", "prior"}, default="harmonic"
        - "harmonic": each class is a function with values 1 and 0 at the labels and the mean of its
          neighbours at every other node (Zhu, Ghahramani and Lafferty, 2003). With a class prior, classes
          are scaled to it, and probabilities are raised to a power, because harmonic functions of few
          labels are too flat, see ``calibration_``.
        - "laplace": the same functions, standardised per class over the unlabelled points; the softmax of
          the result (mean-shifted Laplace learning).
        - "poisson": labels are sources and sinks of a flow (Calder et al., 2020); softmax of the potentials.
        - "poisson_mbo": Poisson learning, then heat flow alternating with a choice of classes that have
          the proportions of the class prior (that of the labels if None).
        - "prior": the indicator f of each class minimises ||y - f||^2 over the labelled points +
          ridge ||f||^2 + smoothness f'Lf, see `vicinal.semi_supervised.class_probabilities` [3].
    class_prior : array of shape (n_classes,), "labels", "estimate" or None, default="estimate"
        Proportions of the classes among the unlabelled points, in the order of ``classes_``. "labels" are
        those of the labels, with 1 added to each count; "estimate" the same, unless a test on the unlabelled
        points rejects them: then they are estimated. So few labels that they hardly tell the classes apart
        are not tested. None applies no correction, and a class with many
        labels outweighs a class with few: with 60 labels of one class and 3 of the other and
        ``method="prior"``, all 8 x 8 digits 3 and 8 are assigned to the first (accuracy 0.42 instead of
        0.99).
    ridge : float, default=0.1
        For ``method="prior"``: regularisation that makes the influence of a label decay along the graph; 0
        disables it.
    smoothness : float, default=1.0
        For ``method="prior"``: cost > 0 of a difference along an edge, relative to a wrong label.
    graph : str or callable, default="knn"
        Name of a function in `vicinal.graphs`, a function from points to a `Graph`,
        "precomputed_affinity" or "precomputed_distances", as for `SpectralClustering`.
    graph_params : dict, optional
        Parameters of the graph. "knn" has 7 neighbours by default.
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
        Most probable class of each training point; with "poisson", "poisson_mbo" and "prior" it may differ
        from its label. -1 where ``reached_`` is False ("-1" if classes are strings).
    label_distributions_ : ndarray of shape (n, n_classes)
        Class probabilities of each training point.
    reached_ : ndarray of bool of shape (n,)
        False for points that no label reaches, as in a component without labels: their probabilities are
        the class frequencies of the labels.
    calibration_ : Calibration or None
        With ``method="harmonic"`` and a class prior: the ``power`` of the probabilities, the ``powers`` tried
        and their ``losses`` in a rehearsal, which takes the predicted classes for the truth and predicts them
        from as many labels. The most probable class does not depend on it.
    graph_ : Graph or None
        The graph; None if X is an affinity matrix.
    affinity_ : csr_array of shape (n, n)
        The affinities along which labels spread.
    scale_ : float, ndarray or None
        Scale of the affinities; None if X is an affinity matrix.

    References
    ----------
    [3] Carreira-Perpinan and Zemel, "Proximity graphs for clustering and manifold learning", NIPS 2004.
    Zhu, Ghahramani and Lafferty, "Semi-supervised learning using Gaussian fields and harmonic functions",
    ICML 2003.
    Calder, Cook, Thorpe and Slepcev, "Poisson learning: graph based semi-supervised learning at very low
    label rates", ICML 2020.

    Examples
    --------
    >>> from vicinal import GraphClassifier
    >>> X = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]]
    >>> model = GraphClassifier(graph_params={"n_neighbors": 2}).fit(X, [0, -1, -1, -1, -1, 1])
    >>> model.transduction_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict([[3.0], [6.0]])
    array([0, 1])
    """

    # Fewer than the usual 10, because labels leave their classes along long edges; with 5, components without
    # labels appear.
    _default_n_neighbors = 7

    def __init__(
        self,
        method: LabelMethod = "harmonic",
        *,
        class_prior: ClassPrior = "estimate",
        ridge: float = 0.1,
        smoothness: float = 1.0,
        graph: str | Callable[..., Graph] = "knn",
        graph_params: dict[str, Any] | None = None,
        scale: ScaleLike = "auto",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.class_prior = class_prior
        self.ridge = ridge
        self.smoothness = smoothness
        self.graph = graph
        self.graph_params = graph_params
        self.scale = scale
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_choice(self.method, "method", METHODS)
        check_class_prior(self.class_prior)
        check_penalties(self.ridge, self.smoothness)

    def _spread(self, affinity: sparse.csr_array, codes: np.ndarray) -> Spread:
        options = Options(self.class_prior, self.ridge, self.smoothness)
        spread, self.calibration_ = spread_by_method(self.method, affinity, codes, options)
        return spread

    def suggest_queries(self, n_queries: int = 1) -> np.ndarray:
        """Suggest which training points to label next.

        They are uncertain, in dense regions, and cover different regions. Points that no label reaches are
        the most uncertain.

        Parameters
        ----------
        n_queries : int, default=1
            Number of points, at most the number of unlabelled ones. For the best choice, fit again after
            every few labels.

        Returns
        -------
        ndarray of int of shape (n_queries,)
            Indices of training points, the most useful first.

        Examples
        --------
        >>> import numpy as np
        >>> from vicinal import GraphClassifier
        >>> from vicinal.datasets import make_two_moons
        >>> X, truth = make_two_moons(300, random_state=0)
        >>> y = np.full(300, -1)
        >>> y[:2] = truth[:2]
        >>> for _ in range(3):
        ...     queries = GraphClassifier(graph="disjoint_mst").fit(X, y).suggest_queries(2)
        ...     y[queries] = truth[queries]  # ask an expert
        >>> float((GraphClassifier(graph="disjoint_mst").fit(X, y).transduction_ == truth).mean())
        1.0
        """
        check_is_fitted(self)
        labelled = self._codes >= 0
        n_left = int((~labelled).sum())
        if n_left == 0:
            raise InvalidValueError("all of y is labelled; mark the points to choose from with -1.")
        check_count(n_queries, "n_queries", high=n_left)
        model = in_memory_model(self)
        probabilities = model.label_distributions_
        if model.calibration_ is not None:
            # As flat as the harmonic functions: an honest model is sure of most points, but queries have
            # to cover these too.
            probabilities = probabilities ** (1.0 / model.calibration_.power)
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        uncertainty = uncertainties(probabilities, model.reached_)
        return choose_queries(self.affinity_, uncertainty, labelled, n_queries)

    def doubtful_labels(self) -> DoubtfulLabels:
        """Find labels that all other labels contradict.

        Each label is left out in turn, and the harmonic functions of the others, with class mass
        normalisation, predict its class. A label is not doubtful if it is the only one of its class, or if no
        other label reaches it. Needs one linear solve per label.

        Returns
        -------
        DoubtfulLabels
            The ``indices`` of labelled points, the classes ``suggested`` for them, and the ``probability``
            of these, the most probable first.

        Examples
        --------
        >>> import numpy as np
        >>> from vicinal import GraphClassifier
        >>> X = np.r_[np.linspace(0, 1, 12), np.linspace(5, 6, 12)][:, None]
        >>> y = np.repeat([0, 1], 12)
        >>> y[4] = 1
        >>> doubtful = GraphClassifier().fit(X, y).doubtful_labels()
        >>> doubtful.indices, doubtful.suggested
        (array([4]), array([0]))
        """
        check_is_fitted(self)
        probabilities, known = leave_one_out(self.affinity_, self._codes)
        labels = np.flatnonzero(self._codes >= 0)
        best, probability = probabilities.argmax(axis=1), probabilities.max(axis=1)
        doubtful = np.flatnonzero(known & (best != self._codes[labels]))
        order = doubtful[np.argsort(-probability[doubtful], kind="stable")]
        return DoubtfulLabels(labels[order], self.classes_[best[order]], probability[order])


def uncertainties(probabilities: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """1 minus the difference of the two largest probabilities; 1 for nodes that no label reaches."""
    if probabilities.shape[1] == 1:
        return np.where(reached, 0.0, 1.0)
    best = np.partition(probabilities, -2, axis=1)[:, -2:]
    return np.where(reached, 1.0 - (best[:, 1] - best[:, 0]), 1.0)


def choose_queries(
    weights: sparse.csr_array, uncertainty: np.ndarray, labelled: np.ndarray, n_queries: int
) -> np.ndarray:
    """Choose nodes to label, one after the other, as if each had already received its label.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        Symmetric and nonnegative.
    uncertainty : ndarray of shape (n,)
        Between 0 and 1.
    labelled : ndarray of bool of shape (n,)
        Nodes that are labelled already.
    n_queries : int
        At most the number of unlabelled nodes.

    Returns
    -------
    ndarray of int of shape (n_queries,)
        Nodes, the most useful first.
    """
    walk = transition(weights)
    available = ~labelled
    # Positive, so that certain nodes are chosen by coverage too.
    remaining = np.maximum(uncertainty, np.finfo(np.float64).eps)
    sums = degrees(weights)
    density = np.minimum(sums, np.median(sums))
    queries = np.empty(n_queries, dtype=np.int64)
    for k in range(n_queries):
        gain = density * _sum_over_steps(walk, remaining)
        queries[k] = np.argmax(np.where(available, gain, -1.0))
        available[queries[k]] = False
        start = np.zeros(len(uncertainty))
        start[queries[k]] = 1.0
        covered = _sum_over_steps(walk, start)
        remaining *= 1.0 - covered / covered.max()
    return queries


def _sum_over_steps(walk: sparse.csr_array, values: np.ndarray) -> np.ndarray:
    """Sum of the expected values after 0, 1, ..., N_STEPS steps."""
    total = values.copy()
    for _ in range(N_STEPS):
        values = walk @ values
        total += values
    return total
