"""Tables of the study of contextual distances, with the claims of the paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from vicinal.studies import contextual_distance as study
from vicinal.studies import contextual_figures as figures
from vicinal.studies import contextual_noise as noise
from vicinal.studies.contextual_distance import Outcome, Setting
from vicinal.studies.experiments import Experiment
from vicinal.studies.images import check_folder

Table = list[list[str]]


def distance_table(found: Outcome) -> Table:
    """Both distances from point a to every other point, nearest first by context."""
    table = [["point", "cluster", "Euclidean", "contextual"]]
    for row in sorted(found.rows, key=lambda row: row["contextual"]):
        numbers = [f"{row['euclidean']:.2f}", f"{row['contextual']:.3f}"]
        table.append([str(row["point"]), row["cluster"], *numbers])
    return table


def ten_points_table(found: Outcome) -> Table:
    """How well two eigenvectors of each method show the clusters."""
    table = [["method", "gap / longest step in I", "width of II / gap", "I on a line"]]
    for row in found.rows:
        numbers = [f"{row[name]:.3f}" for name in ("gap", "width_of_II", "I_on_a_line")]
        table.append([row["method"], *numbers])
    return table


def digraph_table(found: Outcome) -> Table:
    """Counts that measure the asymmetry of the digraph."""
    weights = {(row["source"], row["target"]): row["weight"] for row in found.rows}
    mutual = [pair for pair in weights if pair[::-1] in weights and pair[0] < pair[1]]
    unequal = [pair for pair in mutual if abs(weights[pair] - weights[pair[::-1]]) > 1e-9]
    visited = {target for _, target in weights}
    nodes = found.scene["graph"].n_nodes
    return [
        ["digraph, K = 2", "number"],
        ["edges", str(len(weights))],
        ["pairs joined one way only", str(len(weights) - 2 * len(mutual))],
        ["pairs joined both ways", str(len(mutual))],
        ["... with different weights", str(len(unequal))],
        ["points that no edge leads to", str(nodes - len(visited))],
    ]


def cluster_table(found: Outcome) -> Table:
    """Accuracy of each method over noise."""
    return _over_noise(found, "accuracy", lambda row: row["method"])


def embedding_table(found: Outcome) -> Table:
    """How well each embedding separates noise and surfaces."""
    columns = {"noise_is_nearer": "noise nearer to 0", "surfaces_in_own_planes": "in own planes"}
    table = [["method", *columns.values()]]
    for method in _distinct(found, "method"):
        chosen = [row for row in found.rows if row["method"] == method]
        table.append([method, *(_mean([row[name] for row in chosen]) for name in columns)])
    return table


def ranking_table(found: Outcome) -> Table:
    """Precision of each method and alpha over noise."""
    table = _over_noise(
        found, "precision", lambda row: f"{row['method']}, alpha = {row['alpha']:g}"
    )
    best = ["Zhou, best alpha of each column"]
    for column in range(1, len(table[0])):
        peers = [row[column] for row in table[1:] if row[0].startswith("Zhou")]
        best.append(max(peers))
    return [*table, best]


def digit_table(found: Outcome) -> Table:
    """Agreement of clusters with digits."""
    table = [[f"method ({found.scene['source']})", "NMI", "accuracy"]]
    for row in found.rows:
        table.append([row["method"], f"{row['nmi']:.3f}", f"{row['accuracy']:.3f}"])
    return table


def norm_table(found: Outcome) -> Table:
    """What distinguishes the tenth of a digit farthest from the origin and the tenth nearest to it."""
    head = f"tenth of a digit ({found.scene['source']})"
    table = [[head, "neighbours alike, far", "near", "distance of neighbours, far", "near"]]
    for descriptor in _distinct(found, "descriptor"):
        for digit in _distinct(found, "digit"):
            chosen = {
                row["from_origin"]: row
                for row in found.rows
                if row["descriptor"] == descriptor and row["digit"] == digit
            }
            cells = [
                f"{chosen[where][name]:.2f}"
                for name in ("neighbors_alike", "distance_of_neighbors")
                for where in ("far", "near")
            ]
            table.append([f"{digit}, {descriptor}", *cells])
    return table


def face_table(found: Outcome) -> Table:
    """Accuracy at the paper's parameters, and over all of them."""
    scene, rows = found.scene, found.rows
    head = f"method ({scene['source']}, first {scene['n_first']} of {scene['n_queries']} queries)"
    at = [f"K = 7, alpha = {alpha:g}" for alpha in (study.PEER_ALPHA, study.FACE_ALPHA)]
    table = [[head, *at, "K = 7, best alpha", "alpha = 0.9, best K", "worst K"]]
    for method in _distinct(found, "method")[:-1]:
        over_alpha = figures.accuracies(rows, method, "alpha")
        over_k = figures.accuracies(rows, method, "K")
        alpha, k = max(over_alpha, key=over_alpha.__getitem__), max(over_k, key=over_k.__getitem__)
        worst = min(over_k, key=over_k.__getitem__)
        cells = [f"{over_alpha[a]:.3f}" for a in (study.PEER_ALPHA, study.FACE_ALPHA)]
        cells += [f"{over_alpha[alpha]:.3f} ({alpha:g})"]
        cells += [f"{over_k[k]:.3f} ({k:g})", f"{over_k[worst]:.3f} ({worst:g})"]
        table.append([method, *cells])
    table.append(["nearest neighbours", *[f"{rows[-1]['accuracy']:.3f}"] * 2, "", "", ""])
    return table


