"""Two half-cylinders in noise: clusters, embedding and ranking by context, compared with peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from studies.contextual_distance import (
    DESCRIPTORS,
    SPECTRAL_METHODS,
    Outcome,
    Setting,
    spectral_embeddings,
)
from studies.experiments import progress_bar
from vicinal import PerceptualClustering, PerceptualEmbedding, SpectralClustering, graphs
from vicinal.datasets import make_half_cylinders
from vicinal.metrics import clustering_accuracy
from vicinal.rank import ManifoldRanking, PerceptualRanking

N_NEIGHBORS, ALPHA = 10, 0.999


def surface_clusters(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 7: two surfaces and noise as three groups; accuracy over all points."""
    rows, panels = [], {}
    for noise, repeat, X, truth in _surfaces(setting, "clusters in noise", verbose):
        # k-means on few points is faster with one thread.
        with threadpool_limits(limits=1):
            clusterings = _surface_labels(X, noise, repeat)
        for method, labels in clusterings.items():
            accuracy = clustering_accuracy(truth, labels)
            rows.append({"noise": noise, "repeat": repeat, "method": method, "accuracy": accuracy})
            if repeat == 0:
                panels[noise, method] = (X, labels)
    return Outcome(rows, {"panels": panels})


def _surface_labels(X: np.ndarray, noise: int, seed: int) -> dict[str, np.ndarray]:
    from sklearn.cluster import KMeans

    clusterings = {}
    for name, descriptor in DESCRIPTORS.items():
        values: dict[str, int | Literal["auto"]] = {"noise given": noise, "noise auto": "auto"}
        for suffix, value in values.items():
            model = PerceptualClustering(
                2,
                noise=value,
                n_neighbors=N_NEIGHBORS,
                descriptor=descriptor,
                random_state=seed,
            )
            clusterings[f"perceptual, {name}, {suffix}"] = model.fit(X).labels_
    for name, method in SPECTRAL_METHODS.items():
        peer = SpectralClustering(
            3, method=method, graph_params={"n_neighbors": N_NEIGHBORS}, random_state=seed
        )
        clusterings[name] = peer.fit(X).labels_
    clusterings["k-means"] = KMeans(3, n_init=10, random_state=seed).fit_predict(X)
    return clusterings


def surface_embeddings(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 8: whether noise is near the origin and each surface in its own subspace."""
    rows, panels = [], {}
    noise = setting.noise[min(1, len(setting.noise) - 1)]
    for _, repeat, X, truth in _surfaces(setting._replace(noise=(noise,)), "embeddings", verbose):
        embeddings = spectral_embeddings(graphs.knn(X, N_NEIGHBORS), 3)
        for name, descriptor in DESCRIPTORS.items():
            model = PerceptualEmbedding(
                3, n_neighbors=N_NEIGHBORS, descriptor=descriptor, random_state=repeat
            )
            embeddings[f"perceptual, {name}"] = model.fit_transform(X)
        for method, Y in embeddings.items():
            norms = np.linalg.norm(Y, axis=1)
            planes = [_variance_in_plane(Y[truth == surface]) for surface in (0, 1)]
            rows.append(
                {
                    "repeat": repeat,
                    "method": method,
                    "noise_closer_to_origin": _probability_below(
                        norms[truth < 0], norms[truth >= 0]
                    ),
                    "surfaces_in_planes": np.mean(planes),
                }
            )
        if repeat == 0:
            panels = {"embeddings": embeddings, "truth": truth}
    return Outcome(rows, panels)


def surface_ranking(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 11: precision at n for random queries, where n is the size of a surface."""
    rows, panels = [], {}
    for noise, repeat, X, truth in _surfaces(setting, "ranking in noise", verbose):
        size = setting.n_points
        queries = np.random.default_rng(repeat).choice(2 * size, setting.n_queries, replace=False)
        models: dict[tuple[str, float], Any] = {
            (f"perceptual, {name}", ALPHA): PerceptualRanking(
                N_NEIGHBORS, alpha=ALPHA, descriptor=descriptor
            )
            for name, descriptor in DESCRIPTORS.items()
        }
        for alpha in setting.peer_alphas:
            models["Zhou", alpha] = ManifoldRanking(
                alpha, graph_params={"n_neighbors": N_NEIGHBORS}
            )
        for (method, alpha), model in models.items():
            ranked = model.fit(X).rank(queries, size, include_queries=True)[0]
            precision = float((truth[ranked] == truth[queries][:, None]).mean())
            rows.append(
                {
                    "noise": noise,
                    "repeat": repeat,
                    "method": method,
                    "alpha": alpha,
                    "precision": precision,
                }
            )
            if repeat == 0:
                panels[noise, method, alpha] = (X, int(queries[0]), ranked[0])
    return Outcome(rows, {"panels": panels})


def _surfaces(
    setting: Setting, title: str, verbose: int
) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Noise level, repetition, points and truth of every data set."""
    total = len(setting.noise) * setting.n_repeats
    with progress_bar(total, title, verbose) as bar:
        for noise in setting.noise:
            for repeat in range(setting.n_repeats):
                yield (
                    noise,
                    repeat,
                    *make_half_cylinders(setting.n_points, noise, random_state=repeat),
                )
                bar.update()


def _variance_in_plane(rows: np.ndarray) -> float:
    """Fraction of the squared norms of rows explained by one plane through the origin."""
    values = np.linalg.svd(rows, compute_uv=False)
    return float((values[:2] ** 2).sum() / (values**2).sum())


def _probability_below(low: np.ndarray, high: np.ndarray) -> float:
    """Probability that one of ``low`` is less than one of ``high``."""
    return float(np.searchsorted(np.sort(low), high).mean() / len(low))
