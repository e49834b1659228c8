"""The number of clusters: what densities, communities and spectra say, and which are stable."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from vicinal import PerceptualClustering, SpectralClustering, graphs
from vicinal._core.parallel import progress_bar
from vicinal.cluster import estimate_clusters
from vicinal.graphs._build.duplicates import find_duplicates
from vicinal.report._shared_inputs import SharedInputs
from vicinal.report._steps.graph_comparison import jittered

# By the view that the number was found from.
REASONS = {
    "density": "the valleys of density between them are deeper than chance makes them",
    "communities": "rows are linked within them more than chance links the rows of one cluster",
    "none": "neither densities nor communities show more than chance makes of one cluster",
}
MAX_CLUSTERS = 20
MOST_STABLE = 10
N_COPIES = 4
# More than a graph is jittered by: clusters have to survive what single edges need not.
NOISE = 0.4
# Rows that clusterings are repeated on.
REPEATED_ROWS = 1000


class ClusterCount(NamedTuple):
    """How many clusters there are and why.

    Attributes
    ----------
    n_clusters : int
        The number that is looked for; a cluster that gets no row is none.
    why : str
    perceptual_gaps, tree_gaps : ndarray
        How clearly the spectra of the contextual digraph and of the spanning trees speak for 1, 2, ...
        clusters; the first entry is what others have to exceed.
    stability : ndarray (m, 2)
        Numbers of clusters, and the mean adjusted Rand index between the clusters of the rows and of
        jittered copies of them, on ``n_rows`` rows of which no two are equal.
    n_rows : int
    """

    n_clusters: int
    why: str
    perceptual_gaps: np.ndarray
    tree_gaps: np.ndarray
    stability: np.ndarray
    n_rows: int

    def stability_of(self, n_clusters: int) -> float:
        """The stability of a number of clusters; NaN where it was not measured."""
        at = np.flatnonzero(self.stability[:, 0] == n_clusters)
        return float(self.stability[at[0], 1]) if len(at) else float("nan")


def count_clusters(scene: SharedInputs, wanted: int | str) -> ClusterCount:
    """Find the number unless it is given; measure the stability of all numbers.

    Too few points for a test of densities and communities have the number with the clearest eigengap.
    """
    common: dict[str, Any] = {"random_state": scene.seed, "n_jobs": scene.n_jobs}
    most = min(MAX_CLUSTERS, scene.n - 2)
    model = PerceptualClustering(max_clusters=most, noise=0, **common)
    by_context = model.fit(scene.digraph).eigengaps_
    by_trees = SpectralClustering(max_clusters=most, **common).fit(scene.trees).eigengaps_
    by_trees = by_trees[: len(scene.distinct)]
    evidence = estimate_clusters(scene.distinct, n_jobs=scene.n_jobs)
    if evidence.prominence:
        chosen, why = evidence.n_clusters, REASONS[evidence.source]
    else:
        chosen, why = _choose(by_context, by_trees)
    if isinstance(wanted, int):
        chosen, why = wanted, f"{wanted} were asked for; by themselves, {why}"
    rows = scene.sample_points[:REPEATED_ROWS]
    if len(scene.sample) > REPEATED_ROWS:
        rng = np.random.default_rng(scene.seed)
        rows = scene.sample_points[
            np.sort(rng.choice(len(scene.sample), REPEATED_ROWS, replace=False))
        ]
    rows = rows[find_duplicates(rows).representative]
    # A small sample has no room for every number that all rows together have.
    most_here = len(rows) // 3
    numbers = {*range(2, min(MOST_STABLE, most_here) + 1)}
    numbers |= {chosen} if 1 < chosen <= most_here else set()
    stability = _stability_curve(rows, sorted(numbers), scene)
    return ClusterCount(chosen, why, by_context, by_trees, stability, len(rows))


def _choose(by_context: np.ndarray, by_trees: np.ndarray) -> tuple[int, str]:
    """The number with the clearest gap in either spectrum."""
    gaps = {"the contextual digraph": by_context, "the spanning trees": by_trees}
    best = {name: int(np.argmax(curve)) + 1 for name, curve in gaps.items()}
    name = max(gaps, key=lambda n: gaps[n].max(initial=0.0) if best[n] > 1 else 0.0)
    n = best[name]
    if n == 1:
        return 1, "neither spectrum has a clear gap, so nothing speaks for more than one cluster"
    (other,) = gaps.keys() - {name}
    second = f"that of {other} has " + (
        "its clearest there too"
        if best[other] == n
        else "no clear one"
        if best[other] == 1
        else f"a less clear one after {best[other]}"
    )
    return n, f"the spectrum of {name} has its clearest gap after {n}; {second}"


def _stability_curve(rows: np.ndarray, numbers: list[int], scene: SharedInputs) -> np.ndarray:
    if not numbers:
        return np.empty((0, 2))
    k = min(scene.context, len(rows) - 1)
    built = [
        graphs.contextual(points, k, n_jobs=scene.n_jobs)
        for points in [rows, *jittered(rows, N_COPIES, NOISE, scene)]
    ]
    curve = []
    title = "stability" if scene.verbose > 0 else None
    with progress_bar(len(numbers), title) as bar:
        for number in numbers:
            model = PerceptualClustering(number, random_state=scene.seed, n_jobs=scene.n_jobs)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # told once, of all rows
                first, *others = (model.fit(graph).labels_ for graph in built)
            curve.append([number, np.mean([agreement(first, other) for other in others])])
            bar.update()
    return np.array(curve).reshape(-1, 2)


def agreement(a: np.ndarray, b: np.ndarray) -> float:
    """Adjusted Rand index of two clusterings, on rows that neither takes for noise."""
    known = (a >= 0) & (b >= 0)
    return float(adjusted_rand_score(a[known], b[known])) if known.any() else 0.0
