"""Graph priors: functions that fit the labelled nodes and vary little along edges.

They minimise the sum of ||y_i - f_i||^2 over the labelled nodes + lambda ||f||^2 + mu f'Lf, where L is the
combinatorial Laplacian [3]. The minimum solves one sparse linear system for all columns of y,
(S + lambda I + mu L) f = S y, where S is the mask of the labelled nodes.

References
----------
[3] Carreira-Perpinan and Zemel, "Proximity graphs for clustering and manifold learning", NIPS 2004.
Zhu, Ghahramani and Lafferty, "Semi-supervised learning using Gaussian fields and harmonic
functions", ICML 2003.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_real
from vicinal.operators.laplacians import as_affinity
from vicinal.semi_supervised._absorption import Spread, absorb, harmonic, is_reached, normalize_rows
from vicinal.semi_supervised._class_mass import check_class_prior, rescale_by_mass
from vicinal.semi_supervised._labels import check_codes, check_values, frequencies

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, ClassPrior, MatrixLike, NJobs
    from vicinal.graphs.graph import Graph


@entry
def prior_values(
    affinity: Graph | MatrixLike,
    y: ArrayLike,
    *,
    ridge: float = 0.0,
    smoothness: float = 0.01,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Spread:
    """Estimate the values of all nodes from the values of a few.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix of shape (n, n)
        Symmetric nonnegative weights; for a graph, its `Graph.affinity`.
    y : array of shape (n,) or (n, n_columns)
        Known values; rows of NaN where unknown.
    ridge : float, default=0.0
        The penalty lambda, which shrinks all values to 0. Without it, values stay within the range of
        the known ones, and nodes that no label reaches get their mean; with it, such nodes get 0.
    smoothness : float, default=0.01
        The penalty mu > 0 of differences along edges. As it approaches 0, known values are kept; as it
        grows, each component approaches a single value.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show a progress bar for long computations if greater than 0.

    Returns
    -------
    Spread
        The ``values``, of the shape of y, and the mask ``reached``.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import Graph
    >>> from vicinal.semi_supervised import prior_values
    >>> path = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3]], lengths=[1.0, 1.0, 1.0])
    >>> prior_values(path, [0.0, np.nan, np.nan, 3.0], smoothness=1e-9).values.round(6)
    array([0., 1., 2., 3.])
    """
    check_penalties(ridge, smoothness)
    weights = as_affinity(affinity)
    values, labelled = check_values(y, weights.shape[0])
    return spread_values(weights, values, labelled, ridge, smoothness)


@entry
def class_probabilities(
    affinity: Graph | MatrixLike,
    y: ArrayLike,
    *,
    ridge: float = 0.1,
    smoothness: float = 1.0,
    class_prior: ClassPrior = None,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Spread:
    """Estimate the class probabilities of all nodes from the classes of a few.

    Each class is fitted as by `prior_values`, one versus rest.

    Parameters
    ----------
    affinity : Graph, sparse or dense matrix of shape (n, n)
        Symmetric nonnegative weights; for a graph, its `Graph.affinity`.
    y : array of int of shape (n,)
        Class codes 0, 1, ...; -1 where unknown.
    ridge : float, default=0.1
        The penalty lambda: the influence of a label decays along the graph; 0 disables it.
    smoothness : float, default=1.0
        The penalty mu > 0 of differences along edges.
    class_prior : array of shape (n_classes,), "labels", "estimate" or None, default=None
        Proportions of the classes among the unlabelled nodes, by which classes are weighted instead of
        their numbers of labels. "labels" are those of the labels, with 1 added to each count (class mass
        normalisation of Zhu, Ghahramani and Lafferty, ICML 2003). "estimate" are the same, unless a test on
        the unlabelled nodes rejects them; then maximum likelihood estimates are used.
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
    >>> from vicinal.semi_supervised import class_probabilities
    >>> path = Graph.from_edges(4, [[0, 1], [1, 2], [2, 3]], lengths=[1.0, 1.0, 1.0])
    >>> class_probabilities(path, [0, -1, -1, 1]).values.round(2)
    array([[0.89, 0.11],
           [0.64, 0.36],
           [0.36, 0.64],
           [0.11, 0.89]])
    """
    check_penalties(ridge, smoothness)
    check_class_prior(class_prior)
    weights = as_affinity(affinity)
    codes = check_codes(y, weights.shape[0])
    return spread_classes(weights, codes, ridge, smoothness, class_prior)


def check_penalties(ridge: Any, smoothness: Any) -> None:
    check_real(ridge, "ridge", low=0.0)
    check_real(smoothness, "smoothness", low=0.0, open_low=True, remedy="1e-9 keeps the labels.")


def spread_values(
    weights: sparse.csr_array,
    y: np.ndarray,
    labelled: np.ndarray,
    ridge: float,
    smoothness: float,
) -> Spread:
    """`prior_values` of checked weights and values."""
    columns = y.reshape(len(y), -1)
    known = columns[labelled]
    # The system is linear: rescaled, because the sum of squares of huge values overflows.
    unit = np.abs(known).max(axis=0)
    unit[unit == 0] = 1.0
    known = known / unit
    targets = np.zeros((len(y), columns.shape[1] + 1))
    targets[labelled, :-1] = known
    targets[labelled, -1] = 1.0
    solution, error = minimize(weights, labelled, targets, ridge, smoothness)
    values, evidence = solution[:, :-1], solution[:, -1]
    reached = is_reached(weights, evidence, error)
    if ridge == 0:
        values = np.divide(
            values, evidence[:, None], out=np.empty_like(values), where=reached[:, None]
        )
        values[~reached] = known.mean(axis=0)
        np.clip(values, known.min(axis=0), known.max(axis=0), out=values)
    return Spread((values * unit).reshape(y.shape), reached)


def spread_classes(
    weights: sparse.csr_array,
    codes: np.ndarray,
    ridge: float,
    smoothness: float,
    class_prior: Any,
) -> Spread:
    """`class_probabilities` of checked weights and classes."""
    labelled = codes >= 0
    targets, default = indicators(codes), frequencies(codes)
    values, error = minimize(weights, labelled, targets, ridge, smoothness)
    mass = np.clip(values, 0.0, None).sum(axis=0)
    spread = normalize_rows(weights, values, error, default)
    if ridge > 0 and not spread.reached.all():
        # Far from all labels, the ridge leaves less evidence than the solver resolves; extend the
        # probabilities of the nearest reached nodes instead.
        spread.values[~spread.reached] = 0.0
        values, error = harmonic(weights, spread.values, spread.reached)
        spread = normalize_rows(weights, values, error, default)
    unlabelled = spread.reached & ~labelled
    if class_prior is not None and unlabelled.any():
        counts = np.bincount(codes[labelled])
        spread.values[unlabelled] = rescale_by_mass(
            spread.values, unlabelled, mass, counts, class_prior
        )
    return spread


def indicators(codes: np.ndarray) -> np.ndarray:
    """One column per class, with 1 at its labelled nodes."""
    table = np.zeros((len(codes), codes.max() + 1))
    labelled = np.flatnonzero(codes >= 0)
    table[labelled, codes[labelled]] = 1.0
    return table


def minimize(
    weights: sparse.csr_array,
    labelled: np.ndarray,
    targets: np.ndarray,
    ridge: float,
    smoothness: float,
) -> tuple[np.ndarray, float]:
    """Solve (S + ridge I + smoothness L) f = targets; returns f and its error bound, like `absorb`."""
    # The system is divided by large values of smoothness, so that nothing overflows.
    ridge, smoothness = float(ridge), float(smoothness)
    factor = 1.0 / max(1.0, smoothness)
    absorption = factor * (labelled + ridge)
    scaled = sparse.csr_array(
        (weights.data * (smoothness * factor), weights.indices, weights.indptr),
        shape=weights.shape,
    )
    return absorb(scaled, absorption, factor * targets)
