"""Two half-cylinders in noise: clusters, embedding and ranking by context, compared with peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from vicinal import PerceptualClustering, PerceptualEmbedding, SpectralClustering, graphs
from vicinal._core.parallel import progress_bar
from vicinal.datasets import make_half_cylinders
from vicinal.metrics import clustering_accuracy
from vicinal.rank import ManifoldRanking, PerceptualRanking
from vicinal.studies.contextual_distance import DESCRIPTORS, Outcome, Setting, spectral_places

N_NEIGHBORS, ALPHA = 10, 0.999


def surface_clusters(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 7: two surfaces and noise as three groups; accuracy over all points."""
    rows, shown = [], {}
    for noise, draw, X, truth in _surfaces(setting, "clusters in noise", verbose):
        # k-means of few points is faster with one thread.
        with threadpool_limits(limits=1):
            found = _surface_labels(X, noise, draw)
        for method, labels in found.items():
            accuracy = clustering_accuracy(truth, labels)
            rows.append({"noise": noise, "draw": draw, "method": method, "accuracy": accuracy})
            if draw == 0:
                shown[noise, method] = (X, labels)
    return Outcome(rows, {"shown": shown})


def _surface_labels(X: np.ndarray, noise: int, seed: int) -> dict[str, np.ndarray]:
    from sklearn.cluster import KMeans

    found = {}
    for name, descriptor in DESCRIPTORS.items():
        for given, value in (("noise given", noise), ("noise auto", "auto")):
            model = PerceptualClustering(
                2,
                noise=value,
                n_neighbors=N_NEIGHBORS,
                descriptor=descriptor,
                random_state=seed,
            )
            found[f"perceptual, {name}, {given}"] = model.fit(X).labels_
    for name, method in (("NJW", "njw"), ("normalised cut", "ncut")):
        peer = SpectralClustering(
            3, method=method, graph_params={"n_neighbors": N_NEIGHBORS}, random_state=seed
        )
        found[name] = peer.fit(X).labels_
    found["k-means"] = KMeans(3, n_init=10, random_state=seed).fit_predict(X)
    return found


def surface_embeddings(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 8: is noise near the origin, and is each surface in its own subspace?"""
    rows, shown = [], {}
    noise = setting.noise[min(1, len(setting.noise) - 1)]
    for _, draw, X, truth in _surfaces(setting._replace(noise=(noise,)), "embeddings", verbose):
        places = spectral_places(graphs.knn(X, N_NEIGHBORS), 3)
        for name, descriptor in DESCRIPTORS.items():
            model = PerceptualEmbedding(
                3, n_neighbors=N_NEIGHBORS, descriptor=descriptor, random_state=draw
            )
            places[f"perceptual, {name}"] = model.fit_transform(X)
        for method, Y in places.items():
            norms = np.linalg.norm(Y, axis=1)
            planes = [_share_of_plane(Y[truth == surface]) for surface in (0, 1)]
            rows.append(
                {
                    "draw": draw,
                    "method": method,
                    "noise_is_nearer": _share_below(norms[truth < 0], norms[truth >= 0]),
                    "surfaces_in_own_planes": np.mean(planes),
                }
            )
        if draw == 0:
            shown = {"places": places, "truth": truth}
    return Outcome(rows, shown)


def surface_ranking(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 11: precision of the first n results, n the size of a surface, for random queries."""
    rows, shown = [], {}
    for noise, draw, X, truth in _surfaces(setting, "ranking in noise", verbose):
        size = setting.n_points
        queries = np.random.default_rng(draw).choice(2 * size, setting.n_queries, replace=False)
        models: dict[tuple[str, float], Any] = {
            (f"perceptual, {name}", ALPHA): PerceptualRanking(
                N_NEIGHBORS, ALPHA, descriptor=descriptor
            )
            for name, descriptor in DESCRIPTORS.items()
        }
        for alpha in setting.peer_alphas:
            models["Zhou", alpha] = ManifoldRanking(
                alpha, graph_params={"n_neighbors": N_NEIGHBORS}
            )
        for (method, alpha), model in models.items():
            first = model.fit(X).rank(queries, size, include_queries=True)[0]
            precision = float((truth[first] == truth[queries][:, None]).mean())
            rows.append(
                {
                    "noise": noise,
                    "draw": draw,
                    "method": method,
                    "alpha": alpha,
                    "precision": precision,
                }
            )
            if draw == 0:
                shown[noise, method, alpha] = (X, int(queries[0]), first[0])
    return Outcome(rows, {"shown": shown})


def _surfaces(
    setting: Setting, title: str, verbose: int
) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Noise, number of the draw, points and truth of every data set."""
    total = len(setting.noise) * setting.n_draws
    with progress_bar(total, title if verbose > 0 else None) as bar:
        for noise in setting.noise:
            for draw in range(setting.n_draws):
                yield (
                    noise,
                    draw,
                    *make_half_cylinders(setting.n_points, noise, random_state=draw),
                )
                bar.update()


def _share_of_plane(rows: np.ndarray) -> float:
    """Fraction of the squared norms of rows explained by one plane through the origin."""
    values = np.linalg.svd(rows, compute_uv=False)
    return float((values[:2] ** 2).sum() / (values**2).sum())


def _share_below(low: np.ndarray, high: np.ndarray) -> float:
    """Probability that one of ``low`` is less than one of ``high``."""
    return float(np.searchsorted(np.sort(low), high).mean() / len(low))
