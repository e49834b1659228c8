"""Does an embedding by path similarity preserve clusters? CPE compared with PCA and eigenmaps.

1. Three spirals in three dimensions (figure 1).
2. Handwritten digits 1 and 3 in two dimensions (figure 2).
3. k-means after each embedding, on several subsets of digits (figure 3).
4. Effect of the kernel width, which the paper does not report.

After [4] Zhan and Yin, "Cluster preserving embedding", ICPR 2010.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from studies.experiments import Rows, progress_bar
from studies.images import Images, handwritten
from vicinal import ClusterPreservingEmbedding, LaplacianEigenmaps, path_similarity
from vicinal.datasets import make_helices
from vicinal.metrics import rand_index

PIXELS, PCA, EIGENMAPS = "k-means on pixels", "PCA", "Laplacian eigenmaps"
METHODS: dict[str, Literal["laplacian", "mds"]] = {"CPE-Lap": "laplacian", "CPE-MDS": "mds"}
FIGURE_DIGITS = (1, 3)


class Setting(NamedTuple):
    """Sizes and parameter grids of the experiments."""

    n_repeats: int
    n_images: int
    subsets: tuple[tuple[int, ...], ...]
    sweep_subsets: tuple[tuple[int, ...], ...]
    sweep_repeats: int
    factors: tuple[float, ...]
    data: Path | None = None


FULL = Setting(
    n_repeats=20,
    n_images=200,
    subsets=((1, 3), (0, 1), (2, 5), (6, 7), (3, 8), (4, 9), (1, 2, 3), (0, 6, 7)),
    sweep_subsets=((1, 3), (2, 5), (1, 2, 3)),
    sweep_repeats=3,
    factors=(0.25, 0.35, 0.5, 0.7, 1.0, 2.0, 4.0),
)
QUICK = FULL._replace(
    n_repeats=2,
    n_images=60,
    subsets=((1, 3), (3, 8)),
    sweep_subsets=((1, 3),),
    sweep_repeats=1,
    factors=(0.25, 1.0, 4.0),
)


class Outcome(NamedTuple):
    """All measurements, and the arrays shown in the figure."""

    rows: Rows
    figure_data: dict[str, Any]


class Sample(NamedTuple):
    """Images of some digits: points, digits and source."""

    points: np.ndarray
    truth: np.ndarray
    source: str


def spiral_embeddings(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 1: three spirals of 100 points each, embedded in the plane."""
    rows, figure_data = [], {}
    with progress_bar(setting.n_repeats, "spirals", verbose) as bar:
        for repeat in range(setting.n_repeats):
            X, truth = make_helices(random_state=repeat)
            embeddings = {PIXELS: X, **plane_embeddings(X)}
            for method, Y in embeddings.items():
                rows.append(
                    {"repeat": repeat, "method": method, "rand_index": score(Y, truth, repeat)}
                )
            if repeat == 0:
                figure_data = {"X": X, "truth": truth, "embeddings": embeddings}
            bar.update()
    return Outcome(rows, figure_data)


