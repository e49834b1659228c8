"""Near-duplicates with defaults: F1 of the pairs at the automatic threshold and at the best in hindsight."""

from __future__ import annotations

import inspect
import pkgutil
import sys
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances

from benchmarks import labeled_sets
from benchmarks.report import write_results

Change = Callable[[Any, np.random.Generator], Any]
FRACTIONS = (0.02, 0.1, 0.3)
MAX_COPIES = 3
# A threshold that projects for deduplication of embeddings start from.
FIXED_COSINE = 0.1
# Sets that the rule was developed on; the others were measured once it was fixed.
DEVELOPED_ON = ("digits", "orl", "mnist", "made texts")


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick`` one fraction of copies, nothing written."""
    records: dict[str, dict[str, Any]] = {}
    for name, rows, change, vectors, metric in sets():
        for fraction in FRACTIONS[1:2] if quick else FRACTIONS:
            key = f"{name}, {100 * fraction:g} %"
            if only and only not in key:
                continue
            rng = np.random.default_rng(zlib.crc32(key.encode()))
            changed, source = planted(rows, change, rng, fraction)
            records[key] = measure(vectors(changed), source, metric)
            records[key]["developed_on"] = name.startswith(DEVELOPED_ON)
            print(key, records[key], flush=True)
    for name, rows, _, vectors, metric in unchanged(sets()):
        key = f"{name}, none"
        if only and only not in key:
            continue
        records[key] = measure(vectors(rows), np.arange(len(rows)), metric)
        records[key]["developed_on"] = name.startswith(DEVELOPED_ON)
        print(key, records[key], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("near_duplicates", records, page)


def planted(
    rows: Any, change: Change, rng: np.random.Generator, fraction: float
) -> tuple[list[Any], np.ndarray]:
    """Rows and changed copies of some of them, with the source of each."""
    result, source = list(rows), list(range(len(rows)))
    for row in rng.choice(len(result), int(fraction * len(result)), replace=False):
        for _ in range(rng.integers(1, MAX_COPIES + 1)):
            result.append(change(result[row], rng))
            source.append(row)
    return result, np.array(source)


def measure(X: np.ndarray, source: np.ndarray, metric: str) -> dict[str, Any]:
    """F1 score of pairs with the automatic threshold, the best one, and a fixed one."""
    from vicinal import near_duplicates

    i, j = np.triu_indices(len(X), 1)
    distances = pairwise_distances(X, metric=metric)[i, j]
    true = source[i] == source[j]
    result = near_duplicates(X, metric=metric)
    record: dict[str, Any] = {"rows": len(X), "threshold": result.threshold}
    if not true.any():
        equal = len(X) - len(np.unique(X, axis=0))
        return record | {"false_pairs": max(0, result.n_pairs - equal)}
    order = np.argsort(distances, kind="stable")
    hits, counts = np.cumsum(true[order]), np.arange(1, len(order) + 1)
    scores = 2 * hits / (counts + true.sum())
    same = source[result.pairs[:, 0]] == source[result.pairs[:, 1]]
    cosine = pairwise_distances(X, metric="cosine")[i, j] <= FIXED_COSINE
    return record | {
        "best": float(scores.max()),
        "auto": float(2 * same.sum() / (result.n_pairs + true.sum())),
        "fixed": float(2 * (true & cosine).sum() / (cosine.sum() + true.sum())),
    }


def sets() -> Iterator[tuple[str, Any, Change, Callable[[Any], np.ndarray], str]]:
    """Name, rows, how copies are changed, how rows become vectors, and the metric."""
    folder = labeled_sets.folder()
    images = {
        "digits": load_digits().images,
        "orl": np.load(folder / "orl_faces.npz")["X"][:, ::2, ::2].astype(np.float64),
        "mnist": np.load(folder / "mnist_test.npz")["X"][:2000].astype(np.float64),
        "mpeg7": np.load(folder / "mpeg7_shapes.npz")["mask64"][:, ::2, ::2].astype(np.float64),
    }
    for name, pixels in images.items():
        for label, change in IMAGE_CHANGES.items():
            yield f"{name}, {label}", pixels, change, flat, "euclidean"
    for name in ("vehicle", "image_segmentation_2100"):
        table = np.genfromtxt(folder / "uci" / f"{name}.csv", delimiter=",", skip_header=1)[:, :-1]
        table = np.unique(table[:, table.std(axis=0) > 0], axis=0)
        yield f"{name}, noise", table / table.std(axis=0), jitter, np.asarray, "euclidean"
    yield "made texts, edits", made_texts(np.random.default_rng(0), 1000), edit, tfidf, "cosine"
    yield "docstrings, edits", docstrings(), edit, tfidf, "cosine"
    yield "docstrings (LSA), edits", docstrings(), edit, latent, "cosine"


def unchanged(items: Iterator[Any]) -> Iterator[Any]:
    """One item per set, under the name of the set."""
    seen = set()
    for name, *rest in items:
        base = name.partition(",")[0]
        if base not in seen:
            seen.add(base)
            yield base, *rest


def noise(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Pixels with noise of a tenth of their standard deviation."""
    return image + rng.normal(0, 0.1 * image.std(), image.shape)


