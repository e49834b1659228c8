"""The number of clusters: densities, communities and spectra, and stability under perturbation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from vicinal import graphs
from vicinal._core.parallel import progress_bar, together
from vicinal.cluster._perceptual_spectrum import PerceptualSpectrum
from vicinal.evidence.result import ClusterEvidence
from vicinal.graphs._build.duplicates import find_duplicates
from vicinal.graphs._build.jitter import perturbed_replicates
from vicinal.report._shared_inputs import SharedInputs, sampled_rows

# Explanation by the measurement that the number was chosen by, and its name in a sentence.
REASONS = {
    "gap": "a gap in the spectrum of the neighbour graph separates them",
    "density": "the density valleys between them are deeper than expected by chance",
    "communities": "rows within them are linked more strongly than expected by chance",
    "none": "neither the spectrum, nor densities, nor communities differ from those of one cluster",
}
NAMES = {"gap": "the spectrum", "density": "density valleys", "communities": "communities"}
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
    gaps : ndarray
        Relative eigengaps of the neighbour graph for 1, 2, ... clusters; the first entry is the threshold for
        the others. Empty for fewer than 40 distinct rows.
    stability : ndarray (m, 2)
        Numbers of clusters, and the mean adjusted Rand index between the clusters of the rows and of
        perturbed rows, on ``n_rows`` distinct rows.
    n_rows : int
        Number of rows that the stability was measured on.
    """

    n_clusters: int
    why: str
    gaps: np.ndarray
    stability: np.ndarray
    n_rows: int

    def stability_of(self, n_clusters: int) -> float:
        """Stability of a number of clusters; NaN if it was not measured."""
        index = np.flatnonzero(self.stability[:, 0] == n_clusters)
        return float(self.stability[index[0], 1]) if len(index) else float("nan")


def count_clusters(inputs: SharedInputs, requested: int | str) -> ClusterCount:
    """Choose the number unless it is given; measure the stability of all numbers."""
    evidence = inputs.evidence
    chosen, why = evidence.n_clusters, explain(evidence)
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
    # Eigenpairs of all rows, which other steps use, are solved beside it, as most of it is serial.
    tasks: list[Callable[[], Any]] = [
        lambda: _stability_curve(rows, sorted(candidates), inputs),
        lambda: inputs.spectrum,
        lambda: inputs.tree_pairs,
    ]
    stability, _, _ = together(*tasks)
    return ClusterCount(chosen, why, evidence.gaps, stability, len(rows))


def explain(evidence: ClusterEvidence) -> str:
    """Why there are so many clusters, and the next coarser and finer answer that has evidence."""
    chosen = evidence.n_clusters
    coarser = [layer for layer in evidence.layers if 1 < layer.n_clusters < chosen]
    finer = [layer for layer in evidence.layers if layer.n_clusters > chosen]
    others = [
        f"{word} answer is {layer.n_clusters} clusters by {NAMES[layer.source]}"
        for word, layers in (("the next coarser", coarser[-1:]), ("the next finer", finer[:1]))
        for layer in layers
    ]
    return "; ".join([REASONS[evidence.source], *others])


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
