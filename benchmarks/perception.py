"""Contextual distances, perceptual clustering and ranking: cases and contenders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.contenders import Contender
from benchmarks.data import classes, surfaces

K = 15
CLUSTER_K = 10
N_QUERIES = 1000
GIGABYTE = 1e9

PERCEPTION = [
    # Not slower than the neighbour search it needs.
    Case(
        "coding length",
        "coding_length",
        100_000,
        50,
        K,
        ("vicinal exact search", "definition in numpy"),
        max_ratio=1.0,
        ratio_to=("definition in numpy", 1 / 20),
    ),
    Case(
        "perceptual clustering",
        "perceptual_clustering",
        100_000,
        3,
        None,
        (),
        max_seconds=120.0,
        max_bytes=2 * GIGABYTE,
        points="half cylinders",
        measure="accuracy over two surfaces and noise",
    ),
    Case(
        "perceptual clustering of a million",
        "perceptual_clustering",
        1_000_000,
        3,
        None,
        (),
        max_seconds=120.0,
        max_bytes=12 * GIGABYTE,
        points="half cylinders",
        once=True,
        measure="accuracy over two surfaces and noise",
    ),
    Case(
        "perceptual ranking, 1,000 queries",
        "perceptual_ranking",
        100_000,
        3,
        None,
        (),
        max_seconds=60.0,
        max_bytes=2 * GIGABYTE,
        points="half cylinders",
        once=True,
        measure="precision of the first 1,000",
    ),
    Case(
        "perceive with labels, report written",
        "perceive",
        100_000,
        50,
        None,
        (),
        max_seconds=60.0,
        max_bytes=6 * GIGABYTE,
        points="blobs",
        once=True,
        measure="normalised mutual information of the clusters",
    ),
    Case(
        "perceive of a million",
        "perceive",
        1_000_000,
        20,
        None,
        (),
        max_seconds=900.0,
        max_bytes=6 * GIGABYTE,
        points="blobs",
        once=True,
        measure="normalised mutual information of the clusters",
    ),
]


def context_facts(result: tuple[np.ndarray, np.ndarray], X: np.ndarray) -> dict[str, Any]:
    """Size of the result, and a sum that shows whether two results are equal."""
    return {"output_bytes": sum(array.nbytes for array in result), "weight": float(result[1].sum())}


def cluster_facts(labels: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Fraction of points in the correct one of three groups."""
    truth = surfaces(len(X))[1]
    direct = np.mean(labels == truth)
    swapped = np.mean(np.where(labels < 0, -1, 1 - labels) == truth)
    return {"score": float(max(direct, swapped))}


def rank_facts(ranked: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Fraction of ranked points on the same surface as their query."""
    truth = surfaces(len(X))[1]
    return {"score": float(np.mean(truth[ranked] == truth[_queries(len(X))][:, None]))}


def report_facts(result: Any, X: np.ndarray) -> dict[str, Any]:
    """Agreement of the clusters of the report with the truth."""
    from vicinal.metrics import normalized_mutual_info

    score = normalized_mutual_info(classes(len(X)), result.labels)
    return {"score": float(score)}


def _queries(n: int) -> np.ndarray:
    return np.random.default_rng(1).choice(2 * (n // 3), min(N_QUERIES, n // 3), replace=False)


def _with_neighbors(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from vicinal.neighbors import NeighborSearch

    return X, NeighborSearch(X).nearest(K)[0]


def _coding_length(inputs: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    from vicinal import contextual_distance

    X, neighbors = inputs
    return contextual_distance(X, descriptor="coding_length", neighbors=neighbors)


def _search(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from vicinal.neighbors import NeighborSearch

    return NeighborSearch(X).nearest(K)


def _definition(inputs: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Leave-one-out coding lengths of all contexts by the literal formulas."""
    X, neighbors = inputs
    return neighbors, np.array([_contextual_by_formula(X[context]) for context in neighbors])


def _contextual_by_formula(members: np.ndarray) -> np.ndarray:
    total = _coding_length_by_formula(members)
    changes = np.array(
        [abs(total - _coding_length_by_formula(np.delete(members, j, 0))) for j in range(K + 1)]
    )
    return np.abs(changes[0] - changes)


def _coding_length_by_formula(points: np.ndarray) -> float:
    m, d = points.shape
    epsilon_squared = 10 * d / K
    mean = points.mean(axis=0)
    centred = points - mean
    matrix = np.eye(m) + d / (epsilon_squared * m) * centred @ centred.T
    return (m + d) / 2 * np.linalg.slogdet(matrix)[1] + d / 2 * np.log1p(
        mean @ mean / epsilon_squared
    )


def _cluster(X: np.ndarray) -> np.ndarray:
    from vicinal import PerceptualClustering

    model = PerceptualClustering(2, n_neighbors=CLUSTER_K, random_state=0)
    return model.fit_predict(X)


def _rank(X: np.ndarray) -> np.ndarray:
    from vicinal import PerceptualRanking

    ranking = PerceptualRanking(CLUSTER_K).fit(X)
    return ranking.rank(_queries(len(X)), min(1000, len(X) // 3 - 1))[0]


def _perceive(X: np.ndarray) -> Any:
    from tempfile import TemporaryDirectory

    from vicinal import perceive

    with TemporaryDirectory() as folder:
        result = perceive(X, labels=classes(len(X)), random_state=0)
        result.to_html(Path(folder) / "report.html")
    return result


CONTENDERS: dict[str, dict[str, Contender]] = {
    "coding_length": {
        "vicinal": Contender("vicinal", _coding_length, context_facts, prepare=_with_neighbors),
        "vicinal exact search": Contender("vicinal", _search, context_facts),
        "definition in numpy": Contender(
            "numpy", _definition, context_facts, prepare=_with_neighbors
        ),
    },
    "perceptual_clustering": {"vicinal": Contender("vicinal", _cluster, cluster_facts)},
    "perceptual_ranking": {"vicinal": Contender("vicinal", _rank, rank_facts)},
    "perceive": {"vicinal": Contender("vicinal", _perceive, report_facts)},
}
