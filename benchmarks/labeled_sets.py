"""Sets with known clusters, noise or outliers, read from VICINAL_DATA or generated from fixed seeds.

Rules are chosen on the development half and reported on the other. The half of a set depends only on its
name: it is the parity of the CRC-32.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets

UCI = ("breast_tissue", "wine", "glass", "soybean", "vehicle", "image_segmentation")
# Sets with labelled noise, and the index of the labelling that contains it.
NOISY = {
    "fcps/target": 1,
    "sipu/compound": 2,
    "sipu/flame": 1,
    "other/hdbscan": 0,
    "other/chameleon_t8_8k": 0,
    "graves/zigzag_noisy": 0,
    "wut/x2": 1,
}


# Sets of noisy_shapes.npz.
NOISY_SHAPES = ("other/hdbscan", "other/chameleon_t8_8k", "graves/zigzag_noisy", "wut/x2")


class LabeledSet(NamedTuple):
    """Points and one or more true labellings, in which -1 is noise."""

    name: str
    points: np.ndarray
    truths: tuple[np.ndarray, ...]

    @property
    def development(self) -> bool:
        """Whether rules may be chosen by looking at this set."""
        return zlib.crc32(self.name.encode()) % 2 == 0


def folder() -> Path:
    """Folder of the real sets."""
    name = os.environ.get("VICINAL_DATA")
    if not name:
        raise SystemExit("Set VICINAL_DATA to the folder with shapes2d.npz and the other sets.")
    return Path(name)


def shapes() -> Iterator[LabeledSet]:
    """Small sets with difficult shapes, some with labelled noise."""
    for file in ("shapes2d.npz", "noisy_shapes.npz"):
        with np.load(folder() / file) as arrays:
            for name in (n for n in arrays.files if ".labels" not in n):
                keys = sorted(k for k in arrays.files if k.startswith(f"{name}.labels"))
                truths = tuple(arrays[key].astype(np.int64) - 1 for key in keys)
                yield LabeledSet(name, arrays[name].astype(np.float64), truths)


def real() -> Iterator[LabeledSet]:
    """Tables and images with classes; columns of tables are standardised, missing values become means."""
    for name in UCI:
        from studies.loaders import load_uci_table

        X, y = load_uci_table(name, folder())
        X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
        scale = X.std(axis=0)
        yield LabeledSet(
            f"uci/{name}", (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0), (y,)
        )
    X, y = datasets.load_digits(return_X_y=True)
    yield LabeledSet("digits", X, (y,))
    with np.load(folder() / "mnist_test.npz") as arrays:
        X = arrays["X"][:5000].reshape(5000, -1) / 255.0
        yield LabeledSet("mnist5000", X, (arrays["y"][:5000].astype(np.int64),))
    with np.load(folder() / "orl_faces.npz") as arrays:
        X = arrays["X"].reshape(400, 28, 4, 23, 4).mean(axis=(2, 4)).reshape(400, -1) / 255.0
        yield LabeledSet("orl", X, (arrays["y"].astype(np.int64),))


def mnist_samples() -> Iterator[LabeledSet]:
    """Other samples of 5,000 MNIST digits than that of `real`: the second half, and random halves."""
    with np.load(folder() / "mnist_test.npz") as arrays:
        X, y = arrays["X"].reshape(10000, -1) / 255.0, arrays["y"].astype(np.int64)
    samples = {"second": np.arange(5000, 10000)}
    for seed in (1, 2, 3):
        samples[f"random{seed}"] = np.sort(np.random.default_rng(seed).permutation(10000)[:5000])
    for name, rows in samples.items():
        yield LabeledSet(f"mnist_{name}", X[rows], (y[rows],))


class OutlierSet(NamedTuple):
    """Points with columns in [0, 1], whether each is an outlier, and what kind of data it is."""

    name: str
    family: str
    development: bool
    points: np.ndarray
    outlier: np.ndarray


# Rules were chosen on the first two; the third was measured once they were fixed.
OUTLIER_FILES = ("outlier_tables", "fresh_outliers_development", "fresh_outliers_report")
MAX_OUTLIER_ROWS = 5000


def outlier_sets() -> Iterator[OutlierSet]:
    """Tables, and embeddings of images and texts, with labelled outliers; at most 5,000 rows of each."""
    for file in OUTLIER_FILES:
        with np.load(folder() / f"{file}.npz") as arrays:
            for key in (n for n in arrays.files if n.endswith(".outlier")):
                name = key.removesuffix(".outlier")
                X, outlier = arrays[name].astype(np.float64), arrays[key].astype(bool)
                rng = np.random.default_rng(zlib.crc32(name.encode()))
                rows = np.sort(rng.permutation(len(X))[:MAX_OUTLIER_ROWS])
                X, outlier = X[rows], outlier[rows]
                span = np.ptp(X, axis=0)
                X = (X - X.min(axis=0)) / np.where(span > 0, span, 1.0)
                image = name.startswith("ResNet")
                family = "images" if image else "texts" if "BERT" in name else "tables"
                yield OutlierSet(name, family, not file.endswith("report"), X, outlier)


def structureless(n_seeds: int = 2) -> Iterator[LabeledSet]:
    """Single clusters of several sizes and dimensions: uniform, Gaussian, rolls and rings."""
    for n in (50, 200, 1000, 5000):
        for seed in range(n_seeds):
            for dim in (1, 2, 3, 10, 50):
                rng = np.random.default_rng([seed, n, dim])
                single_cluster = (np.zeros(n, dtype=np.int64),)
                yield LabeledSet(
                    f"uniform_{dim}d_{n}_{seed}", rng.uniform(size=(n, dim)), single_cluster
                )
                yield LabeledSet(
                    f"gaussian_{dim}d_{n}_{seed}", rng.normal(size=(n, dim)), single_cluster
                )
            rng = np.random.default_rng([seed, n])
            roll = datasets.make_swiss_roll(n, random_state=seed)[0]
            yield LabeledSet(f"roll_{n}_{seed}", roll, single_cluster)
            angles = rng.uniform(0, 2 * np.pi, n)
            ring = np.c_[np.cos(angles), np.sin(angles)]
            yield LabeledSet(
                f"ring_{n}_{seed}", ring + 0.05 * rng.normal(size=(n, 2)), single_cluster
            )


def clusters_in_noise(n_seeds: int = 1) -> Iterator[LabeledSet]:
    """Blobs, moons, rings and varied densities in a uniform or heavy-tailed background (-1)."""
    for kind in ("blobs", "moons", "rings", "varied"):
        for dim in (2, 3, 10, 30):
            for fraction in (0.05, 0.2, 0.5):
                for background in ("uniform", "tail"):
                    for seed in range(n_seeds):
                        name = f"{kind}_{dim}d_{int(100 * fraction)}_{background}_{seed}"
                        yield _in_noise(name, kind, dim, fraction, background, seed)


def other_clusters_in_noise() -> Iterator[LabeledSet]:
    """Further families in noise: stretched and unequal blobs, spirals, nested rings."""
    for kind in ("stretched", "unequal", "spirals", "nested"):
        for dim in (2, 5, 20):
            for fraction in (0.1, 0.3):
                for background in ("uniform", "tail"):
                    name = f"{kind}_{dim}d_{int(100 * fraction)}_{background}"
                    yield _in_noise(name, kind, dim, fraction, background, 0)


def _in_noise(
    name: str, kind: str, dim: int, fraction: float, background: str, seed: int
) -> LabeledSet:
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    make = _clusters if kind in ("blobs", "moons", "rings", "varied") else _other_clusters
    points, labels = make(kind, dim, 1000, rng)
    m = round(len(points) * fraction / (1 - fraction))
    low, high = points.min(axis=0), points.max(axis=0)
    if background == "uniform":
        margin = 0.1 * (high - low)
        noise = rng.uniform(low - margin, high + margin, size=(m, dim))
    else:
        noise = points.mean(axis=0) + 1.5 * points.std(axis=0) * rng.normal(size=(m, dim))
    order = rng.permutation(len(points) + m)
    truth = np.concatenate([labels, np.full(m, -1)])
    return LabeledSet(name, np.concatenate([points, noise])[order], (truth[order],))


def _clusters(
    kind: str, dim: int, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Clusters in ``dim`` columns; moons and rings lie in a random plane, with noise in all columns."""
    if kind in ("blobs", "varied"):
        n_blobs = 5
        spread = np.full(n_blobs, 1.0) if kind == "blobs" else np.geomspace(0.4, 1.6, n_blobs)
        centers = _spaced_centers(n_blobs, dim, 6.0 * spread.max(), rng)
        labels = np.arange(n) % n_blobs
        return centers[labels] + spread[labels, None] * rng.normal(size=(n, dim)), labels
    angles = rng.uniform(0, np.pi if kind == "moons" else 2 * np.pi, n)
    labels = np.arange(n) % 2
    if kind == "moons":
        flat = np.c_[np.cos(angles), np.sin(angles)]
        flat = np.where(labels[:, None] == 0, flat, [1.0, 0.5] - flat)
    else:
        flat = np.c_[np.cos(angles), np.sin(angles)] * np.where(labels == 0, 1.0, 0.4)[:, None]
    plane = np.linalg.qr(rng.normal(size=(dim, dim)))[0][:2]
    return flat @ plane + 0.08 / np.sqrt(dim / 2) * rng.normal(size=(n, dim)), labels


