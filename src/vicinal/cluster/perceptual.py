"""`PerceptualClustering`: clusters as subspaces of the perceptual embedding, after taking noise out."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from vicinal._base.perceptual_estimator import PerceptualEstimator
from vicinal._base.row_assignment import (
    assign_rows,
    nearest_center,
    relabel_by_first_occurrence,
    unit_rows,
)
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal._core.warn import warn_user
from vicinal.cluster._automatic import AutomaticClusters, choose_number, membership
from vicinal.cluster._background import MIN_VALLEY_DEPTH
from vicinal.cluster._eigengap import relative_gaps
from vicinal.cluster._evidence import ClusterEvidence
from vicinal.cluster._noise import NoiseSplit, split_norms, visited
from vicinal.cluster._noise_score import noise_scores
from vicinal.cluster.subspaces import k_subspaces, nearest_subspace
from vicinal.exceptions import InvalidValueError
from vicinal.operators.eigenpairs import Eigenpairs, nystrom

# Directions that the distance from the origin is measured in: from 5 to 12 they tell noise alike.
NOISE_DIRECTIONS = 5
TOLERANCE = 1e-6
# Share of a walk between clusters below which they are as good as separate.
SEPARATE = 1e-4
# Norms and densities agree on noise if both call this fraction of the points noise that either does, or if
# this fraction of the points near the origin are among the sparsest. In noisy half-cylinders at least 0.79 of
# them are; at the edges of clean blobs in up to 50 dimensions at most 0.70.
SAME_NOISE, SPARSEST = 0.4, 0.75
DOUBT = (
    "distances from the origin are those of two groups, the nearer one of {:.0%} of the points, but there "
    "is no valley between them. Thin edges of clean clusters look like that, and so does heavy noise: no "
    "point is called noise. Give noise=0 if there is none, or its share."
)


class PerceptualClustering(AutomaticClusters, ClusterMixin, PerceptualEstimator):
    """Cluster points in heavy noise.

    Points are embedded by the walk on their contextual digraph (`PerceptualEmbedding`). Those near the
    origin are noise; the others lie near linear subspaces through it, one per cluster. Duplicates get
    the same cluster.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters, noise not counted; "auto" tests the densities and communities of the points
        against what chance makes of one cluster (`vicinal.cluster.estimate_clusters`), and reads it off the
        spectrum where there are fewer than 40 distinct points or a digraph without points.
    noise : "auto", int or float, default="auto"
        Which points are noise (label -1): those nearest to the origin, as many as a count (int) or a
        share (float in [0, 1)) says, or a few less where copies would have to be parted; "auto"
        splits the distribution of norms in two if it clearly has two parts, else there is no noise.
        Points that no context leads to are not enough: the others must show two parts as well.
    assign : {"subspaces", "kmeans", "discretize"}, default="subspaces"
        How the other points become clusters: k-subspaces, or the ways of `SpectralClustering`, which
        group the directions of the rows.
    max_clusters : int, default=20
        Most clusters that "auto" looks for a gap of the spectrum after.
    n_neighbors : int, default=10
        Number K of neighbours in a context.
    descriptor : {"coding_length", "centroid"} or callable, default="coding_length"
        Structure of a context, see `vicinal.contextual_distance`.
    epsilon : float, optional
        Distortion of the coding length.
    beta : float, default=0.99999
        Probability of following an edge; otherwise the walk jumps to a random point.
    laplacian : {"global", "aligned"}, default="global"
        Formula (10), or the alignment of all local Laplacians (formulas 4 to 9).
    random_state : int, RandomState or None, default=None
        Seed of the eigensolver and of the assignment.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show progress bars if greater than 0.

    Attributes
    ----------
    labels_ : ndarray of int (n,)
        Cluster of each point, numbered by first points; -1 for noise.
    n_clusters_ : int
    noise_score_ : ndarray (n,)
        From 0 to 1: above 0.5 for points with the label -1, below for the others, and in both groups the
        higher, the more unusual a point's distance to its 8th neighbour or to small samples of the points
        is, whichever is more so. Points at the fence of a boxplot of these distances have 0.25, or 0.75 with
        the label -1, whatever the data. Without points it follows the stationary distribution.
    noise_threshold_ : float
        Norm below which a point is noise.
    noise_gain_ : float or None
        With ``noise="auto"``, how much better two groups describe the norms than one (log-likelihood a
        point, penalised); noise is looked for from 0.1 on, if there is a valley between the groups.
    noise_doubt_ : bool
        With ``noise="auto"``, whether a large nearer group was seen without a valley, of which a warning
        tells: thin edges of clean clusters look like that, and so does heavy noise in few points.
    norms_ : ndarray (n,)
        Distances from the origin that the threshold was read from.
    embedding_ : ndarray (n, n_clusters)
        Rows that were assigned, in which each cluster is near a line: the first ``n_clusters_``
        eigenvectors. Clusters that a walk hardly leaves are told by these alone. Where they are joined,
        a cluster may spread over several directions, and the first eigenvector, the roots of the
        stationary distribution, does not help: then as many after it are taken if lines hold more of
        them ("subspaces" only).
    eigenvalues_ : ndarray
        Eigenvalues after the first, which is 1.
    eigengaps_ : ndarray
        With ``n_clusters="auto"``, how clearly the spectrum speaks for 1, 2, ... clusters.
    n_clusters_candidates_, cluster_evidence_, cluster_layers_ :
        With "auto" for the number or the noise on points, as for `SpectralClustering`.
    probabilities_ : ndarray (n, n_clusters + 1)
        Membership of each point in each cluster, shared with the clusters of its neighbours, and last in the
        noise. Rows sum to 1.
    stationary_ : ndarray (n,)
    graph_ : Graph
        Of the distinct rows.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.

    Examples
    --------
    >>> from vicinal import PerceptualClustering
    >>> from vicinal.datasets import make_half_cylinders
    >>> X, truth = make_half_cylinders(300, 200, random_state=0)
    >>> model = PerceptualClustering(2, random_state=0).fit(X)
    >>> sorted(set(model.labels_.tolist()))
    [-1, 0, 1]
    """

    _noise_score: np.ndarray | None

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        noise: Any = "auto",
        assign: str = "subspaces",
        max_clusters: int = 20,
        n_neighbors: int = 10,
        descriptor: Any = "coding_length",
        epsilon: float | None = None,
        beta: float = 0.99999,
        laplacian: str = "global",
        random_state: Any = None,
        n_jobs: int | None = -1,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.noise = noise
        self.assign = assign
        self.max_clusters = max_clusters
        self.n_neighbors = n_neighbors
        self.descriptor = descriptor
        self.epsilon = epsilon
        self.beta = beta
        self.laplacian = laplacian
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> PerceptualClustering:
        """Cluster points, or the nodes of a digraph whose strengths are its weights.

        Parameters
        ----------
        X : array-like of shape (n, n_features) or Graph
            Points or a digraph.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        if isinstance(self.n_clusters, str):
            check_choice(self.n_clusters, "n_clusters", ("auto",))
        else:
            check_count(self.n_clusters, "n_clusters")
        check_count(self.max_clusters, "max_clusters")
        check_choice(self.assign, "assign", ("subspaces", "kmeans", "discretize"))
        _check_noise(self.noise)

        walk = self._build_walk(X)
        automatic = isinstance(self.n_clusters, str) or isinstance(self.noise, str)
        evidence = self._estimate(self.graph_ if automatic else None, self.n_jobs)
        pairs = self._eigenpairs(walk, self._n_pairs(walk.shape[0], evidence), TOLERANCE)
        return self._cluster(walk, pairs, evidence)

    def _cluster(
        self, walk: Any, pairs: Eigenpairs, evidence: ClusterEvidence | None
    ) -> PerceptualClustering:
        """Separate noise and assign the other nodes, by at least as many eigenpairs as `_n_pairs` says."""
        self.eigenvalues_ = pairs.values
        if isinstance(self.n_clusters, str):
            self.eigengaps_ = relative_gaps(np.concatenate([[1.0], pairs.values]))
            self.n_clusters_ = choose_number(self.eigengaps_, evidence, self.graph_.points)
        else:
            self.n_clusters_ = self.n_clusters
        self._directions = pairs.vectors[:, : max(NOISE_DIRECTIONS, self.n_clusters_ - 1)]
        norms = np.linalg.norm(self._directions, axis=1)
        is_noise = self._split_noise(norms, evidence)
        self.norms_ = self._of_rows(norms)
        self._noise_score = None
        self._assign(walk, np.column_stack([walk.trivial_vector, pairs.vectors]), is_noise)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the clusters of new points by the walk from their contexts; -1 for noise.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points.

        Returns
        -------
        ndarray of int of shape (m,)
            Training points keep their clusters.
        """
        check_is_fitted(self)
        weights, known = self._new_rows(X)
        values = self.eigenvalues_[: self._directions.shape[1]]
        norms = np.linalg.norm(nystrom(weights @ self._directions, values), axis=1)
        values = np.concatenate([[1.0], self.eigenvalues_])
        values = values[self._first : self._first + self.embedding_.shape[1]]
        rows = nystrom(weights @ self._of_nodes(self.embedding_), values)
        if self.assign == "subspaces":
            labels = nearest_subspace(rows, self._places)
        else:
            labels = nearest_center(unit_rows(rows), self._places, self.assign)
        labels = np.where(norms < self.noise_threshold_, -1, labels)
        own = weights.indices[weights.indptr[:-1]]
        return np.where(known, self._of_nodes(self.labels_)[own], labels)

    @property
    def noise_score_(self) -> np.ndarray:
        check_is_fitted(self)
        # Found when it is first asked for: many fits are only after labels.
        if self._noise_score is None:
            is_noise = self._of_nodes(self.labels_) < 0
            scores = noise_scores(self.graph_, self._masses, is_noise, self.n_jobs)
            self._noise_score = self._of_rows(scores)
        return self._noise_score

    @property
    def probabilities_(self) -> np.ndarray:
        check_is_fitted(self)
        labels = self._of_nodes(self.labels_)
        steps = self.graph_.to_scipy("strengths")
        return self._of_rows(membership(steps + steps.T, labels, self.n_clusters_))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Membership of new points in each cluster, and last in the noise.

        Parameters
        ----------
        X : array (m, n_features)

        Returns
        -------
        ndarray (m, n_clusters + 1)
            Means of ``probabilities_`` over the points that a walk from here goes to; rows sum to 1.
        """
        check_is_fitted(self)
        return self._new_contexts(X).steps @ self._of_nodes(self.probabilities_)

    def _n_pairs(self, n: int, evidence: ClusterEvidence | None) -> int:
        if isinstance(self.n_clusters, str):
            number = evidence.n_clusters if evidence else 1
            return min(max(self.max_clusters, NOISE_DIRECTIONS, number), n - 1)
        if self.n_clusters > n:
            some = f"n_samples={n} points" if self._duplicates is None else f"{n} distinct row(s)"
            raise InvalidValueError(f"n_clusters={self.n_clusters}, but there are {some}.")
        return min(max(self.n_clusters, NOISE_DIRECTIONS), n - 1)

    def _split_noise(self, norms: np.ndarray, evidence: ClusterEvidence | None) -> np.ndarray:
        """Which nodes are noise; stores the threshold and where it came from."""
        self.noise_gain_, self.noise_doubt_ = None, False
        if isinstance(self.noise, str):
            split = split_norms(norms)
            if split.threshold > 0:
                # Nodes that only teleport visits are near the origin in clean data too: without them
                # there must be two groups as well.
                without = split_norms(norms[visited(self.graph_, self.beta)])
                split = split if without.threshold > 0 else without
            if evidence is not None:
                split = _confirmed(split, norms, evidence)
            self.noise_doubt_ = split.doubtful
            if split.doubtful:
                warn_user(DOUBT.format(split.nearer))
            self.noise_threshold_, self.noise_gain_ = split.threshold, split.gain
            return norms < self.noise_threshold_
        order = np.argsort(norms, kind="stable")
        n_rows = np.cumsum(self._multiplicity()[order])
        n, is_count = n_rows[-1], isinstance(self.noise, numbers.Integral)
        wanted = int(self.noise if is_count else round(self.noise * n))
        count = int(np.searchsorted(n_rows, wanted, side="right"))
        if len(norms) - count < self.n_clusters_:
            raise InvalidValueError(
                f"noise={self.noise!r} leaves {max(n - wanted, 0)} of n_samples={n} points for "
                f"{self.n_clusters_} clusters; give less noise."
            )
        is_noise = np.zeros(len(norms), dtype=bool)
        is_noise[order[:count]] = True
        self.noise_threshold_ = float(norms[order[count]]) if count else 0.0
        return is_noise

    def _assign(self, walk: Any, vectors: np.ndarray, is_noise: np.ndarray) -> None:
        """Labels of the points that are no noise, by rows of eigenvectors, the known one first."""
        c, seed = self.n_clusters_, self._seed()
        kept = np.flatnonzero(~is_noise)
        self._first, rows = 0, vectors[:, :c]
        if self.assign == "subspaces":
            labels, places, share = k_subspaces(rows[kept], c, random_state=seed)
            after = vectors[:, 1 : c + 1]
            if after.shape[1] == c and _walk_between(walk, kept, labels) > SEPARATE:
                other = k_subspaces(after[kept], c, random_state=seed)
                if other[2] > share:
                    self._first, rows, (labels, places, _) = 1, after, other
            assigned = relabel_by_first_occurrence(labels, places)
        else:
            assigned = assign_rows(unit_rows(rows[kept]), c, self.assign, seed)
        self.embedding_ = self._of_rows(rows)
        labels = np.full(len(vectors), -1)
        labels[kept], self._places = assigned
        self.labels_ = self._of_rows(labels)


