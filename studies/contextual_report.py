"""Tables of the study of contextual distances, with the claims of the paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from studies import contextual_distance as study
from studies import contextual_figures as figures
from studies import contextual_noise as noise
from studies.contextual_distance import Outcome, Setting
from studies.experiments import Experiment
from studies.loaders import DIGITS, FACES, check_folder

Table = list[list[str]]


def distance_table(result: Outcome) -> Table:
    """Both distances from point a to every other point, sorted by contextual distance."""
    table = [["point", "cluster", "Euclidean", "contextual"]]
    for row in sorted(result.rows, key=lambda row: row["contextual"]):
        numbers = [f"{row['euclidean']:.2f}", f"{row['contextual']:.3f}"]
        table.append([str(row["point"]), row["cluster"], *numbers])
    return table


def ten_points_table(result: Outcome) -> Table:
    """How well two eigenvectors of each method separate the clusters."""
    table = [["method", "gap / longest step in I", "width of II / gap", "I on a line"]]
    for row in result.rows:
        numbers = [f"{row[name]:.3f}" for name in ("gap", "width_of_II", "I_on_a_line")]
        table.append([row["method"], *numbers])
    return table


def digraph_table(result: Outcome) -> Table:
    """Counts that measure the asymmetry of the digraph."""
    weights = {(row["source"], row["target"]): row["weight"] for row in result.rows}
    mutual = [pair for pair in weights if pair[::-1] in weights and pair[0] < pair[1]]
    unequal = [pair for pair in mutual if abs(weights[pair] - weights[pair[::-1]]) > 1e-9]
    visited = {target for _, target in weights}
    nodes = result.figure_data["graph"].n_nodes
    return [
        ["digraph, K = 2", "number"],
        ["edges", str(len(weights))],
        ["one-way pairs", str(len(weights) - 2 * len(mutual))],
        ["two-way pairs", str(len(mutual))],
        ["... with different weights", str(len(unequal))],
        ["points without incoming edges", str(nodes - len(visited))],
    ]


def cluster_table(result: Outcome) -> Table:
    """Accuracy of each method by noise level."""
    return _over_noise(result, "accuracy", lambda row: row["method"])


def embedding_table(result: Outcome) -> Table:
    """How well each embedding separates noise and surfaces."""
    columns = {
        "noise_closer_to_origin": "P(noise closer to origin)",
        "surfaces_in_planes": "surfaces in own planes",
    }
    table = [["method", *columns.values()]]
    for method in _distinct(result, "method"):
        selected = [row for row in result.rows if row["method"] == method]
        table.append([method, *(_mean([row[name] for row in selected]) for name in columns)])
    return table


def ranking_table(result: Outcome) -> Table:
    """Precision of each method and alpha by noise level."""
    table = _over_noise(
        result, "precision", lambda row: f"{row['method']}, alpha = {row['alpha']:g}"
    )
    best = ["Zhou, best alpha per column"]
    for column in range(1, len(table[0])):
        peers = [row[column] for row in table[1:] if row[0].startswith("Zhou")]
        best.append(max(peers))
    return [*table, best]


def digit_table(result: Outcome) -> Table:
    """Agreement of clusters with digits."""
    table = [[f"method ({result.figure_data['source']})", "NMI", "accuracy"]]
    for row in result.rows:
        table.append([row["method"], f"{row['nmi']:.3f}", f"{row['accuracy']:.3f}"])
    return table


def norm_table(result: Outcome) -> Table:
    """Neighbours of the tenth of each digit farthest from the origin, and of the nearest tenth."""
    head = f"tenth of each digit ({result.figure_data['source']})"
    table = [[head, "same-class neighbours, far", "near", "neighbour distance, far", "near"]]
    for descriptor in _distinct(result, "descriptor"):
        for digit in _distinct(result, "digit"):
            selected = {
                row["from_origin"]: row
                for row in result.rows
                if row["descriptor"] == descriptor and row["digit"] == digit
            }
            cells = [
                f"{selected[side][name]:.2f}"
                for name in ("neighbors_of_same_class", "neighbor_distance")
                for side in ("far", "near")
            ]
            table.append([f"{digit}, {descriptor}", *cells])
    return table


def face_table(result: Outcome) -> Table:
    """Accuracy at the paper's parameters, and at the best and worst ones."""
    data, rows = result.figure_data, result.rows
    head = f"method ({data['source']}, first {data['n_first']} of {data['n_queries']} queries)"
    settings = [f"K = 7, alpha = {alpha:g}" for alpha in (study.PEER_ALPHA, study.FACE_ALPHA)]
    table = [[head, *settings, "K = 7, best alpha", "alpha = 0.9, best K", "worst K"]]
    for method in _distinct(result, "method")[:-1]:
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
        "distances to Cluster II are much larger than those to Cluster I, unlike Euclidean distances.",
    ),
    Experiment(
        "figure-04",
        study.embeddings_of_ten,
        ten_points_table,
        figures.draw_ten_points,
        "NJW and normalised cuts mix the clusters; the perceptual embedding maps I to a line and II nearly "
        "to a point.",
    ),
    Experiment(
        "figure-06",
        study.digraph_of_ten,
        digraph_table,
        figures.draw_digraph,
        "the digraph is asymmetric, and one point has no incoming links.",
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
        "the surfaces are mapped to two different linear subspaces, and noise to the neighbourhood of the "
        "origin.",
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
        "accurate and robust to noise at alpha = 0.999; Zhou's ranking (alpha = 0.1) is not, and is worse "
        "for large alpha.",
    ),
    Experiment(
        "figure-13",
        study.face_ranking,
        face_table,
        figures.draw_faces,
        "better than Zhou's ranking (alpha = 0.1), and robust to the choice of alpha and K.",
    ),
]


def plan(quick: bool, data: Path | None) -> tuple[Setting, list[Experiment]]:
    """Setting and experiments of ``python -m studies contextual-distance``."""
    check_folder(data, DIGITS, FACES)
    return (study.QUICK if quick else study.FULL)._replace(data=data), EXPERIMENTS


def _over_noise(result: Outcome, key: str, name: Callable[[dict[str, Any]], str]) -> Table:
    levels = _distinct(result, "noise")
    table = [["method", *(f"{level} noise" for level in levels)]]
    for method in dict.fromkeys(map(name, result.rows)):
        selected = [row for row in result.rows if name(row) == method]
        means = [_mean([row[key] for row in selected if row["noise"] == n]) for n in levels]
        table.append([method, *means])
    return table


def _distinct(result: Outcome, key: str) -> list[Any]:
    return list(dict.fromkeys(row[key] for row in result.rows))


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"
