"""Lists of the items whose random walks are most alike, for galleries of any size.

After m steps, items i and j are compared by the cosine of their diffusion coordinates,

    c(i, j) = W_t[i, j] / sqrt(W_t[i, i] W_t[j, j]),    m = t + 1.

The row normalisation of [2] ranks the columns of a row by W_t[i, j], which favours hubs; here an item with
a large self-similarity has to be that much more similar. Powers of P are found by repeated squaring, with
the largest entries of each row only, so memory grows with the lists. Squaring yields the return
probabilities of all items at m = 2, 4, 8, ... on the way, from which the number of steps is chosen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.parallel import blocks, map_threads
from vicinal.operators.laplacians import degrees, transition
from vicinal.similarity.smoothing._auto_t import MAX_FACTOR, rank_correlation, rate_factor
from vicinal.similarity.smoothing._locality import NodeOrder, local_order, reordered
from vicinal.similarity.smoothing._sparse_powers import (
    ROWS_PER_TASK,
    PrunedPower,
    from_sparse,
    pruned_square,
)

# Powers keep this many entries per entry of the lists.
ENTRIES_PER_LIST_ENTRY = 2
MAX_SQUARINGS = 13
# Beyond this, most of a walk has left the entries that are kept, and more steps change little.
MIN_MASS = 0.5
MASS_SAMPLE = 256


class DiffusionLists(NamedTuple):
    """The most similar items of each item, itself included.

    Attributes
    ----------
    items : ndarray of int32 (n, k + 1)
        Items by descending similarity, each item first; -1 where a walk reaches fewer.
    similarities : ndarray (n, k + 1)
        Cosines of diffusion coordinates; 0 where there is no item.
    norms : ndarray (n,)
        Lengths of the diffusion coordinates.
    n_steps : int
        Number of factors P, a power of 2.
    curve : ndarray (m, 2)
        Numbers of steps, and the rank correlation between return probabilities and degrees at each.
    rate_factor : float
        Typical factor between the rates at which walks leave the items. Above MAX_FACTOR no number of steps
        suits all of them: ``n_steps`` is 1, and the lists hold the similarities themselves.
    """

    items: np.ndarray
    similarities: np.ndarray
    norms: np.ndarray
    n_steps: int
    curve: np.ndarray
    rate_factor: float


def diffusion_lists(
    weights: sparse.csr_array, list_size: int, n_jobs: int | None
) -> DiffusionLists:
    """Lists of the ``list_size`` most similar items of each item.

    Parameters
    ----------
    weights : csr_array (n, n)
        Symmetric similarities with a positive diagonal.
    list_size : int
        Length of the lists, at most n - 1.
    n_jobs : int or None
        Number of threads.
    """
    from vicinal.similarity.smoothing._power_kernels import most_similar

    factor = rate_factor(weights)
    if factor > MAX_FACTOR:
        return _plain_lists(weights, factor)
    order = local_order(weights)
    weights = reordered(weights, order)
    n, sums = weights.shape[0], degrees(weights)
    keep = min(n, ENTRIES_PER_LIST_ENTRY * list_size + 1)
    # The power whose rows are compared, and its square, whose largest entries are the candidates.
    half = from_sparse(transition(weights), keep)
    power = pruned_square(half, keep, n_jobs)
    returns = _returns(half, sums, n_jobs)
    mean_return = float((weights.diagonal() / sums).mean())
    n_steps, curve = 2, [(2, _dependence(sums, returns, mean_return))]
    while n_steps < 1 << MAX_SQUARINGS and curve[-1][1] < 0 and _mass(power, order) >= MIN_MASS:
        following = _returns(power, sums, n_jobs)
        curve.append((2 * n_steps, _dependence(sums, following, mean_return)))
        if -curve[-2][1] < curve[-1][1]:
            break  # the correlation is nearer to 0 here than after the next squaring
        half, power = power, pruned_square(power, keep, n_jobs)
        n_steps, returns = 2 * n_steps, following
    norms = np.sqrt(returns / sums)
    items = np.full((n, list_size + 1), -1, np.int32)
    similarities = np.zeros((n, list_size + 1))
    map_threads(
        lambda rows: most_similar(
            power.items, power.counts, *half, norms, sums, *rows, order.ids, items, similarities
        ),
        blocks(n, ROWS_PER_TASK),
        n_jobs,
    )
    norms = norms[order.positions]
    return DiffusionLists(items, similarities, norms, n_steps, np.array(curve), factor)


def _plain_lists(weights: sparse.csr_array, factor: float) -> DiffusionLists:
    """The stored similarities of each item."""
    n, counts = weights.shape[0], np.diff(weights.indptr)
    used = np.arange(counts.max()) < counts[:, None]
    items, similarities = np.full(used.shape, -1, np.int32), np.zeros(used.shape)
    items[used], similarities[used] = weights.indices, weights.data
    return DiffusionLists(items, similarities, np.ones(n), 1, np.empty((0, 2)), factor)


def _returns(power: PrunedPower, sums: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Diagonal of the square of a power of P, which is reversible: P[j, i] = P[i, j] d_i / d_j."""
    from vicinal.similarity.smoothing._power_kernels import squared_lengths

    returns = np.empty(len(sums))
    map_threads(
        lambda rows: squared_lengths(*power, sums, *rows, returns),
        blocks(len(sums), ROWS_PER_TASK),
        n_jobs,
    )
    return returns


def _dependence(sums: np.ndarray, returns: np.ndarray, first_mean: float) -> float:
    """Rank correlation of return probabilities with degrees, which the walk forgets and then finds again.

    If all degrees are equal, whether the mean return probability is below the geometric mean of its first
    value and its limit: -1 or 1.
    """
    if np.ptp(sums) <= 1e-12 * sums.max():
        return 1.0 if returns.mean() <= np.sqrt(first_mean / len(sums)) else -1.0
    return rank_correlation(sums, returns)


def _mass(power: PrunedPower, order: NodeOrder) -> float:
    """Mean mass that the rows of a power have kept, measured on a sample."""
    n = len(power.counts)
    sample = order.positions[np.linspace(0, n - 1, min(MASS_SAMPLE, n)).astype(np.int64)]
    rows = ((power.values[i], power.counts[i]) for i in sample)
    return float(np.mean([values[:count].sum() for values, count in rows]))
