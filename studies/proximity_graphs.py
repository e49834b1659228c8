"""Does a good graph make the choice of a scale unnecessary? Experiments with spanning tree ensembles.

1. Normalised cut of a noisy grey image over scales of the affinity, on the grid of pixels, on nearest
   neighbours, and on perturbed and disjoint spanning trees of (row, column, grey) points.
2. Isomap on Swiss rolls over the parameter of each kind of graph: the error of geodesic distances, and
   the residual variance, as estimated by Isomap and by the true geodesics.

After [3] Carreira-Perpinan and Zemel, "Proximity graphs for clustering and manifold learning", NIPS 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from studies.experiments import progress_bar
from vicinal import Isomap, graphs
from vicinal.cluster import spectral_labels
from vicinal.datasets import make_swiss_roll
from vicinal.graphs import Graph
from vicinal.metrics import clustering_accuracy, geodesic_error, residual_variance

N_TREES = 20
# Grey level difference of neighbouring segments; the pixel width is the unit of grey levels and noise.
GREY_STEP = 5.0
IMAGE_NOISE = {"low": 1.0, "medium": 1.5, "high": 2.0}
# Neighbouring turns of the roll are 2 pi apart.
ROLL_NOISE = {"low": 0.2, "high": 0.5}


class Setting(NamedTuple):
    """Sizes and parameter grids of the experiments."""

    n_repeats: int
    image_shape: tuple[int, int]
    scales: tuple[float, ...]
    n_points: int
    sweeps: dict[str, tuple[float, ...]]


FULL = Setting(
    n_repeats=5,
    image_shape=(20, 25),
    scales=(0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, np.inf),
    n_points=1500,
    sweeps={
        "epsilon": (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0),
        "k": (3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30),
        "r": (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        "t": (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20),
    },
)
QUICK = Setting(
    n_repeats=2,
    image_shape=(12, 16),
    scales=(0.2, 1.0, 2.0, 10.0, np.inf),
    n_points=500,
    sweeps={
        "epsilon": (3.0, 4.0, 5.0, 7.0),
        "k": (4, 6, 8, 12, 20),
        "r": (0.1, 0.2, 0.4, 0.8),
        "t": (2, 4, 6, 10),
    },
)

# Graphs of an image: (height, width, 3) features to a graph of the pixels.
IMAGE_GRAPHS: dict[str, Callable[[np.ndarray, int], Graph]] = {
    "grid, 8 neighbours": lambda image, seed: graphs.grid(image=image, connectivity=8),
    "knn, k = 5": lambda image, seed: graphs.knn(_pixels(image), 5),
    "knn, k = 10": lambda image, seed: graphs.knn(_pixels(image), 10),
    "PMST, r = 0.2": lambda image, seed: _perturbed(_pixels(image), 0.2, seed),
    "PMST, r = 0.4": lambda image, seed: _perturbed(_pixels(image), 0.4, seed),
    "PMST, r = 0.6": lambda image, seed: _perturbed(_pixels(image), 0.6, seed),
    "DMST, t = 2": lambda image, seed: graphs.disjoint_mst(_pixels(image), 2),
    "DMST, t = 4": lambda image, seed: graphs.disjoint_mst(_pixels(image), 4),
    "DMST, t = 8": lambda image, seed: graphs.disjoint_mst(_pixels(image), 8),
}


class Family(NamedTuple):
    """A kind of graph with one parameter."""

    parameter: str
    build: Callable[[np.ndarray, Any, int], Graph]


FAMILIES = {
    "epsilon ball": Family("epsilon", lambda X, value, seed: graphs.epsilon_ball(X, value)),
    "knn": Family("k", lambda X, value, seed: graphs.knn(X, int(value))),
    "PMST": Family("r", lambda X, value, seed: _perturbed(X, value, seed)),
    "PMST, in 2 trees": Family(
        "r", lambda X, value, seed: _in_several_trees(_perturbed(X, value, seed))
    ),
    "PMST, aligned": Family("r", lambda X, value, seed: _perturbed(X, value, seed, "aligned")),
    "PMST, aligned, in 2 trees": Family(
        "r", lambda X, value, seed: _in_several_trees(_perturbed(X, value, seed, "aligned"))
    ),
    "DMST": Family("t", lambda X, value, seed: graphs.disjoint_mst(X, int(value))),
}


def make_segments(shape: tuple[int, int], noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A disc in front of two halves of different grey: features (row, column, grey) and true segments."""
    height, width = shape
    rows, columns = np.mgrid[:height, :width]
    truth = (columns >= width / 2).astype(np.int64)
    disc = (rows - 0.5 * height) ** 2 + (columns - 0.35 * width) ** 2 < (0.28 * height) ** 2
    truth[disc] = 2
    grey = GREY_STEP * truth + noise * np.random.default_rng(seed).standard_normal(shape)
    return np.stack([rows, columns, grey], axis=-1), truth.ravel()