EXPERIMENTS = [
    Experiment(
        "figure-03",
        study.distances_from_one,
        distance_table,
        figures.draw_distances,
        "distances to Cluster II are much larger than those to Cluster I, unlike Euclidean ones.",
    ),
    Experiment(
        "figure-04",
        study.embeddings_of_ten,
        ten_points_table,
        figures.draw_ten_points,
        "NJW and normalised cuts mix the clusters; perception maps I onto a line, II nearly onto a point.",
    ),
    Experiment(
        "figure-06",
        study.digraph_of_ten,
        digraph_table,
        figures.draw_digraph,
        "the digraph is asymmetric, and one point has no inlinks.",
    ),
    Experiment(
        "figure-07",
        noise.surface_clusters,
        cluster_table,
        figures.draw_clusters,
        "perceptual clustering detects the real structures up to 1600 noise points; NJW and normalised "
        "cuts fail at 800.",
    ),
    Experiment(
        "figure-08",
        noise.surface_embeddings,
        embedding_table,
        figures.draw_embeddings,
        "the surfaces are mapped into two different linear subspaces, noise around the origin.",
    ),
    Experiment(
        "figure-09",
        study.digit_clusters,
        digit_table,
        figures.draw_digits,
        "more compact and clearer clusters than NJW, approximately in different linear subspaces.",
    ),
    Experiment(
        "figure-10",
        study.digits_by_norm,
        norm_table,
        figures.draw_norms,
        "noise samples are near the origin and good samples far from it.",
    ),
    Experiment(
        "figure-11",
        noise.surface_ranking,
        ranking_table,
        figures.draw_ranking,
        "accurate and robust against noise at alpha = 0.999; Zhou's ranking (alpha = 0.1) is not, and "
        "worse for large alpha.",
    ),
    Experiment(
        "figure-13",
        study.face_ranking,
        face_table,
        figures.draw_faces,
        "better than Zhou's ranking (alpha = 0.1), and robust with the variations of alpha and K.",
    ),
]


def plan(quick: bool, data: Path | None) -> tuple[Setting, list[Experiment]]:
    """Setting and experiments of ``vicinal reproduce contextual-distance``."""
    check_folder(data)
    return (study.QUICK if quick else study.FULL)._replace(data=data), EXPERIMENTS


def _over_noise(found: Outcome, what: str, name: Callable[[dict[str, Any]], str]) -> Table:
    levels = _distinct(found, "noise")
    table = [["method", *(f"{level} noise" for level in levels)]]
    for method in dict.fromkeys(map(name, found.rows)):
        chosen = [row for row in found.rows if name(row) == method]
        means = [_mean([row[what] for row in chosen if row["noise"] == n]) for n in levels]
        table.append([method, *means])
    return table


def _distinct(found: Outcome, what: str) -> list[Any]:
    return list(dict.fromkeys(row[what] for row in found.rows))


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"
