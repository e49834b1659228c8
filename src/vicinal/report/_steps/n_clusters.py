"""The number of clusters: densities, communities and spectra, and stability under perturbation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from vicinal import graphs
from vicinal._core.parallel import progress_bar, together
from vicinal.cluster._eigengap import n_clusters_by_gap, relative_gaps
from vicinal.cluster._evidence_result import expand_to_rows
from vicinal.cluster._number import Spectrum, choose_number
from vicinal.cluster._perceptual_spectrum import PerceptualSpectrum
from vicinal.graphs._build.duplicates import find_duplicates
from vicinal.graphs._build.jitter import perturbed_replicates
from vicinal.report._shared_inputs import SharedInputs, sampled_rows

# Explanation by the kind of evidence that the number was chosen from.
REASONS = {
    "density": "the density valleys between them are deeper than expected by chance",
    "communities": "rows within them are linked more strongly than expected by chance",
    "none": "neither densities nor communities differ from chance in one cluster",
}
MAX_STABILITY_CLUSTERS = 10
# Noise in units of the mean distance to five neighbours.
N_REPLICATES, NOISE, N_LOCAL_NEIGHBORS = 4, 0.4, 5
# Maximum number of rows that are clustered repeatedly.
MAX_STABILITY_ROWS = 1000


class ClusterCount(NamedTuple):
    """The number of clusters and the evidence for it.

    Attributes
    ----------
    n_clusters : int
        Number of clusters to look for; clusters without rows are dropped later.
    why : str
        Explanation of the choice.
    perceptual_gaps, tree_gaps : ndarray
        Relative eigengaps of the contextual digraph and of the spanning trees for 1, 2, ... clusters;
        the first entry is the threshold for the others.
    n_gap_rows : int
        Number of distinct rows that the eigengaps were computed of; at most 15,000.
    stability : ndarray (m, 2)
        Numbers of clusters, and the mean adjusted Rand index between the clusters of the rows and of
        perturbed rows, on ``n_rows`` distinct rows.
    n_rows : int
        Number of rows that the stability was measured on.
    """

    n_clusters: int
    why: str
    perceptual_gaps: np.ndarray
    tree_gaps: np.ndarray
    n_gap_rows: int
    stability: np.ndarray
    n_rows: int

    def stability_of(self, n_clusters: int) -> float:
        """Stability of a number of clusters; NaN if it was not measured."""
        index = np.flatnonzero(self.stability[:, 0] == n_clusters)
        return float(self.stability[index[0], 1]) if len(index) else float("nan")


def count_clusters(inputs: SharedInputs, requested: int | str) -> ClusterCount:
    """Choose the number unless it is given; measure the stability of all numbers."""
    chosen, why, perceptual, trees = automatic_number(inputs)
    if isinstance(requested, int):
        chosen, why = (
            requested,
            f"{requested} requested (automatic choice: {chosen}, because {why})",
        )
    rows = inputs.points[inputs.sample]
    rows = rows[sampled_rows(len(rows), MAX_STABILITY_ROWS, inputs.seed)]
    rows = rows[find_duplicates(rows).representative]
    # A small sample cannot be split into as many clusters as the whole table.
    max_clusters = len(rows) // 3
    candidates = {*range(2, min(MAX_STABILITY_CLUSTERS, max_clusters) + 1)}
    candidates |= {chosen} if 1 < chosen <= max_clusters else set()
    inputs.n_clusters = chosen
    n_gap_rows = len(inputs.compared.distinct)
    del inputs.compared  # its graphs are not needed again
    # Eigenpairs of all rows, which other steps use, are solved beside it, as most of it is serial.
    tasks: list[Callable[[], Any]] = [
        lambda: _stability_curve(rows, sorted(candidates), inputs),
        lambda: inputs.spectrum,
        lambda: inputs.tree_pairs,
    ]
    stability, _, _ = together(*tasks)
    return ClusterCount(chosen, why, perceptual, trees, n_gap_rows, stability, len(rows))


def automatic_number(inputs: SharedInputs) -> tuple[int, str, np.ndarray, np.ndarray]:
    """The number of clusters, why it was chosen, and the eigengaps of the digraph and of the trees.

    The spectrum with the largest eigengap is combined with the evidence as in the estimators.
    """
    # What threads share is computed before. Each of them is serial in part, so they run at once.
    _ = inputs.neighbors, inputs.context
    together(*(partial(getattr, inputs, name) for name in ("evidence", "digraph", "trees")))
    evidence, compared = inputs.evidence, inputs.compared
    _ = compared.neighbors, compared.context
    together(*(partial(getattr, compared, name) for name in ("spectrum", "tree_pairs")))
    n_gaps, pairs = compared.n_gaps, compared.tree_pairs
    perceptual = relative_gaps(np.concatenate([[1.0], compared.spectrum.pairs.values[:n_gaps]]))
    trees = relative_gaps(pairs.values[: n_gaps + 1])[: len(compared.distinct)]
    best, why = _best_gaps(perceptual, trees)
    known = evidence if evidence.prominence else None
    if best is perceptual:
        chosen = choose_number(best, known, inputs.distinct, compared.spectrum.leading)
    else:
        spectrum = Spectrum(compared.tree_affinity, pairs.vectors, inputs.seed, inputs.n_jobs)
        known = known and expand_to_rows(known, inputs.duplicates.group)
        chosen = choose_number(best, known, inputs.points, spectrum)
    if evidence.prominence and chosen == evidence.n_clusters != n_clusters_by_gap(best):
        why = REASONS[evidence.source]
    elif chosen != n_clusters_by_gap(best):
        why += f"; within these, without noise or on another graph, {chosen} clusters are separate"
    return chosen, why, perceptual, trees


def _best_gaps(perceptual: np.ndarray, trees: np.ndarray) -> tuple[np.ndarray, str]:
    """The spectrum with the largest gap, and what it says about the number of clusters."""
    gaps = {"the contextual digraph": perceptual, "the spanning trees": trees}
    best = {name: n_clusters_by_gap(curve) for name, curve in gaps.items()}
    name = max(gaps, key=lambda n: gaps[n].max(initial=0.0) if best[n] > 1 else 0.0)
    n = best[name]
    if n == 1:
        return gaps[name], "neither spectrum has a significant eigengap"
    (other,) = gaps.keys() - {name}
    if best[other] == n:
        reason = f"the eigengaps of {name} and of {other} are both largest at {n} clusters"
        return gaps[name], reason
    other_gap = "is not significant" if best[other] == 1 else f"is smaller, at {best[other]}"
    reason = f"the largest eigengap of {name} is at {n} clusters; that of {other} {other_gap}"
    return gaps[name], reason


def _stability_curve(rows: np.ndarray, candidates: list[int], inputs: SharedInputs) -> np.ndarray:
    if not candidates:
        return np.empty((0, 2))
    k = min(inputs.context, len(rows) - 1)
    replicates = [rows, *_perturbed(rows, inputs)]
    title = "stability" if inputs.verbose > 0 else None
    labels = []
    with progress_bar(len(replicates), title) as bar:
        for points in replicates:
            spectrum = PerceptualSpectrum(
                graphs.contextual(points, k, n_jobs=inputs.n_jobs),
                candidates[-1],
                noise=inputs.noise,
                random_state=inputs.seed,
                n_jobs=inputs.n_jobs,
            )
            labels.append([spectrum.cluster(n_clusters).labels_ for n_clusters in candidates])
            bar.update()
    first, *others = labels
    curve = [
        [n_clusters, np.mean([agreement(first[i], other[i]) for other in others])]
        for i, n_clusters in enumerate(candidates)
    ]
    return np.array(curve).reshape(-1, 2)


def _perturbed(rows: np.ndarray, inputs: SharedInputs) -> list[np.ndarray]:
    """Copies of the rows, moved by a fraction of the distance to their neighbours."""
    n_neighbors = min(N_LOCAL_NEIGHBORS, len(rows) - 1)
    replicates = perturbed_replicates(
        rows, "euclidean", N_REPLICATES, NOISE, n_neighbors, inputs.seed
    )
    return [replicates.make(i) for i in range(N_REPLICATES)]


def agreement(a: np.ndarray, b: np.ndarray) -> float:
    """Adjusted Rand index of two clusterings, on rows that are noise in neither."""
    known = (a >= 0) & (b >= 0)
    return float(adjusted_rand_score(a[known], b[known])) if known.any() else 0.0