def brightness(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All pixels brighter or darker by at most a tenth."""
    return image * (1 + rng.uniform(-0.1, 0.1))


def shift(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The image moved by at most 0.3 pixels."""
    return ndimage.shift(image, rng.uniform(-0.3, 0.3, 2), order=1, mode="nearest")


def all_changes(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Noise, brightness and shift together."""
    return noise(brightness(shift(image, rng), rng), rng)


IMAGE_CHANGES: dict[str, Change] = {
    "noise": noise,
    "brightness": brightness,
    "all changes": all_changes,
}


def jitter(row: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A row with noise of 0.02 standard deviations."""
    return row + rng.normal(0, 0.02, row.shape)


def made_texts(rng: np.random.Generator, n: int) -> list[list[str]]:
    """Texts with frequent words of a language and words of one of 20 topics."""
    return topic_texts(rng, n)[0]


def topic_texts(
    rng: np.random.Generator, n: int, n_words: int = 2000, of_topic: float = 0.5
) -> tuple[list[list[str]], np.ndarray]:
    """Texts of a language in which some words are those of one of 20 topics, and their topics."""
    weights = 1 / np.arange(1, n_words + 1)
    orders = [rng.permutation(n_words) for _ in range(20)]
    texts, topics = [], []
    for _ in range(n):
        words = rng.choice(n_words, rng.integers(20, 60), p=weights / weights.sum())
        changed = rng.random(len(words)) < of_topic
        topics.append(int(rng.integers(20)))
        words[changed] = orders[topics[-1]][words[changed]]
        texts.append([f"w{word}" for word in words])
    return texts, np.array(topics)


def docstrings() -> list[list[str]]:
    """Docstrings of scikit-learn's and scipy's functions, each once, as lists of words."""
    texts = {}
    for package in ("scipy.stats", "scipy.special", "sklearn.metrics", "numpy", "scipy.signal"):
        for name in dir(import_module(package)):
            words = (inspect.getdoc(getattr(sys.modules[package], name)) or "").split()[:80]
            if len(words) >= 20:
                texts[" ".join(words)] = words
    for module in pkgutil.iter_modules():
        if module.name in sys.stdlib_module_names and module.name in sys.modules:
            words = (sys.modules[module.name].__doc__ or "").split()[:80]
            if len(words) >= 20:
                texts[" ".join(words)] = words
    return list(texts.values())


def edit(words: list[str], rng: np.random.Generator) -> list[str]:
    """A tenth of the words replaced by other words of the text, and one removed."""
    words = list(words)
    for at in rng.choice(len(words), max(1, len(words) // 10), replace=False):
        words[at] = words[rng.integers(len(words))] + "s"
    del words[rng.integers(len(words))]
    return words


def flat(images: Any) -> np.ndarray:
    """Images as rows of pixels."""
    return np.reshape(images, (len(images), -1))


def tfidf(texts: Any) -> np.ndarray:
    """Weighted word counts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer().fit_transform([" ".join(words) for words in texts]).toarray()


def latent(texts: Any) -> np.ndarray:
    """Weighted word counts, reduced to 100 dimensions."""
    from sklearn.decomposition import TruncatedSVD

    return TruncatedSVD(100, random_state=0).fit_transform(tfidf(texts))


def markdown(records: dict[str, dict[str, Any]]) -> str:
    """Sets as rows."""
    lines = [
        "# Benchmark: near-duplicates",
        "",
        "Made by `python -m benchmarks near_duplicates`: F1 score of the pairs that `near_duplicates` finds "
        "with its automatic threshold, with the best threshold in hindsight, and with a fixed cosine "
        f"distance of {FIXED_COSINE}. Of the given fraction of rows, 1 to {MAX_COPIES} changed copies were "
        'added; the rows "none" have no copies, and the false pairs are counted. The rule was developed on '
        'sets marked "yes", with other copies.',
        "",
        "| set | developed on | rows | auto | best in hindsight | auto / best | fixed |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, record in records.items():
        known = "yes" if record["developed_on"] else "no"
        start = f"| {name} | {known} | {record['rows']} |"
        if "best" in record:
            lines.append(
                f"{start} {record['auto']:.3f} | {record['best']:.3f} "
                f"| {record['auto'] / record['best']:.3f} | {record['fixed']:.3f} |"
            )
        else:
            lines.append(f"{start} {record['false_pairs']} false pairs | | | |")
    return "\n".join([*lines, ""])
