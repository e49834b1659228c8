"""The number of clusters by the eigengaps of a graph and the evidence of its points."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._base.perceptual_estimator import contextual_of_distinct
from vicinal._base.row_assignment import assign_rows, unit_rows
from vicinal._core.parallel import map_threads, one_blas_thread
from vicinal.cluster._density_views import (
    MAX_POINTS,
    canonical_groups,
    count_modes,
    sample_points,
)
from vicinal.cluster._eigengap import MIN_EIGENGAP, n_clusters_by_gap, relative_gaps
from vicinal.cluster._evidence import MIN_NOISE_TO_REPEAT
from vicinal.cluster._evidence_result import ClusterEvidence
from vicinal.cluster._modes_and_communities import modes_and_communities
from vicinal.cluster._spectral_labels import TOLERANCE
from vicinal.graphs._build.duplicates import find_duplicates
from vicinal.graphs.neighborhoods import knn
from vicinal.operators.digraph import SymmetricWalk
from vicinal.operators.eigenpairs import Eigenpairs, leading_eigenpairs, walk_eigenpairs

if TYPE_CHECKING:
    from vicinal._core.types import MatrixLike, NJobs, SparseMatrix

# Eigengaps of at least this many clusters are compared.
MIN_CANDIDATES = 20
# A gap has to be this many times the minimum if the evidence finds at most half as many clusters. An annulus
# has 1.04, half-cylinders in noise 1.9.
UNSUPPORTED_FACTOR = 1.5
# Minimum gap at exactly the number of density modes, if these are more than two: two by chance are common.
# Parts of spirals have at most 1.2.
MIN_AGREEING = MIN_EIGENGAP / UNSUPPORTED_FACTOR
# Other graphs are tried if the largest gap is smaller: 4 times the minimum.
CLEAR_EIGENGAP = 10.0
# Neighbours of graphs that are built to find a gap. With 7 the largest gap of uniform and normal samples of
# 50 to 1,000 points, of rings and of rolls exceeds the unsupported minimum once in 200 samples; with 5, rings
# of 200 points break at gaps that occur by chance.
N_NEIGHBORS, N_FEW_NEIGHBORS = 10, 7
# Smaller parts of a cluster are a few outliers; densities do not support them. Where noise was removed,
# smaller clusters are groups of remaining noise points; they are removed in at most this many rounds.
MIN_PART, MAX_ROUNDS = 15, 5


class Spectrum(NamedTuple):
    """Symmetric affinities of nodes, leading eigenvectors, and the settings to cluster by them.

    ``is_contextual`` says that they belong to the contextual digraph.
    """

    weights: MatrixLike
    vectors: np.ndarray
    seed: int
    n_jobs: NJobs = -1
    is_contextual: bool = False


def choose_number(
    gaps: np.ndarray,
    evidence: ClusterEvidence | None,
    points: np.ndarray | None,
    spectrum: Spectrum,
) -> int:
    """Number of clusters by the eigengap and the evidence.

    A significant gap rarely indicates too many clusters, but the largest one often comes after a coarse
    split, so each of its clusters is examined by itself. Communities decide unless a clear gap separates
    clusters without communities. Where the evidence finds far fewer clusters, the gap has to be larger. On a
    line, graphs break at any gap that occurs by chance, so the evidence decides. Noise connects clusters, so
    the gap is that of a neighbour graph without noise points, and without small groups of noise points that
    were not detected; many points are sampled. A graph without a clear gap may link clusters that are close
    to each other, so a sparser one and the contextual digraph are tried.

    Parameters
    ----------
    gaps : ndarray (m,)
        Relative eigengaps.
    evidence : ClusterEvidence or None
        Evidence of the points; None if there is none.
    points : ndarray or None
        The points; without them, the gap decides.
    spectrum : Spectrum
        The affinities and eigenvectors that the gaps belong to.
    """
    if evidence is None or points is None:
        return n_clusters_by_gap(gaps)
    if points.shape[1] == 1:
        return evidence.n_clusters
    if evidence.noise.is_noise.mean() >= MIN_NOISE_TO_REPEAT or len(points) > MAX_POINTS:
        seed, n_jobs, is_contextual = spectrum.seed, spectrum.n_jobs, spectrum.is_contextual
        return number_by_sample(evidence, points, len(gaps), seed, n_jobs, is_contextual)[0]
    return _number_of_graph(gaps, evidence, points, spectrum)


def number_by_sample(
    evidence: ClusterEvidence,
    points: np.ndarray,
    n_gaps: int,
    seed: int,
    n_jobs: NJobs,
    is_contextual: bool = False,
) -> tuple[int, np.ndarray]:
    """Number of clusters by a graph of a sample of the points that are not noise, and its gaps.

    More eigenpairs of a graph of all points than there are clusters would cost more than its clustering.
    The graph is that of 10 neighbours or, with ``is_contextual`` and without noise, the contextual digraph.
    """
    clean = points[~evidence.noise.is_noise]
    sample = sample_points(clean[canonical_groups(clean).representative])
    has_noise = len(clean) <= (1 - MIN_NOISE_TO_REPEAT) * len(points)
    if is_contextual and not has_noise:
        gaps, spectrum = _contextual_spectrum(sample, n_gaps, seed, n_jobs)
    else:
        gaps, spectrum = _neighbor_spectrum(sample, N_NEIGHBORS, n_gaps, seed, n_jobs)
    if points.shape[1] == 1:
        return evidence.n_clusters, gaps
    return _number_of_graph(gaps, evidence, sample, spectrum, has_noise), gaps


def _number_of_graph(
    gaps: np.ndarray,
    evidence: ClusterEvidence,
    points: np.ndarray,
    spectrum: Spectrum,
    has_noise: bool = False,
    n_rounds: int = MAX_ROUNDS,
) -> int:
    """`choose_number` of at most `MAX_POINTS` points without noise.

    If noise was removed (``has_noise``), small clusters are groups of remaining noise points, and the number
    is that of a graph without them.
    """
    if evidence.source == "communities":
        return _number_despite_communities(gaps, evidence, points, spectrum)
    # A full sample is so dense that 10 neighbours do not link clusters either.
    if gaps.max(initial=0.0) < CLEAR_EIGENGAP and len(points) < MAX_POINTS:
        points, gaps, spectrum = _clearest_spectrum(points, gaps, spectrum)
    n_gap = _significant_number(gaps, evidence.n_clusters)
    if n_gap == 1:
        return evidence.n_clusters
    members = _members(spectrum, n_gap)
    large = [rows for rows in members if len(rows) >= MIN_PART]
    if has_noise and n_rounds > 0 and 0 < len(large) < len(members):
        points = points[np.sort(np.concatenate(large))]
        seed, n_jobs = spectrum.seed, spectrum.n_jobs
        gaps, spectrum = _neighbor_spectrum(points, N_NEIGHBORS, len(gaps), seed, n_jobs)
        return _number_of_graph(gaps, evidence, points, spectrum, has_noise, n_rounds - 1)
    n_modes = [1] * len(members)
    if evidence.n_clusters > n_gap:
        with one_blas_thread():
            n_modes = map_threads(
                lambda rows: count_modes(points[rows], n_jobs=1), members, spectrum.n_jobs
            )
    return n_gap + _n_further(points, members, n_modes, spectrum)


def _significant_number(gaps: np.ndarray, n_supported: int) -> int:
    """Number of clusters with the largest gap; 1 if it is not significant, given the number by densities."""
    number = n_clusters_by_gap(gaps)
    factor = UNSUPPORTED_FACTOR if 2 * n_supported <= number else 1.0
    return number if gaps.max(initial=0.0) >= factor * MIN_EIGENGAP else 1


def _number_despite_communities(
    gaps: np.ndarray, evidence: ClusterEvidence, points: np.ndarray, spectrum: Spectrum
) -> int:
    """Number of communities, unless a clear gap separates clusters none of which has communities."""
    n_gap = _significant_number(gaps, 1)
    if n_gap == 1:
        return evidence.n_clusters
    members = _members(spectrum, n_gap)
    have_communities: list[np.ndarray] = []

    def examine(rows: np.ndarray) -> int:
        if have_communities:
            return 1  # the answer is known
        n_modes, found = modes_and_communities(points[rows], n_jobs=1)
        if found:
            have_communities.append(rows)
        return n_modes

    with one_blas_thread():
        n_modes = map_threads(examine, members, spectrum.n_jobs)
    if have_communities:
        return evidence.n_clusters
    return n_gap + _n_further(points, members, n_modes, spectrum)


def _members(spectrum: Spectrum, n_clusters: int) -> list[np.ndarray]:
    """Nodes of each cluster by eigenvectors."""
    rows = unit_rows(spectrum.vectors[:, :n_clusters])
    labels = assign_rows(rows, n_clusters, "kmeans", spectrum.seed).labels
    return [np.flatnonzero(labels == c) for c in np.unique(labels)]


def _clearest_spectrum(
    points: np.ndarray, gaps: np.ndarray, spectrum: Spectrum
) -> tuple[np.ndarray, np.ndarray, Spectrum]:
    """Points, gaps and spectrum of the graph with the largest gap: the given or another one."""
    distinct = points[find_duplicates(points).representative]
    seed, n_jobs = spectrum.seed, spectrum.n_jobs
    other_gaps, other = _neighbor_spectrum(distinct, N_FEW_NEIGHBORS, len(gaps), seed, n_jobs)
    other = other._replace(is_contextual=spectrum.is_contextual)
    if other_gaps.max(initial=0.0) < CLEAR_EIGENGAP and not spectrum.is_contextual:
        contextual_gaps, contextual = _contextual_spectrum(distinct, len(gaps), seed, n_jobs)
        if contextual_gaps.max(initial=0.0) > other_gaps.max(initial=0.0):
            other_gaps, other = contextual_gaps, contextual
    if other_gaps.max(initial=0.0) > gaps.max(initial=0.0):
        return distinct, other_gaps, other
    return points, gaps, spectrum


def _neighbor_spectrum(
    points: np.ndarray, k: int, n_gaps: int, seed: int, n_jobs: NJobs
) -> tuple[np.ndarray, Spectrum]:
    """Relative eigengaps of the graph of k neighbours of distinct points, and its spectrum."""
    weights = knn(points, min(k, len(points) - 1), n_jobs=n_jobs).affinity()
    pairs = _leading_pairs(weights, n_gaps, seed, n_jobs)
    return relative_gaps(pairs.values), Spectrum(weights, pairs.vectors, seed, n_jobs)


def _contextual_spectrum(
    points: np.ndarray, n_gaps: int, seed: int, n_jobs: NJobs
) -> tuple[np.ndarray, Spectrum]:
    """Relative eigengaps of the contextual digraph of distinct points, and its spectrum."""
    n = len(points)
    digraph = contextual_of_distinct(points, min(N_NEIGHBORS, n - 1), n_jobs=n_jobs)
    walk = SymmetricWalk(digraph)
    pairs = walk_eigenpairs(
        walk,
        min(n_gaps, n - 1),
        tolerance=TOLERANCE,
        random_state=seed,
    )
    gaps = relative_gaps(np.concatenate([[1.0], pairs.values]))
    steps = digraph.to_scipy("strengths")
    vectors = np.column_stack([walk.trivial_vector, pairs.vectors])
    return gaps, Spectrum(steps + steps.T, vectors, seed, n_jobs, is_contextual=True)


def _leading_pairs(weights: SparseMatrix, n_gaps: int, seed: int, n_jobs: NJobs) -> Eigenpairs:
    return leading_eigenpairs(
        weights,
        min(n_gaps + 1, weights.shape[0]),
        tolerance=TOLERANCE,
        random_state=seed,
        n_jobs=n_jobs,
    )


def _n_further(
    points: np.ndarray, members: list[np.ndarray], n_modes: list[int], spectrum: Spectrum
) -> int:
    """How many clusters there are within all clusters of the eigengap, in excess of these."""
    alone = spectrum._replace(n_jobs=1)
    with one_blas_thread():
        numbers = map_threads(
            lambda part: _n_within(points, *part, alone),
            list(zip(members, n_modes, strict=True)),
            spectrum.n_jobs,
        )
    return sum(numbers) - len(numbers)


def _n_within(points: np.ndarray, rows: np.ndarray, n_modes: int, spectrum: Spectrum) -> int:
    """Number of clusters within a cluster of the eigengap, by its own eigengap and number of density modes.

    Density modes alone do not count: along a ring, densities vary by chance, and along a curve they may vary
    without a valley between clusters.
    """
    if max(n_modes, len(rows) // MIN_PART) < 2:
        return 1
    n_gaps, seed, n_jobs = max(MIN_CANDIDATES, n_modes), spectrum.seed, spectrum.n_jobs
    if spectrum.is_contextual:
        # Contexts of few points are so thin that they break by chance; neighbours do not.
        gaps, own = _neighbor_spectrum(points[rows], N_NEIGHBORS, n_gaps, seed, n_jobs)
    else:
        weights = sparse.csr_array(spectrum.weights)[rows][:, rows]
        pairs = _leading_pairs(weights, n_gaps, seed, n_jobs)
        gaps, own = relative_gaps(pairs.values), spectrum._replace(vectors=pairs.vectors)
    if n_modes > 2 and np.argmax(gaps[1:]) + 2 == n_modes and gaps[n_modes - 1] >= MIN_AGREEING:
        return n_modes
    n_gap = _significant_number(gaps, n_modes)
    if n_gap == 1:
        return 1
    if n_modes == 1:
        parts = _members(own, n_gap)
        if min(map(len, parts)) < MIN_PART:
            return 1
    return max(n_gap, n_modes)