def _other_clusters(
    kind: str, dim: int, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Blobs of different shape, or of different size and density; spirals and rings in a random plane."""
    if kind in ("stretched", "unequal"):
        fractions = np.geomspace(1.0, 1.0 if kind == "stretched" else 0.1, 4)
        labels = rng.choice(4, n, p=fractions / fractions.sum())
        spread = np.ones(4) if kind == "stretched" else rng.permutation(np.geomspace(0.3, 2.0, 4))
        offsets = rng.normal(size=(n, dim)) * spread[labels, None]
        if kind == "stretched":
            axes = [np.linalg.qr(rng.normal(size=(dim, dim)))[0] for _ in range(4)]
            scales = np.geomspace(0.4, 2.0, dim)
            turned = np.array([axis * scales for axis in axes])
            offsets = np.einsum("ni,nij->nj", offsets, turned[labels].transpose(0, 2, 1))
        return _spaced_centers(4, dim, 10.0, rng)[labels] + offsets, labels
    if kind == "spirals":
        labels = np.arange(n) % 2
        turn = np.sqrt(rng.uniform(0.05, 1.0, n)) * 3.0 * np.pi
        angles = turn + np.pi * labels
        flat, width = turn[:, None] * np.c_[np.cos(angles), np.sin(angles)], 0.3
    else:
        labels = rng.choice(3, n, p=[0.15, 0.35, 0.5])
        angles = rng.uniform(0, 2 * np.pi, n)
        flat, width = (1.0 + 2.0 * labels)[:, None] * np.c_[np.cos(angles), np.sin(angles)], 0.15
    plane = np.linalg.qr(rng.normal(size=(dim, dim)))[0][:2]
    return flat @ plane + width / np.sqrt(dim / 2) * rng.normal(size=(n, dim)), labels


def _spaced_centers(n: int, dim: int, distance: float, rng: np.random.Generator) -> np.ndarray:
    """Centers with at least the given distance between each pair."""
    side = distance
    while True:
        for _ in range(200):
            centers = rng.uniform(-side, side, size=(n, dim))
            distances = np.linalg.norm(centers[:, None] - centers[None], axis=2)
            if distances[np.triu_indices(n, 1)].min() >= distance:
                return centers
        side *= 1.2


def clusters() -> Iterator[LabeledSet]:
    """Generated clusters without noise: blobs, moons and rings of several numbers and dimensions."""
    for dim in (2, 5, 20):
        for n_blobs in (2, 3, 5, 10, 25, 60):
            for spread in (0.5, 1.0):
                name = f"make_blobs_{dim}d_{n_blobs}_{spread}"
                seed = zlib.crc32(name.encode()) % 1000
                n = max(300, 40 * n_blobs)
                X, y = datasets.make_blobs(
                    n, dim, centers=n_blobs, cluster_std=spread, random_state=seed
                )
                yield LabeledSet(name, X, (y,))
    for kind in ("blobs", "varied", "moons", "rings"):
        for dim in (2, 3, 10, 30):
            name = f"clean_{kind}_{dim}d"
            X, y = _clusters(kind, dim, 600, np.random.default_rng(zlib.crc32(name.encode())))
            yield LabeledSet(name, X, (y,))
    for name in ("iris", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield LabeledSet(f"sklearn/{name}", (X - X.mean(axis=0)) / X.std(axis=0), (y,))


def varied_clusters() -> Iterator[LabeledSet]:
    """Moons, circles, spirals, stretched, varied, unequal, bridged and crowded blobs, and curved classes."""
    for kind in (
        "moons",
        "circles",
        "spirals",
        "stretched",
        "varied",
        "unequal",
        "bridge",
        "crowd",
    ):
        for n in (200, 600, 2000):
            for seed in range(2):
                name = f"{kind}_{n}_{seed}"
                X, y = _planar_clusters(kind, n, np.random.default_rng(zlib.crc32(name.encode())))
                yield LabeledSet(name, X, (y,))
    for dim in (5, 15, 50):
        for n_classes in (3, 8, 20):
            for spread in (1.0, 1.5):
                name = f"curved_{dim}d_{n_classes}_{spread}"
                rng = np.random.default_rng(zlib.crc32(name.encode()))
                X, y = _curved_classes(dim, n_classes, spread, rng)
                yield LabeledSet(name, X, (y,))
    for n_blobs in (2, 5, 12, 20, 30, 40):
        for dim in (2, 10, 30):
            name = f"spaced_{n_blobs}_{dim}d"
            rng = np.random.default_rng(zlib.crc32(name.encode()))
            y = np.arange(max(400, 40 * n_blobs)) % n_blobs
            X = _spaced_centers(n_blobs, dim, 8.0, rng)[y] + rng.normal(size=(len(y), dim))
            yield LabeledSet(name, X, (y,))


def _planar_clusters(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    seed = int(rng.integers(1 << 30))
    if kind == "moons":
        return datasets.make_moons(n, noise=rng.choice([0.05, 0.08, 0.11]), random_state=seed)
    if kind == "circles":
        noise = rng.choice([0.03, 0.06])
        return datasets.make_circles(n, noise=noise, factor=0.5, random_state=seed)
    if kind == "spirals":
        n_arms = int(rng.integers(2, 5))
        y, turn = np.arange(n) % n_arms, np.sqrt(rng.uniform(0.05, 1, n)) * 2.5 * np.pi
        angles = turn + 2 * np.pi * y / n_arms
        X = turn[:, None] * np.c_[np.cos(angles), np.sin(angles)]
        return X + 0.15 * rng.normal(size=(n, 2)), y
    if kind == "bridge":
        y, m = np.repeat([0, 1, -1], [n // 2, n // 2, max(4, n // 50)]), max(4, n // 50)
        X = rng.normal(size=(n, 2)) + np.where(y[:n, None] == 0, 0.0, [4.5, 0.0])
        return np.r_[X, np.c_[rng.uniform(0, 4.5, m), 0.1 * rng.normal(size=m)]], y
    if kind == "crowd":
        y = np.arange(n) % 25
        return np.c_[y % 5, y // 5] * 5.0 + rng.normal(size=(n, 2)), y
    n_blobs = int(rng.integers(3, 7))
    std = np.geomspace(0.3, 2.0, n_blobs) if kind == "varied" else np.ones(n_blobs)
    fractions = np.geomspace(1, 0.05 if kind == "unequal" else 1, n_blobs)
    y = rng.choice(n_blobs, n, p=fractions / fractions.sum())
    X = rng.uniform(-12, 12, size=(n_blobs, 2))[y] + std[y, None] * rng.normal(size=(n, 2))
    return (X @ rng.normal(size=(2, 2)) if kind == "stretched" else X), y


def _curved_classes(
    dim: int, n_classes: int, spread: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Like images: every class is a curved sheet of three dimensions in many columns."""
    n = max(600, 60 * n_classes)
    y = rng.integers(n_classes, size=n)
    centers, axes = spread * rng.normal(size=(n_classes, 8)), rng.normal(size=(n_classes, 3, 8))
    latent = centers[y] + 0.5 * np.einsum("ni,nij->nj", rng.normal(size=(n, 3)), axes[y])
    latent += 0.15 * rng.normal(size=(n, 8))
    X = np.tanh(0.4 * latent @ rng.normal(size=(8, 64))) @ rng.normal(size=(64, dim)) / 8
    return X + 0.02 * rng.normal(size=(n, dim)), y
