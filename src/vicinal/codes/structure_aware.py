"""The structure-aware L1 graph: sparse codes over dictionaries that follow the structure of the data."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Literal

from vicinal._core.chunked import is_chunked
from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.codes._dictionaries import Ranking
from vicinal.codes._directions import code_points
from vicinal.codes._l1 import check_code_points, check_penalty, code_graph
from vicinal.codes._sparse_codes import sparse_codes
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.graph import Graph

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

# The relative error of scores is about 1e-16 / (1 - alpha).
MAX_ALPHA = 1 - 1e-9
RANKINGS = ("manifold", "euclidean", "perceptual")
RankingName = Literal["manifold", "euclidean", "perceptual"]


@entry
def structure_aware_l1(
    X: ArrayLike,
    n_atoms: float = 0.2,
    *,
    ranking: RankingName = "manifold",
    alpha: float = 0.99,
    correct_degrees: bool = True,
    n_neighbors: int | None = None,
    exact_ranking: bool = False,
    penalty: float | Literal["auto"] = "auto",
    equality: bool = False,
    normalize: bool = True,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> Graph:
    """L1 graph in which each point is represented only by the points ranked best for it.

    The dictionary of each point contains the K points ranked best for it; codes are computed as in `l1`.
    Codes over all points depend on directions only and may combine distant points; a ranked dictionary
    keeps them local, along the structure. It saves most time if codes are long, such as exact codes in many
    dimensions.

    Parameters
    ----------
    X : array of shape (n, n_features)
        Points, in memory or a dask array (see `vicinal.scale`). A zero row has no direction and raises an
        error.
    n_atoms : float or int, default=0.2
        Size K of a dictionary: a fraction of the points, in (0, 1), or a count from 1 to n - 1.
    ranking : {"manifold", "euclidean", "perceptual"}, default="manifold"
        "manifold": by diffusion on a graph of Gaussian affinities. "euclidean": the nearest points.
        "perceptual": along contextual distances, see `vicinal.PerceptualRanking`.
    alpha : float, default=0.99
        How far scores diffuse, in [0, 1); not used by "euclidean".
    correct_degrees : bool, default=True
        Divide scores of manifold ranking by the square root of the degree of the atom. Without this
        correction, alpha near 1 gives nearly all points the same atoms, those with the largest degrees.
    n_neighbors : int, optional
        Number of neighbours in the ranking graph, or in each context; not for "euclidean". By default
        contexts have 10, and manifold ranking uses the complete graph up to 4,000 points; beyond, it
        uses 10 neighbours and ranks each point within a ball of nodes that is large enough to find 97 %
        of the best atoms in a sample.
    exact_ranking : bool, default=False
        Rank by the inverse of the matrix of the complete graph, as in the reference, for any number of
        points; only for manifold ranking without ``n_neighbors``. By default, the inverse is used below
        1,000 points and without degree correction; otherwise its product with few vectors is used if it
        finds 99 % of the best atoms in a sample.
    penalty : float or "auto", default="auto"
        Penalty of the coefficients, > 0; larger values give fewer edges. See `l1`.
    equality : bool, default=False
        Compute exact codes (basis pursuit) where they exist. See `l1`.
    normalize : bool, default=True
        Scale points to unit length for the codes, so that only directions matter.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show progress bars if above 0.

    Returns
    -------
    Graph
        Directed, as in `l1`; estimators with ``graph="structure_aware_l1"`` symmetrise it. If the
        ranking is not exact, ``metadata["codes"].recall`` is the fraction of the best atoms found.

    References
    ----------
    [5] Han and Qin, "Structure aware L1 graph for data clustering", AAAI 2016.
    Zhou, Weston, Gretton, Bousquet and Schölkopf, "Ranking on data manifolds", NIPS 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import SpectralClustering
    >>> from vicinal.metrics import clustering_accuracy
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = SpectralClustering(3, graph="structure_aware_l1", random_state=0).fit(X)
    >>> bool(clustering_accuracy(y, model.labels_) > 0.95)
    True
    """
    points = check_code_points(X)
    checked_penalty = check_penalty(penalty)
    n = len(points)
    size = check_atoms(n_atoms, n)
    check_choice(ranking, "ranking", RANKINGS)
    alpha = check_real(alpha, "alpha", low=0.0, high=1.0)
    if alpha > MAX_ALPHA:
        raise InvalidValueError(
            f"alpha={alpha!r}, but scores are dominated by rounding so close to 1; use at most 1 - 1e-9."
        )
    if n_neighbors is not None:
        if ranking == "euclidean":
            raise InvalidValueError(
                f"n_neighbors={n_neighbors!r} is given with ranking='euclidean', which uses no graph; "
                "omit it, or use another ranking."
            )
        n_neighbors = min(check_count(n_neighbors, "n_neighbors"), n - 1)
    if exact_ranking and (ranking != "manifold" or n_neighbors is not None):
        raise InvalidValueError(
            f"exact_ranking=True is given with ranking={ranking!r} and n_neighbors={n_neighbors!r}, but "
            "only manifold ranking on the complete graph has an exact form; omit one of them."
        )
    rank = Ranking(ranking, size, alpha, correct_degrees, n_neighbors, bool(exact_ranking))
    if is_chunked(points):
        from vicinal.codes._chunked_codes import chunked_codes
        from vicinal.codes._chunked_dictionaries import stored_atoms

        chunked_atoms, recall = stored_atoms(points, rank)
        codes, unit = chunked_codes(
            points,
            chunked_atoms,
            normalize=normalize,
            penalty=checked_penalty,
            signed=False,
            equality=bool(equality),
        )
        return code_graph(codes, points, unit, recall)
    directions, unit = code_points(points, normalize)
    require_memory(
        12.0 * n * size + 16.0 * points.size,
        f"{n:,} dictionaries of {size:,} atoms",
        "Lower n_atoms.",
    )
    atoms, recall = None, 1.0
    if size > 0:
        atoms, recall = rank.atoms(points)
    codes = sparse_codes(
        directions,
        atoms,
        penalty=None if checked_penalty is None else checked_penalty * unit**2,
        equality=bool(equality),
    )
    return code_graph(codes, points, unit, recall)


def check_atoms(n_atoms: object, n: int) -> int:
    """Number of atoms in a dictionary; 0 if there is no other point."""
    remedy = "A fraction of the points, above 0 and below 1, is also possible."
    if isinstance(n_atoms, numbers.Integral):
        return check_count(n_atoms, "n_atoms", high=n - 1, remedy=remedy)
    fraction = check_real(n_atoms, "n_atoms", low=0.0, high=1.0, open_low=True)
    if fraction == 1.0:
        raise InvalidValueError(
            "n_atoms=1.0, but a fraction < 1 is needed; l1(X) uses all other points."
        )
    return min(max(round(fraction * n), 1), n - 1)
