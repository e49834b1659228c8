"""The ensemble of minimum spanning trees of perturbed points (PMST of [3])."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from vicinal._core.chunked import ChunkedRows, is_chunked
from vicinal._core.lazy import chunked_counterpart
from vicinal._core.options import entry
from vicinal._core.parallel import map_threads
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs._build.edge_lists import graph_from_edges_trusted
from vicinal.graphs._build.spanning_trees import spanning_tree
from vicinal.graphs.graph import Graph
from vicinal.graphs.trees import LIST_LENGTH, check_tree_input, require_tree_memory
from vicinal.neighbors.metric import as_metric

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, MetricLike, NJobs, RandomStateLike

# An integer key, sorted together with those of all trees, most of which repeat an edge of another tree.
BYTES_PER_EDGE = 24.0


@entry
def perturbed_mst(
    X: MatrixLike,
    n_trees: int = 20,
    *,
    noise: float = 0.4,
    n_neighbors: int = 5,
    noise_model: Literal["isotropic", "aligned"] = "isotropic",
    metric: MetricLike = "euclidean",
    random_state: RandomStateLike = None,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """Perturbed minimum spanning trees (PMST): how often an edge is in the tree of perturbed points.

    Each replicate moves every point i by uniform, zero-mean, isotropic noise (from a ball). With d_i the
    mean distance of the point to its k nearest neighbours, r the ``noise`` and D features, the standard
    deviation along each axis is

        s_i = r d_i min(1, sqrt(2 / D)),

    which in the plane is r d_i, as in the paper. In higher dimensions, s_i = r d_i would make displacements
    grow as sqrt(D) and move points away from their neighbours; here the root mean square displacement is
    sqrt(2) r d_i for every D >= 2. With "manhattan", 2 / D replaces sqrt(2 / D).

    With more features than neighbours (D > k), Euclidean points move within the subspace spanned by the
    offsets to their neighbours, and its dimension replaces D. Noise in all of many directions would be almost
    orthogonal to every offset: all distances would grow alike, and all trees would be the same.

    On a curved sheet, isotropic noise also moves points across the sheet, towards other parts of it. With
    ``noise_model="aligned"``, a point moves by a random combination of the offsets to its neighbours, so the
    noise has the shape of the neighbourhood: long along the sheet, short across it. The root mean square
    displacement is sqrt(min(2, q)) r d_i, with q the participation ratio of the variances of the offsets.

    Parameters
    ----------
    X : array of shape (n, n_features) or (n, n)
        Points (may be sparse if the metric is Euclidean or cosine, or a dask array, see `vicinal.scale`),
        or with ``metric="precomputed"`` a dense distance matrix.
    n_trees : int, default=20
        Number of perturbed replicates, T in the paper.
    noise : float, default=0.4
        Size of the noise, r in the paper, from 0 to 1.
    n_neighbors : int, default=5
        Number of neighbours that define the local scale d_i, and the offsets; fewer if there are fewer
        points.
    noise_model : {"isotropic", "aligned"}, default="isotropic"
        Shape of the noise: that of the paper, or that of the neighbourhood of each point, which makes fewer
        shortcuts between the turns of a roll with little noise. "aligned" needs Euclidean points.
    metric : str or callable, default="euclidean"
        With "euclidean" and "manhattan" the points are perturbed. With other metrics there may be no
        points to move, so the distances are perturbed: uniformly, with standard deviation
        ``noise * sqrt(d_i^2 + d_j^2)``, as if both ends moved; negative values become 0. This needs
        (n, n) distance matrices.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the noise.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The graph does not depend on it.
    verbose : int, default=0
        Show a progress bar if above 0.

    Returns
    -------
    Graph
        Undirected; strengths are the fraction of trees that contain the edge (e_ij in the paper),
        lengths are distances between the original points.

    References
    ----------
    [3] Carreira-Perpinan and Zemel, "Proximity graphs for clustering and manifold learning", NIPS 2004.

    Examples
    --------
    >>> from vicinal.graphs import mst, perturbed_mst
    >>> X = [[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [3.1, 0.2]]
    >>> graph = perturbed_mst(X, n_trees=50, n_neighbors=2, random_state=0)
    >>> bool(graph.strengths.sum() / 2 > 2.99)  # three edges per tree
    True
    >>> perturbed_mst(X, noise=0.0, n_neighbors=2).edges().tolist() == mst(X).edges().tolist()
    True
    """
    from vicinal.graphs._build.jitter import perturbed_replicates, seed_of

    measure = as_metric(metric)
    if is_chunked(X) and not measure.is_minkowski:
        raise InvalidTypeError(
            f"X is a dask Array, but metric={measure.name!r} perturbs the distances of all pairs; use "
            "'euclidean' or 'manhattan', or pass X.compute()."
        )
    points = check_tree_input(X, measure)
    n, n_trees = points.shape[0], check_count(n_trees, "n_trees")
    noise = check_real(noise, "noise", low=0.0, high=1.0)
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    is_aligned = check_choice(noise_model, "noise_model", ("isotropic", "aligned")) == "aligned"
    if is_aligned and not measure.is_euclidean:
        raise InvalidValueError(
            f"noise_model='aligned' moves points along Euclidean offsets, but metric={measure.name!r}; use "
            "metric='euclidean' or noise_model='isotropic'."
        )
    require_tree_memory(n, n_trees, BYTES_PER_EDGE)
    if n == 1:
        return Graph.from_edges(
            1, np.empty((0, 2), np.int64), [], points=points, metric=measure.name
        )
    k, length = min(n_neighbors, n - 1), min(LIST_LENGTH, n - 1)
    if isinstance(points, ChunkedRows):
        trees = chunked_counterpart("perturbed_trees")(
            points, n_trees, noise, k, length, seed_of(random_state), is_aligned
        )
        edges, strengths = _frequencies(trees, n)
        lengths = chunked_counterpart("pair_lengths")(points, edges)
        return graph_from_edges_trusted(n, edges, lengths, points, measure.name, strengths)
    replicates = perturbed_replicates(
        points, measure, n_trees, noise, k, random_state, is_aligned=is_aligned
    )

    def tree(replicate: int) -> np.ndarray:
        perturbed = replicates.make(replicate)
        edges, _ = spanning_tree(perturbed, replicates.metric, length)
        return np.sort(edges[:, 0] * n + edges[:, 1])

    trees = map_threads(tree, range(n_trees), title="perturbed trees")
    edges, strengths = _frequencies(trees, n)
    lengths = replicates.metric.pair_distances(replicates.original, edges)
    return graph_from_edges_trusted(n, edges, lengths, points, measure.name, strengths)


def _frequencies(trees: list[np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges of trees, each given as sorted numbers ``i * n + j``, and the fraction of trees with each."""
    # A stable sort detects the sorted runs and merges them.
    keys = np.sort(np.concatenate(trees), kind="stable")
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(first, append=len(keys))
    return np.stack(np.divmod(keys[first], n), axis=1), counts / len(trees)
