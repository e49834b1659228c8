"""`PathSimilarity`: the matrix of path-based similarities, which is never formed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vicinal._core.classes import encode_classes
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidValueError, VicinalWarning
from vicinal.neighbors._cached_search import CachedSearch
from vicinal.operators.eigenpairs import Eigenpairs
from vicinal.operators.ultrametric import normalized_ultrametric_pairs
from vicinal.similarity.paths._auto_sigma import SigmaCurve
from vicinal.similarity.paths._merge_kernels import mark_class_borders
from vicinal.similarity.paths._merge_tree import MergeTree
from vicinal.similarity.paths._out_of_sample import best_links, extend_walk_vectors
from vicinal.similarity.paths._tree_matrix import TreeMatrix

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike

# The exponential function is 0 below.
MIN_LOG = -745.0


class Origin(NamedTuple):
    """Input of a similarity; ``points`` is None for a graph without points."""

    points: Any
    metric: str
    robust: bool
    n_neighbors: int
    # Whether new points have to be scaled to length 1, as these were.
    directions: bool = False


class PathSimilarity(TreeMatrix):
    """Path-based similarities s_ij, stored as a merge tree; created by `path_similarity`.

    A pair costs at most O(log n), a product with ``@`` O(n) per column. The diagonal is the largest
    similarity of two points (as formula (5) needs), which makes the matrix positive semi-definite. For
    every k, s_ij is at least the smaller of s_ik and s_kj.

    Attributes
    ----------
    shape : tuple
        (n, n).
    sigma : float
        Kernel width.
    sigma_curve : SigmaCurve or None
        With ``sigma="auto"``, the mean similarity of a pair at several widths.
    weights : ndarray (n,)
        Weights of the points; the largest is 1.
    log_weights : ndarray (n,)
        Their logarithms, which do not underflow.
    log_largest : float
        Logarithm of the largest similarity of two points.
    tree : MergeTree
        Merges at heights -log s.
    has_eigengap : bool
        Always False: the kernel is so wide that the spectrum does not show the number of clusters.
    """

    has_eigengap = False

    def __init__(
        self,
        tree: MergeTree,
        edges: np.ndarray,
        sigma: float,
        log_weights: np.ndarray,
        log_unit: float,
        sigma_curve: SigmaCurve | None,
        origin: Origin,
    ) -> None:
        super().__init__(tree, edges)
        self.sigma, self.sigma_curve = sigma, sigma_curve
        self.log_weights, self.log_unit = log_weights, log_unit
        self.origin, self.search = origin, CachedSearch(origin.points, origin.metric)
        if self.log_largest < MIN_LOG:
            warnings.warn(
                f"sigma={sigma:g} is so small that all similarities underflow to 0 "
                f"(the largest is exp({self.log_largest:.0f})); use a larger sigma, or work with "
                "logarithms: pairs(i, j, log=True).",
                category=VicinalWarning,
                stacklevel=3,
            )

    @property
    def weights(self) -> np.ndarray:
        with np.errstate(under="ignore"):
            return np.exp(self.log_weights)

    def __repr__(self) -> str:
        return f"PathSimilarity(n={self.shape[0]:,}, sigma={self.sigma:g})"

    def components(self) -> np.ndarray:
        """Components: groups of points with negligible similarity between them.

        Returns
        -------
        ndarray of int of shape (n,)
            Component of each point, numbered from 0.
        """
        return self.relative.components()

    def degrees(self) -> np.ndarray:
        """Row sums of the matrix, relative to the largest similarity.

        Returns
        -------
        ndarray of shape (n,)
            Degree of each point.
        """
        return self.relative @ np.ones(self.shape[0])

    def eigenpairs(
        self,
        n_pairs: int,
        *,
        tolerance: float = 0.0,
        random_state: int = 0,
    ) -> Eigenpairs:
        """Leading eigenpairs of D^-1/2 S D^-1/2, D the row sums of the matrix S.

        Parameters
        ----------
        n_pairs : int
            Number of eigenpairs, at most n.
        tolerance : float, default=0.0
            Ignored: pairs are always accurate to rounding.
        random_state : int, default=0
            Seed of the start vectors.

        Returns
        -------
        Eigenpairs
            Eigenvalues in descending order, eigenvectors as columns, and residuals.
        """
        return normalized_ultrametric_pairs(self.relative, n_pairs, random_state)

    def extend(self, X: ArrayLike, vectors: np.ndarray, eigenvalues: np.ndarray) -> np.ndarray:
        """Extend eigenvectors of the random walk D^-1 S to new points (Nystrom).

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points; if the similarity was computed from distances, their distances (m, n).
        vectors : ndarray of shape (n, q)
            Eigenvectors of the random walk.
        eigenvalues : ndarray of shape (q,)
            Their eigenvalues. The extension of an eigenvector with eigenvalue 0 is 0.

        Returns
        -------
        ndarray of shape (m, q)
            Points that coincide with a point of the similarity get its entries.
        """
        return extend_walk_vectors(self, X, vectors, eigenvalues)

    def extend_labels(self, X: ArrayLike, labels: np.ndarray) -> np.ndarray:
        """Give each new point the label of the point that its best step leads to.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points; if the similarity was computed from distances, their distances (m, n).
        labels : ndarray of shape (n,)
            Labels of the points of the similarity.

        Returns
        -------
        ndarray of shape (m,)
            Labels of the new points.
        """
        return labels[best_links(self, X).points]

    def merge(self, n_clusters: int) -> np.ndarray:
        """Merge the most similar components until ``n_clusters`` remain.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.

        Returns
        -------
        ndarray of int of shape (n,)
            Cluster of each point.
        """
        if not np.isfinite(self.tree.heights).all():
            raise InvalidValueError(
                f"there are {int(self.components().max()) + 1} components, more than "
                f"n_clusters={n_clusters}, and no path connects them; use more clusters or connect "
                "the graph."
            )
        return self.clusters(n_clusters=n_clusters)

    def separate(self, y: ArrayLike, *, factor: float = 0.0) -> PathSimilarity:
        """Weaken the similarities across the borders of known classes.

        Merges follow the order of the similarities, except that none joins two classes: a point without a
        class belongs to the class that it is connected to by the best path. Steps of the tree from one
        class to another are multiplied by ``factor``, and with them all paths that need these.

        Parameters
        ----------
        y : array-like of shape (n,)
            Class of each point, -1 where unknown.
        factor : float, default=0.0
            Between 0, which cuts the steps, and 1, which changes nothing.

        Returns
        -------
        PathSimilarity
            Similarities of the same points.

        Examples
        --------
        >>> from vicinal import path_similarity
        >>> S = path_similarity([[0.0], [1.0], [2.5], [3.5]], sigma=1.0, robust=False)
        >>> S.separate([0, -1, -1, 1]).toarray().round(3)
        array([[0.607, 0.607, 0.   , 0.   ],
               [0.607, 0.607, 0.   , 0.   ],
               [0.   , 0.   , 0.607, 0.607],
               [0.   , 0.   , 0.607, 0.607]])
        """
        check_real(factor, "factor", low=0.0, high=1.0)
        codes = encode_classes(y, len(self))[1]
        heights = self.tree.merge_heights[: len(self._edges)].copy()
        borders = np.zeros(len(heights), dtype=bool)
        mark_class_borders(self._edges, codes, borders)
        edges = self._edges
        if factor > 0:
            heights[borders] -= np.log(factor)
        else:
            edges, heights = edges[~borders], heights[~borders]
        return PathSimilarity(
            MergeTree(len(self), edges, heights),
            edges,
            self.sigma,
            self.log_weights,
            self.log_unit,
            self.sigma_curve,
            self.origin,
        )
