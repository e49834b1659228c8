"""Clusters by two independent methods, their agreement, and noise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from vicinal import PerceptualClustering, SpectralClustering
from vicinal._base.row_assignment import assign_rows, unit_rows
from vicinal.cluster._automatic import is_evidence_better, membership
from vicinal.cluster._noise_score import noise_scores
from vicinal.metrics import normalized_mutual_info
from vicinal.report._preprocessing import CleanTable
from vicinal.report._shared_inputs import SharedInputs
from vicinal.report._steps.n_clusters import agreement

N_TOP_FEATURES = 3
PERCEPTUAL, SPECTRAL = "perceptual clustering", "spectral clustering on spanning trees"
COMMUNITIES = "consensus communities"


class Clusters(NamedTuple):
    """Clusters of every row.

    Attributes
    ----------
    labels : ndarray of int (n,)
        Clusters of the report; -1 is noise.
    method, other_method : str
        The methods that ``labels`` and ``other_labels`` come from.
    other_labels : ndarray of int (n,)
        Clusters by the other method, numbered to match ``labels``.
    n_requested : int
        Number of clusters that ``labels`` were requested to have.
    noise_score : ndarray (n,)
        From 0 (typical) to 1 (outside the structure).
    noise_threshold : float
        Score above which a row is noise; 1 if there is no noise.
    noise_doubt : bool
        Whether heavy noise could not be separated from sparse cluster borders, so no row is noise.
    probabilities : ndarray (n, n_clusters + 1)
        Membership of each row in each cluster, half of it from the clusters of its neighbours, and last in
        the noise. Rows sum to 1.
    context_scale : float or None
        Scale of the contextual digraph, which assigns new rows; None for fewer than 3 distinct rows.
    noise_walk : dict or None
        What decides whether new rows are noise: contexts, stationary masses and directions of the walk on the
        distinct rows, its eigenvalues, and the norm below which a row is noise. None without noise.
    adjusted_rand, mutual_information, same_fraction : float
        Agreement of the two methods without noise; the last is the fraction of rows with equal labels.
    contingency : ndarray of int (c, c')
        Number of rows by cluster in ``labels`` (noise last) and in ``other_labels``.
    sizes : list of dict
        For each cluster: rows, fraction, mean noise score, agreement, and the columns that distinguish
        it from the other rows.
    """

    labels: np.ndarray
    method: str
    other_labels: np.ndarray
    other_method: str
    n_requested: int
    noise_score: np.ndarray
    noise_threshold: float
    noise_doubt: bool
    probabilities: np.ndarray
    context_scale: float | None
    noise_walk: dict[str, Any] | None
    adjusted_rand: float
    mutual_information: float
    same_fraction: float
    contingency: np.ndarray
    sizes: list[dict[str, Any]]


def find_clusters(inputs: SharedInputs, data: CleanTable, n_clusters: int) -> Clusters:
    """Cluster all rows with both methods and compare.

    Perceptual clustering reports, with two exceptions. If the evidence for clusters is communities, a walk on
    contexts is drawn to hubs, as in many dimensions: then the communities or spectral clustering on spanning
    trees report, whichever has the larger modularity in the trees; always the latter if another number is
    requested. In tables with categories it reports too: they have no noise for a walk on contexts to find.
    """
    n_requested = min(n_clusters, len(inputs.distinct))
    model = inputs.spectrum.cluster(n_requested, inputs.evidence)
    group = inputs.duplicates.group
    # The same scores as `PerceptualClustering.noise_score_`, without another search for neighbours.
    scores = noise_scores(
        inputs.digraph, model._masses, model.labels_ < 0, inputs.n_jobs, inputs.neighbors[1]
    )
    perceptual, score = model.labels_[group], scores[group]
    by_trees = _tree_labels(inputs, n_clusters)
    known = perceptual >= 0
    noise = score[~known]
    methods = (PERCEPTUAL, SPECTRAL)
    labels, other_labels = perceptual, match_labels(perceptual, by_trees)
    representative = inputs.duplicates.representative
    steps = inputs.digraph.to_scipy("strengths")
    n_found = int(perceptual.max()) + 1
    probabilities = membership(steps + steps.T, perceptual[representative], n_found)[group]
    if inputs.evidence.source == "communities" or data.categories:
        methods, found, others = (SPECTRAL, PERCEPTUAL), by_trees, perceptual
        evidence = inputs.evidence.of_rows(group)
        if is_evidence_better(evidence, by_trees, inputs.tree_affinity):
            methods, found, others = (COMMUNITIES, SPECTRAL), evidence.labels, by_trees
        labels = np.full(len(found), -1)
        labels[known] = np.unique(found[known], return_inverse=True)[1]
        other_labels = match_labels(labels, others)
        probabilities = membership(inputs.tree_affinity, labels, int(labels.max()) + 1)
    return Clusters(
        labels=labels,
        method=methods[0],
        other_labels=other_labels,
        other_method=methods[1],
        n_requested=n_requested,
        noise_score=score,
        noise_threshold=float(noise.min()) if len(noise) else 1.0,
        noise_doubt=model.noise_doubt_,
        probabilities=probabilities,
        context_scale=inputs.digraph.metadata.get("sigma"),
        noise_walk=_noise_walk(inputs, model) if len(noise) else None,
        adjusted_rand=agreement(labels, other_labels),
        mutual_information=normalized_mutual_info(labels[known], other_labels[known]),
        same_fraction=float(np.mean(labels[known] == other_labels[known])),
        contingency=contingency_table(labels, other_labels),
        sizes=cluster_sizes(labels, other_labels, score, data),
    )


def _tree_labels(inputs: SharedInputs, n_clusters: int) -> np.ndarray:
    """The clusters of `SpectralClustering` on `inputs.trees`, from eigenvectors that are known already."""
    vectors = inputs.tree_pairs.vectors[:, :n_clusters]
    if vectors.shape[1] < n_clusters:
        model = SpectralClustering(n_clusters, random_state=inputs.seed, n_jobs=inputs.n_jobs)
        return model.fit(inputs.trees).labels_
    return assign_rows(unit_rows(vectors), n_clusters, "kmeans", inputs.seed).labels


def _noise_walk(inputs: SharedInputs, model: PerceptualClustering) -> dict[str, Any]:
    directions = model._directions
    return {
        "contexts": inputs.digraph.indices.reshape(len(directions), -1).astype(np.int64),
        "masses": model._masses,
        "directions": directions,
        "eigenvalues": model.eigenvalues_[: directions.shape[1]],
        "threshold": float(model.noise_threshold_),
        "beta": float(model.beta),
    }


def contingency_table(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Number of rows by label, noise (-1) last, and by other label; other noise is left out."""
    width = max(int(labels.max()), int(others.max())) + 1
    counts = np.zeros((width + 1, width), dtype=np.int64)
    known = others >= 0
    np.add.at(counts, (labels[known], others[known]), 1)
    return counts


def match_labels(labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """``others`` renumbered so that as many rows as possible agree with ``labels``."""
    counts = contingency_table(labels, others)[:-1]
    new, old = linear_sum_assignment(counts, maximize=True)
    new_label = np.empty(counts.shape[1], dtype=np.int64)
    new_label[old] = new
    return np.where(others >= 0, new_label[others], -1)


def top_features(data: CleanTable, members: np.ndarray) -> list[dict[str, Any]]:
    """Columns that distinguish some rows: means and categories farthest from overall, as z-scores."""
    # In units of the largest, because squares of huge numbers overflow.
    values = data.values / np.maximum(np.abs(data.values).max(axis=0, initial=0.0), 1e-300)
    std = values.std(axis=0)
    difference = values[members].mean(axis=0) - values.mean(axis=0)
    z_scores = difference / np.where(std > 0, std, 1.0)
    features: list[dict[str, Any]] = [
        {"column": name, "z_score": float(z)} for name, z in zip(data.names, z_scores, strict=True)
    ]
    features += [top_category(name, words, members) for name, words in data.categories.items()]
    order = np.argsort([-abs(feature["z_score"]) for feature in features], kind="stable")
    return [features[j] for j in order[:N_TOP_FEATURES].tolist()]


def top_category(name: str, words: np.ndarray, members: np.ndarray) -> dict[str, Any]:
    """The most over-represented category among some rows, and its fractions among them and the others.

    The z-score is that of the column which is 1 in rows of the category and 0 in others. Missing values do
    not count.
    """
    known = words != ""
    categories, codes = np.unique(words[known], return_inverse=True)
    inside = members[known]
    n_inside = np.bincount(codes[inside], minlength=len(categories))
    n_all = np.bincount(codes, minlength=len(categories))
    share = n_all / max(len(codes), 1)
    share_inside = n_inside / max(inside.sum(), 1)
    share_outside = (n_all - n_inside) / max((~inside).sum(), 1)
    std = np.sqrt(share * (1.0 - share))
    z_scores = (share_inside - share) / np.where(std > 0, std, 1.0)
    best = int(np.argmax(z_scores))
    return {
        "column": name,
        "z_score": float(z_scores[best]) if inside.any() else 0.0,
        "category": str(categories[best]),
        "inside": float(share_inside[best]),
        "outside": float(share_outside[best]),
    }


def cluster_sizes(
    labels: np.ndarray, other_labels: np.ndarray, score: np.ndarray, data: CleanTable
) -> list[dict[str, Any]]:
    """Rows, fraction, mean noise score, agreement and distinguishing columns of each cluster."""
    sizes = []
    for label in [*range(int(labels.max()) + 1), -1]:
        members = labels == label
        if not members.any():
            continue
        sizes.append(
            {
                "cluster": label,
                "rows": int(members.sum()),
                "fraction": float(members.mean()),
                "noise_score": float(score[members].mean()),
                "agreement": float(np.mean(other_labels[members] == label)) if label >= 0 else None,
                "top_features": top_features(data, members),
            }
        )
    return sizes
