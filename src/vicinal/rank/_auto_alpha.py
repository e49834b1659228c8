"""Choose the alpha of a ranking without labels.

The neighbours in every context are split alternately into two halves, which gives two digraphs of the same
points without a common edge. A ranking that depends on the query is the same along both; a random one
differs; one that depends only on hubs is the same for every query. So the rank correlation w between the two
rankings of one query is compared with the correlation b between different queries:

    reliability = (w - b) / (1 - b),

which is 1 if the halves agree perfectly, and 0 if the query does not matter. Small alpha reduces w, because
the halves have no neighbours in common; large alpha increases b. The alpha with the highest reliability wins.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from vicinal._core.parallel import n_cores_used, n_threads, progress_bar, together
from vicinal._core.warn import LongWork, warn_if_long
from vicinal.graphs.graph import Graph
from vicinal.rank._scores import Resolvent

# About evenly spaced in the logarithm of the reach 1 / (1 - alpha).
GRID = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
# Numbers of queries and of ranked points. Scores of many points take long, so these have fewer queries: at
# most N_SCORES scores in all, but not fewer than MIN_QUERIES.
N_QUERIES, N_RANKED = 64, 1000
N_SCORES, MIN_QUERIES = 1_600_000, 16
# Time of one core for the scores of one query at all values of alpha, per point.
SECONDS_PER_SCORE = 1.5e-5
# With fewer nodes, rankings are too short to compare; then the value of the paper for small classes is used.
MIN_NODES, FEW_NODES_ALPHA = 10, 0.9

# Scores along a digraph for a given alpha.
Solver = Callable[[float], Resolvent]


def choose_alpha(
    digraph: Graph,
    masses: np.ndarray,
    solver: Callable[[Graph, int], Solver],
    n_jobs: int | None,
    progress: str | None = None,
) -> tuple[float, np.ndarray]:
    """Choose the alpha at which rankings along two halves of the contexts agree best.

    Parameters
    ----------
    digraph : Graph
        The contextual digraph.
    masses : ndarray (n,)
        Stationary distribution. Queries are spread evenly over its order, so that the order of the rows does
        not matter.
    solver : callable
        Returns a solver for a digraph and a number of threads.
    n_jobs : int or None
        Number of threads.
    progress : str, optional
        Title of a progress bar.

    Returns
    -------
    alpha : float
        The best value.
    curve : ndarray (m, 2)
        Values of alpha, and their reliability. It may have more than one maximum.
    """
    n = digraph.n_nodes
    if n < MIN_NODES:
        return FEW_NODES_ALPHA, np.empty((0, 2))
    order = np.argsort(masses, kind="stable")
    queries, ranked = _spread(order, _n_queries(n)), _spread(order, N_RANKED)
    m = len(queries)
    starts = sparse.csr_array((np.ones(m), (np.arange(m), queries)), shape=(m, n))
    # Conjugate gradients take a number of steps proportional to these.
    n_steps = [(1.0 - alpha) ** -0.5 for alpha in GRID]
    # The halves are independent, and much of the work for each is serial.
    threads = max(1, n_threads(n_jobs) // 2)
    with progress_bar(2 * sum(n_steps), progress) as bar:

        def scores_along(half: Graph) -> list[np.ndarray]:
            scores, solve = [], solver(half, threads)
            for alpha, amount in zip(GRID, n_steps, strict=True):
                scores.append(solve(alpha)(starts, threads)[:, ranked])
                bar.update(amount)
            return scores

        halves = together(*(partial(scores_along, half) for half in _halves(digraph)))
    curve = [(alpha, reliability(*pair)) for alpha, *pair in zip(GRID, *halves, strict=True)]
    values = np.array(curve)
    return float(values[np.argmax(values[:, 1]), 0]), values


def warn_if_choice_is_long(n: int, n_jobs: int | None) -> None:
    """Warn, before anything is computed, if `choose_alpha` for n points takes minutes."""
    work = LongWork(f"alpha='auto' for {n:,} points", "pass a number, for instance alpha=0.99")
    warn_if_long(SECONDS_PER_SCORE * n * _n_queries(n) / n_cores_used(n_jobs), work)


def _n_queries(n: int) -> int:
    return min(N_QUERIES, max(MIN_QUERIES, N_SCORES // max(n, 1)))


def reliability(first: np.ndarray, second: np.ndarray) -> float:
    """How much more two rankings of the same query agree than those of different queries.

    Parameters
    ----------
    first, second : ndarray (m, n)
        Two tables of scores, one row per query.
    """
    correlation = _standard_ranks(first) @ _standard_ranks(second).T
    m = len(correlation)
    within = float(np.trace(correlation)) / m
    between = (float(correlation.sum()) - m * within) / (m * (m - 1))
    return (within - between) / (1.0 - between) if between < 1.0 else 0.0


def _standard_ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks in each row with mean 0 and norm 1; all 0 if the scores are equal."""
    ranks = rankdata(scores, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(ranks, axis=1, keepdims=True)
    return np.divide(ranks, lengths, out=np.zeros_like(ranks), where=lengths > 0)


def _spread(order: np.ndarray, max_entries: int) -> np.ndarray:
    """At most ``max_entries`` entries of an order, evenly spaced."""
    positions = np.linspace(0, len(order) - 1, min(max_entries, len(order)))
    return order[np.round(positions).astype(np.int64)]


def _halves(digraph: Graph) -> tuple[Graph, Graph]:
    """Alternate edges of each node, by descending strength, and the remaining edges."""
    rows = np.repeat(np.arange(digraph.n_nodes), digraph.degrees)
    order = np.lexsort((-digraph.strengths, rows))
    position = np.arange(len(rows)) - (np.cumsum(digraph.degrees) - digraph.degrees)[rows]
    edges = np.column_stack([rows, digraph.indices])[order]
    lengths, strengths = digraph.lengths[order], digraph.strengths[order]
    first, second = (
        Graph.from_edges(
            digraph.n_nodes,
            edges[position % 2 == parity],
            lengths[position % 2 == parity],
            strengths[position % 2 == parity],
            directed=True,
        )
        for parity in (0, 1)
    )
    return first, second