def _confirmed(split: NoiseSplit, norms: np.ndarray, evidence: ClusterEvidence) -> NoiseSplit:
    """The split of norms if densities agree with it; otherwise as much noise as the densities show.

    Densities show noise on their own only if their valley is twice as deep as required.
    """
    is_sparse, sparsity = evidence.noise.is_noise, evidence.noise.sparsity
    near = norms < split.threshold
    n_near = np.count_nonzero(near)
    sparsest = np.argsort(-sparsity, kind="stable")[:n_near]
    both, either = np.count_nonzero(near & is_sparse), np.count_nonzero(near | is_sparse)
    same = both >= SAME_NOISE * either or np.count_nonzero(near[sparsest]) >= SPARSEST * n_near
    if n_near and same:
        return split
    is_deep = (
        len(evidence.noise.curve) and evidence.noise.curve[:, 1].max() >= 2.0 * MIN_VALLEY_DEPTH
    )
    count = np.count_nonzero(is_sparse) if is_deep else 0
    return split._replace(threshold=float(np.sort(norms)[count]) if count else 0.0)


def _walk_between(walk: Any, kept: np.ndarray, labels: np.ndarray) -> float:
    """Share of the steps of a walk, among the nodes that are kept, from one cluster to another."""
    # pi_i P_ij, symmetrised, is root_i Theta_ij root_j: summed here by the clusters of i and j.
    shape = (len(walk.trivial_vector), int(labels.max()) + 1)
    roots = sparse.csr_array((walk.trivial_vector[kept], (kept, labels)), shape=shape)
    flow = (roots.T @ (walk.sparse_part @ roots)).toarray()
    total = float(flow.sum())
    return 1.0 - float(np.trace(flow)) / total if total > 0 else 0.0


def _check_noise(noise: Any) -> None:
    if isinstance(noise, str):
        check_choice(noise, "noise", ("auto",))
    elif isinstance(noise, numbers.Integral) and not isinstance(noise, bool):
        check_count(noise, "noise", low=0)
    else:
        check_real(noise, "noise", low=0.0, high=1.0 - 1e-12, remedy="A share is below 1.")
