"""`PerceptualClustering`: clusters as subspaces of the perceptual embedding, after removing noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import ClusterMixin

from vicinal._base.chunked_fit import chunked_fit
from vicinal._base.row_assignment import (
    number_by_first_occurrence,
    relabel_by_first_occurrence,
    unit_rows,
)
from vicinal._core.parallel import one_blas_thread
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal._core.warn import warn_user
from vicinal.cluster._automatic import (
    AutomaticClusters,
    check_max_clusters,
    is_evidence_better,
    points_to_choose_by,
)
from vicinal.cluster._constrained import ConstrainedClusters
from vicinal.cluster._directions import cluster_directions
from vicinal.cluster._noise import check_noise, detect_noise, given_noise
from vicinal.cluster._perceptual_prediction import PerceptualPrediction
from vicinal.cluster._rarely_visited import follow_steps
from vicinal.evidence.gaps import n_clusters_by_gap, relative_gaps
from vicinal.exceptions import InvalidValueError
from vicinal.operators.eigenpairs import Eigenpairs

if TYPE_CHECKING:
    from vicinal._base.perceptual_estimator import Walk
    from vicinal._core.types import ArrayLike, DescriptorLike, NJobs, RandomStateLike
    from vicinal.evidence.result import ClusterEvidence
    from vicinal.graphs.graph import Graph

# Minimum number of eigenvectors for the norms; 5 to 12 separate noise equally well.
NOISE_DIRECTIONS = 5
TOLERANCE = 1e-6
DOUBTFUL_NOISE = (
    "noise could not be separated reliably: embedding norms look bimodal ({:.0%} of the points in the lower "
    "mode) but the modes overlap. No point was labelled as noise. Pass noise=0 to silence this, or the "
    "expected fraction of noise."
)


class PerceptualClustering(
    ConstrainedClusters, AutomaticClusters, ClusterMixin, PerceptualPrediction
):
    """Cluster points in heavy noise.

    Points are embedded by the walk on their contextual digraph (`PerceptualEmbedding`), where clusters lie
    near linear subspaces through the origin, and noise near the origin. By default, noise is found by its
    density; the other points are clustered by direction. Duplicates get the same cluster.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters without noise, chosen as by `SpectralClustering` with "auto".
    noise : "auto", int or float, default="auto"
        Number (int) or fraction (float in [0, 1)) of points labelled -1: those nearest to the origin. It may
        be slightly fewer so that duplicates keep the same label. "auto" labels points whose density is too
        low for their cluster, if a mixture of clusters and background noise is clearly more likely than
        clusters alone, and single points that are too sparse for any cluster. For digraphs without points
        it splits the norms if their distribution is clearly bimodal, also without the nodes that are in no
        context.
    min_cluster_size : int, optional
        Smaller clusters are dissolved, the smallest first: their points get the next best cluster, and there
        are fewer clusters.
    max_cluster_size : int, optional
        From larger clusters, the points that fit other clusters best are moved there. With
        ``n_clusters="auto"``, there are enough clusters for all points.
    assign : {"subspaces", "kmeans", "discretize"}, default="subspaces"
        How the other points are assigned to clusters: by k-subspaces, or by the directions of the rows as in
        `SpectralClustering`. With the global Laplacian, points that the walk almost never visits belong to
        the cluster that their own steps lead to.
    max_clusters : int or "auto", default="auto"
        Maximum number of clusters by the eigengap, as for `SpectralClustering`.
    n_neighbors : int, default=10
        Number K of neighbours in a context.
    descriptor : {"coding_length", "centroid"} or callable, default="coding_length"
        Structure of a context, see `vicinal.contextual_distance`.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" compares directions only: points are scaled to length 1.
    epsilon : float, optional
        Distortion of the coding length.
    beta : float, default=0.99999
        Probability of following an edge; otherwise the walk jumps to a random point.
    laplacian : {"global", "aligned"}, default="global"
        Formula (10) of [1], or the alignment of all local Laplacians (formulas 4 to 9).
    random_state : int, RandomState or None, default=None
        Seed of the eigensolver, and of the assignment to a given number of clusters.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Show progress bars if greater than 0.

    Attributes
    ----------
    labels_ : ndarray of int of shape (n,)
        Cluster of each point, numbered by first occurrence; -1 for noise. With "auto", clusters of the
        evidence are compared with those by eigenvectors, as in `SpectralClustering`.
    n_clusters_ : int
        Number of clusters.
    noise_score_ : ndarray of shape (n,)
        Between 0 and 1: above 0.5 for points labelled -1 and below for the others. Within both groups it
        increases with the mean log distance of a point to 8 neighbours, or to small samples of the points,
        whichever is more unusual. At the fence of a boxplot of these distances it is 0.25, or 0.75 for label
        -1, for any data. Without points it follows the stationary distribution.
    noise_threshold_ : float
        Norm below which a point is noise. With ``noise="auto"`` it is 0 if densities decide: see
        ``cluster_evidence_.noise`` for their threshold and its curve.
    noise_gain_ : float or None
        With ``noise="auto"``, the gain of two modes over one for the norms (penalised log-likelihood per
        point). If norms decide, noise needs at least 0.1 and a valley between the modes.
    noise_doubt_ : bool
        With ``noise="auto"``, whether no noise was found although there is a large lower mode of norms, which
        causes a warning: it may be the thin edge of clean clusters, or heavy noise.
    norms_ : ndarray of shape (n,)
        Distances from the origin, which the threshold applies to.
    embedding_ : ndarray of shape (n, n_clusters)
        The rows assigned to clusters, each of which is near a line: the first ``n_clusters_`` eigenvectors.
        If the clusters are connected, the first eigenvector (the root of the stationary distribution) does
        not separate them; with "subspaces" the ``n_clusters_`` eigenvectors after it are used instead if
        lines explain more of them.
    eigenvalues_ : ndarray
        Eigenvalues after the first, which is 1.
    eigengaps_ : ndarray
        With ``n_clusters="auto"``, entry k - 1 is the evidence for k clusters; for more than 15,000 distinct
        points, that of a sample.
    n_clusters_candidates_ : list of (int, float)
        With "auto" on points, candidate numbers of clusters with their scores, as for `SpectralClustering`.
    cluster_evidence_ : ClusterEvidence
        With "auto" on points, the evidence for the number of clusters and for noise.
    cluster_layers_ : list of Layer
        With "auto" on points, nested clusters from coarse to fine.
    evidence_left_out_ : tuple of str
        With "auto", the measurements that X does not allow, as for `SpectralClustering`.
    probabilities_ : ndarray of shape (n, n_clusters + 1)
        Membership of each point in each cluster, smoothed over its neighbours, and in the last column in the
        noise: a probability with ``noise="auto"`` on points, otherwise 0 or 1. Rows sum to 1.
    stationary_ : ndarray of shape (n,)
        Stationary distribution of the walk.
    graph_ : Graph
        Contextual digraph of the distinct rows.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.

    Examples
    --------
    >>> from vicinal import PerceptualClustering
    >>> from vicinal.datasets import make_half_cylinders
    >>> X, truth = make_half_cylinders(400, 300, random_state=0)
    >>> model = PerceptualClustering(2, random_state=0).fit(X)
    >>> sorted(set(model.labels_.tolist()))
    [-1, 0, 1]
    """

    _accepts_chunks = True

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        noise: float | Literal["auto"] = "auto",
        min_cluster_size: int | None = None,
        max_cluster_size: int | None = None,
        assign: Literal["subspaces", "kmeans", "discretize"] = "subspaces",
        max_clusters: int | Literal["auto"] = "auto",
        n_neighbors: int = 10,
        descriptor: DescriptorLike = "coding_length",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        epsilon: float | None = None,
        beta: float = 0.99999,
        laplacian: Literal["global", "aligned"] = "global",
        random_state: RandomStateLike = None,
        n_jobs: NJobs = -1,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.noise = noise
        self.min_cluster_size = min_cluster_size
        self.max_cluster_size = max_cluster_size
        self.assign = assign
        self.max_clusters = max_clusters
        self.n_neighbors = n_neighbors
        self.descriptor = descriptor
        self.metric = metric
        self.epsilon = epsilon
        self.beta = beta
        self.laplacian = laplacian
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @chunked_fit
    @one_blas_thread()
    def fit(
        self,
        X: ArrayLike | Graph,
        y: object = None,
        *,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> PerceptualClustering:
        """Cluster points, or the nodes of a digraph whose strengths are its weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features), or Graph
            Points or a digraph. For sparse points, as for a digraph, "auto" chooses the number of clusters
            and noise by the walk alone. For a dask array of points, results with one row per point are dask
            arrays in its chunks.
        y : None
            Ignored.
        must_link : array-like of int of shape (m, 2), optional
            Pairs of rows that get the same cluster, and are not labelled as noise.
        cannot_link : array-like of int of shape (m, 2), optional
            Pairs of rows that get different clusters, and are not labelled as noise. With
            ``n_clusters="auto"``, there are as many clusters as they need. Constraints that contradict each
            other are an error.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._given_pairs = must_link, cannot_link
        if isinstance(self.n_clusters, str):
            check_choice(self.n_clusters, "n_clusters", ("auto",))
        else:
            check_count(self.n_clusters, "n_clusters")
        check_max_clusters(self.max_clusters)
        check_choice(self.assign, "assign", ("subspaces", "kmeans", "discretize"))
        check_noise(self.noise)

        walk = self._build_walk(X)
        automatic = isinstance(self.n_clusters, str) or isinstance(self.noise, str)
        self._without_evidence()
        evidence = None
        if automatic:
            evidence = self._estimate(points_to_choose_by(self.graph_), self.n_jobs)
        rows = None if self._duplicates is None else self._duplicates.group
        self._read_constraints(self._multiplicity(), rows)
        pairs = self._eigenpairs(walk, self._n_pairs(walk.shape[0], evidence), TOLERANCE)
        self._cluster(walk, pairs, evidence)
        labels = self._constrained(
            self._of_nodes(self.labels_), unit_rows(self._of_nodes(self.embedding_))
        )
        self.labels_ = self._of_rows(labels)
        self._reset_ids()
        return self

    def _clustered_points(self) -> Any:
        points = self.graph_.points
        return self._of_rows(points) if isinstance(points, np.ndarray) else None

    def _cluster(
        self,
        walk: Walk,
        pairs: Eigenpairs,
        evidence: ClusterEvidence | None,
        detected: dict[Any, Any] | None = None,
    ) -> PerceptualClustering:
        """Separate noise and assign the other nodes, given at least `_n_pairs` eigenpairs.

        ``detected`` keeps the noise found by norms between calls that differ in the number of clusters only.
        """
        self.eigenvalues_ = pairs.values
        if not isinstance(self.n_clusters, str):
            self.n_clusters_ = self.n_clusters
        else:
            self.eigengaps_ = relative_gaps(np.concatenate([[1.0], pairs.values]))
            number = n_clusters_by_gap(self.eigengaps_)
            if evidence:
                number, self.eigengaps_ = evidence.n_clusters, evidence.gaps
            self.n_clusters_ = min(max(number, self._min_clusters), len(pairs.vectors))
        leading = pairs.vectors[:, : max(NOISE_DIRECTIONS, self.n_clusters_ - 1)]
        self._directions = np.ascontiguousarray(leading)
        norms = np.linalg.norm(self._directions, axis=1)
        is_noise = self._split_noise(norms, evidence, {} if detected is None else detected)
        self.norms_ = self._of_rows(norms)
        self._noise_score = None
        self._assign(walk, np.column_stack([walk.trivial_vector, pairs.vectors]), is_noise)
        self._is_by_evidence = isinstance(self.n_clusters, str) and self._use_evidence(evidence)
        return self

    def _n_pairs(self, n: int, evidence: ClusterEvidence | None) -> int:
        if isinstance(self.n_clusters, str):
            limit = evidence.n_clusters if evidence else self._max_candidates(self._mutual_steps())
            return min(max(limit, NOISE_DIRECTIONS, self._min_clusters), n - 1)
        if self.n_clusters > n:
            available = (
                f"n_samples={n} points" if self._duplicates is None else f"{n} distinct row(s)"
            )
            raise InvalidValueError(f"n_clusters={self.n_clusters}, but there are {available}.")
        return min(max(self.n_clusters, NOISE_DIRECTIONS), n - 1)

    def _split_noise(
        self, norms: np.ndarray, evidence: ClusterEvidence | None, detected: dict[Any, Any]
    ) -> np.ndarray:
        """Which nodes are noise; stores the threshold and its evidence."""
        self.noise_gain_, self.noise_doubt_, self._noise_probability = None, False, None
        if isinstance(self.noise, str):
            key = self._directions.shape[1], evidence is None
            if key not in detected:
                detected[key] = detect_noise(norms, self.graph_, self.beta, evidence)
            split, is_noise = detected[key]
            if np.count_nonzero(~is_noise) < self.n_clusters_:
                is_noise = np.zeros_like(is_noise)
            self.noise_doubt_ = split.doubtful and not is_noise.any()
            if self.noise_doubt_:
                warn_user(DOUBTFUL_NOISE.format(split.lower_fraction))
            self.noise_threshold_, self.noise_gain_ = split.threshold, split.gain
            if evidence is not None and np.array_equal(is_noise, evidence.noise.is_noise):
                self._noise_probability = evidence.noise.score
            return is_noise
        is_noise, self.noise_threshold_ = given_noise(
            norms, self._multiplicity(), self.noise, self.n_clusters_
        )
        return is_noise

    def _assign(self, walk: Walk, vectors: np.ndarray, is_noise: np.ndarray) -> None:
        """Cluster the nodes that are not noise by rows of eigenvectors, starting with the trivial one."""
        kept = np.flatnonzero(~is_noise)
        found = cluster_directions(
            walk, vectors, kept, self.n_clusters_, self.assign, self._assignment_seed()
        )
        used = slice(found.first, found.first + self.n_clusters_)
        # Contiguous rows, because `predict` reads those of a few neighbours.
        self.embedding_ = np.ascontiguousarray(self._of_rows(vectors[:, used]))
        self._embedding_values = np.concatenate([[1.0], self.eigenvalues_])[used]
        labels = np.full(len(vectors), -1)
        labels[kept] = found.labels
        if self.laplacian == "global":
            labels = follow_steps(self.graph_.to_scipy("strengths"), self._masses, labels)
        labels[kept], self._centers = relabel_by_first_occurrence(labels[kept], found.centers)
        self.labels_ = self._of_rows(labels)

    def _use_evidence(self, evidence: ClusterEvidence | None) -> bool:
        """Replace the labels by those of the evidence if these separate the nodes better."""
        labels = self._of_nodes(self.labels_)
        if not evidence or not is_evidence_better(evidence, labels, self._mutual_steps()):
            return False
        kept = labels >= 0
        labels[kept] = number_by_first_occurrence(evidence.labels[kept])
        self.labels_ = self._of_rows(labels)
        return True
