"""Sets on which the automatic number, layers and noise are judged: real and generated ones.

Rules are chosen on ``development`` sets and generated sets with seeds below 1000; ``report`` sets, and
generated sets with seeds from 1000 on, are run once a rule is frozen.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import labeled_sets
from benchmarks.labeled_sets import LabeledSet

ROWS, SEED = 4000, 0
HALVES = ("development", "report")
# Points and columns of structureless sets; the shapes of `separate_blobs`.
SIZES = ((60, 2), (300, 2), (300, 8), (1000, 3), (1000, 20))


def files(kind: str, half: str) -> Iterator[LabeledSet]:
    """Sets of ``fresh_<kind>_<half>.npz``; columns are prepared as the file says."""
    with np.load(labeled_sets.folder() / f"fresh_{kind}_{half}.npz") as arrays:
        for name in (n for n in arrays.files if "." not in n):
            X, y = arrays[name].astype(np.float64), arrays[f"{name}.y"]
            kept = np.arange(len(X))
            if len(X) > ROWS:
                kept = np.sort(np.random.default_rng(SEED).choice(len(X), ROWS, replace=False))
            how = str(arrays[f"{name}.prep"]) if f"{name}.prep" in arrays.files else "raw"
            codes = np.unique(y[kept], return_inverse=True)[1].astype(np.int64)
            yield LabeledSet(name, _prepared(X[kept], how), (codes,))


def _prepared(X: np.ndarray, how: str) -> np.ndarray:
    if how == "z":
        X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
        scale = X.std(axis=0)
        return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    return X / 255.0 if how == "255" else X


def easy(first_seed: int, n_seeds: int = 10) -> Iterator[LabeledSet]:
    """Separate blobs, moons, three nested rings and two spirals."""
    for seed in range(first_seed, first_seed + n_seeds):
        for k in range(2, 13):
            rng = np.random.default_rng([seed, k])
            dimension = int(rng.integers(2, 9))
            y = np.arange(60 * k) % k
            centers = labeled_sets._spaced_centers(k, dimension, 10.0, rng)
            yield _set(f"blobs_{k}_{seed}", centers[y] + rng.normal(size=(len(y), dimension)), y)
        for n in (300, 1000):
            for kind in ("moons", "rings", "spirals"):
                rng = np.random.default_rng([seed, n, zlib.crc32(kind.encode())])
                yield _set(f"{kind}_{n}_{seed}", *_easy_curves(kind, n, rng))


def _easy_curves(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    if kind == "moons":
        y = np.arange(n) % 2
        angles = rng.uniform(0, np.pi, n)
        X = np.column_stack([np.cos(angles), np.sin(angles)])
        X[y == 1] = [1.0, 0.5] - X[y == 1]
        return X + 0.06 * rng.normal(size=(n, 2)), y
    if kind == "rings":
        y = np.arange(n) % 3
        angles = rng.uniform(0, 2 * np.pi, n)
        X = (1.0 + y[:, None]) * np.column_stack([np.cos(angles), np.sin(angles)])
        return X + 0.08 * rng.normal(size=(n, 2)), y
    y = np.arange(n) % 2
    turn = np.sqrt(rng.uniform(0.04, 1.0, n)) * 3.0 * np.pi
    X = turn[:, None] * np.column_stack([np.cos(turn + np.pi * y), np.sin(turn + np.pi * y)])
    return X + 0.25 * rng.normal(size=(n, 2)), y


def structureless(first_seed: int, n_seeds: int = 5) -> Iterator[LabeledSet]:
    """One cluster, of seven kinds and five shapes."""
    for seed in range(first_seed, first_seed + n_seeds):
        for n, d in SIZES:
            rng = np.random.default_rng([seed, n, d])
            sphere = rng.normal(size=(n, d + 1))
            kinds = {
                "normal": rng.normal(size=(n, d)),
                "uniform": rng.uniform(size=(n, d)),
                "lognormal": rng.lognormal(size=(n, d)),
                "dirichlet": rng.dirichlet(np.full(d + 1, 0.5), n)[:, :d],
                "chi_square": rng.chisquare(1, size=(n, d)),
                "t3": rng.standard_t(3, size=(n, d)),
                "sphere": sphere / np.linalg.norm(sphere, axis=1, keepdims=True),
            }
            for kind, X in kinds.items():
                yield _set(f"{kind}_{n}x{d}_{seed}", X, np.zeros(n, np.int64))


def curves(first_seed: int, n_seeds: int = 3) -> Iterator[LabeledSet]:
    """Single curves, bands and rolls, 32 kinds."""
    for seed in range(first_seed, first_seed + n_seeds):
        for n in (300, 1000):
            rng = np.random.default_rng([seed, n, 7])
            for name, X in _single_curves(n, rng).items():
                yield _set(f"{name}_{n}_{seed}", X, np.zeros(n, np.int64))


def _single_curves(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    def noisy(X: np.ndarray, width: float) -> np.ndarray:
        return X + width * rng.normal(size=X.shape)

    def turn(end: float) -> np.ndarray:
        return rng.uniform(0.0, end, n)

    def circle(angles: np.ndarray) -> np.ndarray:
        return np.column_stack([np.cos(angles), np.sin(angles)])

    full = 2 * np.pi
    found = {f"circle_{w}": noisy(circle(turn(full)), w) for w in (0.02, 0.05, 0.1)}
    for inner in (0.3, 0.6, 0.85):
        radius = np.sqrt(rng.uniform(inner**2, 1.0, n))[:, None]
        found[f"thick_ring_{inner}"] = radius * circle(turn(full))
    for end in (0.5, 1.0, 1.5):
        found[f"arc_{end}"] = noisy(circle(turn(end * np.pi)), 0.05)
    for periods in (1, 3):
        # Even spacing along the wave: steep parts would otherwise be valleys of the density.
        x = np.linspace(0.0, periods * full, 4001)
        length = np.append(0.0, np.cumsum(np.hypot(np.diff(x), 2 * np.diff(np.sin(x)))))
        x = np.interp(rng.uniform(0.0, length[-1], n), length, x)
        found[f"wave_{periods}"] = noisy(np.column_stack([x, 2 * np.sin(x)]), 0.15)
    for height in (0.3, 1.0):
        angles = turn(3 * full)
        helix = np.column_stack([circle(angles), height * angles / full])
        found[f"helix_{height}"] = noisy(helix, 0.05)
    found["bar"] = rng.uniform(size=(n, 2)) * [20.0, 1.0]
    # A spiral of even spacing along itself.
    angles = np.sqrt(rng.uniform(0.04, 1.0, n)) * 3 * np.pi
    found["spiral"] = noisy(angles[:, None] * circle(angles), 0.25)
    angles = np.sqrt(rng.uniform(0.1, 1.0, n)) * 4 * np.pi
    rolled = angles[:, None] * circle(angles)
    found["roll"] = np.column_stack([rolled, rng.uniform(0, 15, n)])
    return found


def noisy(first_seed: int) -> Iterator[LabeledSet]:
    """Clusters in a uniform or heavy-tailed background: two families of kinds, and labelled shapes."""
    if first_seed == 0:
        yield from labeled_sets.clusters_in_noise()
        for item in labeled_sets.shapes():
            if item.name in labeled_sets.NOISY:
                truth = item.truths[labeled_sets.NOISY[item.name]]
                yield item._replace(truths=(truth,))
        return
    for kind in ("blobs", "moons", "rings", "varied", "stretched", "unequal", "spirals", "nested"):
        for dim in (2, 5, 20):
            for fraction in (0.1, 0.3):
                for background in ("uniform", "tail"):
                    name = f"{kind}_{dim}d_{int(100 * fraction)}_{background}_{first_seed}"
                    yield labeled_sets._in_noise(name, kind, dim, fraction, background, first_seed)


def mnist(first_seed: int) -> Iterator[LabeledSet]:
    """MNIST digits, rows 0 to 4,999 or 5,000 to 9,999, and scikit-learn's digits."""
    for item in labeled_sets.real():
        if item.name in ("mnist5000", "digits") and first_seed == 0:
            yield item
    if first_seed:
        yield next(labeled_sets.mnist_samples())


def _set(name: str, X: np.ndarray, y: np.ndarray) -> LabeledSet:
    """A set in a random order of its rows."""
    order = np.random.default_rng(zlib.crc32(name.encode())).permutation(len(X))
    return LabeledSet(name, X[order], (y[order].astype(np.int64),))


def _first_seed(half: str) -> int:
    return 0 if half == "development" else 1000


GROUPS: dict[str, Callable[[str], Iterator[LabeledSet]]] = {
    "shapes": lambda half: files("shapes", half),
    "real": lambda half: files("real", half),
    "easy": lambda half: easy(_first_seed(half), 10),
    "noisy": lambda half: noisy(_first_seed(half)),
    "structureless": lambda half: structureless(_first_seed(half)),
    "curves": lambda half: curves(_first_seed(half)),
    "mnist": lambda half: mnist(_first_seed(half)),
}