def digit_embeddings(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 2: the digits 1 and 3 in two dimensions, with eigenvalues."""
    images = sample_digits(setting, FIGURE_DIGITS, 0)
    embeddings = {
        PCA: _principal(images.points),
        EIGENMAPS: LaplacianEigenmaps(random_state=0).fit_transform(images.points),
    }
    rows = []
    similarity = path_similarity(images.points)
    for name, method in METHODS.items():
        model = ClusterPreservingEmbedding(method=method, n_components=5, random_state=0).fit(
            similarity
        )
        embeddings[name] = model.embedding_[:, :2]
        rows += [
            {"method": name, "direction": k + 1, "eigenvalue": value}
            for k, value in enumerate(model.eigenvalues_)
        ]
    return Outcome(rows, {"embeddings": embeddings, "truth": images.truth, "source": images.source})


def digit_accuracy(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 3: Rand index of k-means on pixels and after each embedding."""
    rows = []
    for subset, repeat, images in _samples(setting, setting.subsets, setting.n_repeats, verbose):
        embeddings = {PIXELS: images.points, PCA: _principal(images.points)}
        embeddings |= plane_embeddings(images.points)
        for method, Y in embeddings.items():
            rand = score(Y, images.truth, repeat)
            rows.append({"digits": subset, "repeat": repeat, "method": method, "rand_index": rand})
    return Outcome(rows, {"source": images.source})


def width_effect(setting: Setting, verbose: int = 0) -> Outcome:
    """Rand index over the kernel width, relative to the automatic width."""
    rows = []
    with progress_bar(setting.sweep_repeats, "widths", verbose) as bar:
        for repeat in range(setting.sweep_repeats):
            X, truth = make_helices(random_state=repeat)
            rows += _width_rows(setting, "three spirals", repeat, X, truth)
            bar.update()
    for subset, repeat, images in _samples(
        setting, setting.sweep_subsets, setting.sweep_repeats, verbose
    ):
        rows += _width_rows(setting, subset, repeat, images.points, images.truth)
    return Outcome(rows, {"source": images.source})


def _width_rows(setting: Setting, name: str, repeat: int, X: np.ndarray, truth: np.ndarray) -> Rows:
    automatic = path_similarity(X).sigma
    rows = []
    for factor in setting.factors:
        similarity = path_similarity(X, factor * automatic)
        for method, Y in _cluster_preserving(similarity).items():
            rand = score(Y, truth, repeat)
            rows.append(
                {
                    "data": name,
                    "repeat": repeat,
                    "method": method,
                    "factor": factor,
                    "sigma": similarity.sigma,
                    "rand_index": rand,
                }
            )
    return rows


def plane_embeddings(X: np.ndarray) -> dict[str, np.ndarray]:
    """Two dimensions by Laplacian eigenmaps and by both methods of the paper, with default settings."""
    eigenmaps = LaplacianEigenmaps(random_state=0).fit_transform(X)
    return {EIGENMAPS: eigenmaps, **_cluster_preserving(path_similarity(X))}


def _cluster_preserving(similarity: Any) -> dict[str, np.ndarray]:
    return {
        name: ClusterPreservingEmbedding(method=method, random_state=0).fit_transform(similarity)
        for name, method in METHODS.items()
    }


def sample_digits(setting: Setting, subset: tuple[int, ...], repeat: int) -> Sample:
    """Random images, the same number per digit: as in the setting, or half of the available ones."""
    images = _images(setting.data, subset)
    min_count = min(np.count_nonzero(images.classes == digit) for digit in subset)
    n_images = min(setting.n_images, min_count // 2)
    rng = np.random.default_rng([repeat, *subset])
    order = rng.permutation(len(images.classes))
    selected = np.concatenate(
        [order[images.classes[order] == digit][:n_images] for digit in subset]
    )
    return Sample(images.points[selected], images.classes[selected], images.source)


@lru_cache(maxsize=1)
def _images(folder: Path | None, subset: tuple[int, ...]) -> Images:
    return handwritten(folder, subset, None)


def _samples(
    setting: Setting, subsets: tuple[tuple[int, ...], ...], n_repeats: int, verbose: int
) -> Iterator[tuple[str, int, Sample]]:
    with progress_bar(len(subsets) * n_repeats, "digits", verbose) as bar:
        for subset in subsets:
            for repeat in range(n_repeats):
                yield ", ".join(map(str, subset)), repeat, sample_digits(setting, subset, repeat)
                bar.update()


def _principal(X: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import PCA as PrincipalComponents

    return PrincipalComponents(2, svd_solver="full").fit_transform(X)


def score(Y: np.ndarray, truth: np.ndarray, seed: int) -> float:
    """Rand index of k-means with the true number of clusters."""
    from sklearn.cluster import KMeans

    # k-means on few points is faster with one thread.
    with threadpool_limits(limits=1):
        labels = KMeans(len(np.unique(truth)), n_init=10, random_state=seed).fit_predict(Y)
    return rand_index(truth, labels)
