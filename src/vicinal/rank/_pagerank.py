"""PageRank: the stationary distribution of a random walk with restarts."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.array_checks import real_array
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidValueError
from vicinal.operators.laplacians import walk_matrix
from vicinal.operators.stationary import MIN_TOLERANCE, edge_weights, solve_teleport

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike
    from vicinal.graphs.graph import Graph


def pagerank(
    digraph: Graph | MatrixLike,
    damping: float = 0.85,
    *,
    personalization: ArrayLike | Mapping[Any, float] | None = None,
    tolerance: float = 1e-10,
) -> np.ndarray:
    """PageRank of all nodes of a graph or digraph.

    Parameters
    ----------
    digraph : Graph, sparse or dense matrix of shape (n, n)
        Nonnegative weights of the edges i -> j; for a Graph, its strengths.
    damping : float, default=0.85
        Probability of following an edge, in [0, 1). Otherwise, and at nodes without outgoing edges, the
        walk restarts.
    personalization : array of shape (n,) or dict, optional
        Restart distribution: weights >= 0 of all nodes, or a dict from node to weight, not all 0. Uniform
        by default. Restarting at a single node ranks all others relative to it.
    tolerance : float, default=1e-10
        Largest sum of absolute errors.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities that sum to 1.

    See Also
    --------
    vicinal.operators.stationary_distribution : Allows damping up to 1.

    References
    ----------
    Page, Brin, Motwani and Winograd, "The PageRank citation ranking", 1998.

    Examples
    --------
    >>> from vicinal import pagerank
    >>> links = [[0, 1, 1], [0, 0, 1], [1, 0, 0]]
    >>> pagerank(links).round(3)
    array([0.388, 0.215, 0.397])
    >>> pagerank(links, personalization={1: 1}).round(3)
    array([0.327, 0.289, 0.384])
    """
    damping = check_real(
        damping,
        "damping",
        low=0.0,
        high=1.0,
        remedy="vicinal.operators.stationary_distribution allows 1.",
    )
    if damping == 1:
        raise InvalidValueError(
            "damping=1, but it must be less than 1; use stationary_distribution for the limit."
        )
    tolerance = check_real(tolerance, "tolerance", low=MIN_TOLERANCE)
    walk, dangling = walk_matrix(edge_weights(digraph))
    restart = _restart_distribution(personalization, walk.shape[0])
    return solve_teleport(walk, dangling, damping, tolerance, restart)


def _is_node(node: Any, n: int) -> bool:
    # 1.0 and True equal 1, but are not indices.
    return isinstance(node, numbers.Integral) and not isinstance(node, bool) and node in range(n)


def _restart_distribution(
    personalization: ArrayLike | Mapping[Any, float] | None, n: int
) -> np.ndarray | None:
    if personalization is None:
        return None
    if isinstance(personalization, Mapping):
        nodes, weights = list(personalization), np.zeros(n)
        unknown = [node for node in nodes if not _is_node(node, n)]
        if unknown:
            raise InvalidValueError(
                f"personalization names the node {unknown[0]!r}, but nodes are the integers 0 to {n - 1}."
            )
        weights[nodes] = np.fromiter(personalization.values(), float, len(nodes))
    else:
        weights = np.array(real_array(personalization, "personalization"), dtype=np.float64)
    if weights.shape != (n,):
        raise InvalidValueError(
            f"personalization has shape {weights.shape}, but one weight for each of the {n} nodes, or a "
            "dict from node to weight, is needed."
        )
    if not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
        raise InvalidValueError(
            "personalization contains negative, NaN or infinite weights, or only zeros; weights must be "
            ">= 0, and at least one positive."
        )
    # Divided by the largest first, because a sum of huge weights may overflow.
    weights /= weights.max()
    return weights / weights.sum()