def clustering_errors(setting: Setting, verbose: int = 0) -> list[dict[str, Any]]:
    """Error of the normalised cut for each noise level, graph, scale and repetition."""
    rows: list[dict[str, Any]] = []
    total = len(IMAGE_NOISE) * len(IMAGE_GRAPHS) * setting.n_repeats
    with progress_bar(total, "normalised cuts", verbose) as bar:
        for noise, std in IMAGE_NOISE.items():
            for repeat in range(setting.n_repeats):
                image, truth = make_segments(setting.image_shape, std, repeat)
                for name, build in IMAGE_GRAPHS.items():
                    graph = build(image, repeat)
                    for scale in setting.scales:
                        weights = graph.affinity(scale=scale)
                        labels = spectral_labels(weights, 3, method="ncut", random_state=repeat)
                        error = 1.0 - clustering_accuracy(truth, labels)
                        rows.append(
                            {
                                "noise": noise,
                                "graph": name,
                                "scale": scale,
                                "repeat": repeat,
                                "error": error,
                            }
                        )
                    bar.update()
    return rows


def isomap_errors(setting: Setting, verbose: int = 0) -> list[dict[str, Any]]:
    """Errors of Isomap on the roll for each noise level, kind of graph, parameter and repetition."""
    rows: list[dict[str, Any]] = []
    sweeps = {name: setting.sweeps[family.parameter] for name, family in FAMILIES.items()}
    total = len(ROLL_NOISE) * setting.n_repeats * sum(map(len, sweeps.values()))
    with progress_bar(total, "Isomap", verbose) as bar:
        for noise, std in ROLL_NOISE.items():
            for repeat in range(setting.n_repeats):
                X, _, true_geodesics = make_swiss_roll(
                    setting.n_points, noise=std, random_state=repeat, return_geodesics=True
                )
                for name, family in FAMILIES.items():
                    for value in sweeps[name]:
                        graph = family.build(X, value, repeat)
                        rows.append(
                            {
                                "noise": noise,
                                "graph": name,
                                "parameter": family.parameter,
                                "value": value,
                                "repeat": repeat,
                                "components": graph.n_components,
                                **_errors_of(graph, true_geodesics),
                            }
                        )
                        bar.update()
    return rows


def _errors_of(graph: Graph, true_geodesics: np.ndarray) -> dict[str, float]:
    # Connecting a graph would change it, so a disconnected one counts as failed.
    if graph.n_components > 1:
        return dict.fromkeys(("geodesic_error", "estimated_residual", "true_residual"), np.inf)
    isomap = Isomap(2).fit(graph)
    return {
        "geodesic_error": geodesic_error(isomap.geodesics_, true_geodesics),
        "estimated_residual": float(isomap.residual_variance_[-1]),
        "true_residual": residual_variance(true_geodesics, isomap.embedding_),
    }


def _pixels(image: np.ndarray) -> np.ndarray:
    return image.reshape(-1, image.shape[-1])


def _perturbed(
    X: np.ndarray,
    noise: float,
    seed: int,
    noise_model: Literal["isotropic", "aligned"] = "isotropic",
) -> Graph:
    return graphs.perturbed_mst(
        X, n_trees=N_TREES, noise=noise, noise_model=noise_model, random_state=seed
    )


def _in_several_trees(graph: Graph) -> Graph:
    """Edges in more than one tree; a single occurrence may be chance."""
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    kept = (rows < graph.indices) & (graph.strengths > 1.5 / N_TREES)
    edges = np.column_stack([rows, graph.indices])[kept]
    return Graph.from_edges(
        graph.n_nodes, edges, graph.lengths[kept], graph.strengths[kept], points=graph.points
    )
