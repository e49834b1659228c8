"""Generated tables: groups in columns of every kind, dependent columns without groups, columns of chance."""

from __future__ import annotations

from typing import Any

import numpy as np

Table = dict[str, np.ndarray]
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
) -> tuple[Table, np.ndarray]:
    """A table of numbers and categories with groups of rows of equal size, and the group of each row.

    Numbers are normally distributed around the centre of the group, each column in its own unit;
    ``separation`` is the distance of the two nearest centres in standard deviations. A category is that of
    the group with probability ``purity``. ``n_noise`` columns of each kind do not depend on the group.
    Missing values are None.
    """
    rng = np.random.default_rng(random_state)
    group = np.arange(n_rows) % n_groups
    table: Table = {}
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
    return np.array([f"kind {code:02d}" for code in codes], dtype=object)


def _with_gaps(column: np.ndarray, missing: float, rng: np.random.Generator) -> np.ndarray:
    cells = column.astype(object)
    cells[rng.random(len(cells)) < missing] = None
    return cells


def random_customers(seed: int, n_rows: int = 800, n_groups: int = 4) -> tuple[Table, np.ndarray]:
    """Groups of random sizes in columns that overlap: choices, ages, skewed incomes, and a yes or no."""
    rng = np.random.default_rng(1000 + seed)
    group = rng.choice(n_groups, n_rows, p=rng.dirichlet(np.full(n_groups, 5.0)))
    table: Table = {}
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


def random_mixture(seed: int) -> tuple[Table, np.ndarray]:
    """Groups of random sizes in numbers, skewed amounts, counts and categories, with gaps and noise."""
    rng = np.random.default_rng(5000 + seed)
    k, n = int(rng.integers(2, 7)), int(rng.integers(300, 1200))
    group = rng.choice(k, n, p=rng.dirichlet(np.full(k, 8.0)))
    table: Table = {}
    for j in range(int(rng.integers(0, 6))):
        spread = rng.normal(size=k)[group] * rng.uniform(0.8, 2.5)
        table[f"number {j}"] = spread + rng.normal(size=n)
    for j in range(int(rng.integers(0, 3))):
        logs = rng.normal(size=k)[group] * 1.5 + rng.normal(size=n)
        table[f"amount {j}"] = np.exp(5.0 + logs)
    for j in range(int(rng.integers(0, 3))):
        table[f"count {j}"] = rng.poisson(rng.gamma(1.5, 2.0, k)[group]).astype(float)
    for j in range(int(rng.integers(3, 9))):
        levels = int(rng.integers(2, 8))
        chances = rng.dirichlet(np.full(levels, 0.6), k).cumsum(axis=1)[group]
        table[f"category {j}"] = _words((rng.random((n, 1)) > chances[:, :-1]).sum(axis=1))
    table |= columns_of_chance(int(rng.integers(0, 6)), n, rng)
    gaps = float(rng.choice([0.0, 0.0, 0.1]))
    return {name: _with_gaps(column, gaps, rng) for name, column in table.items()}, group


def random_continuum(seed: int) -> tuple[Table, np.ndarray]:
    """Columns that depend on one to three normal traits of a row: no groups."""
    rng = np.random.default_rng(7000 + seed)
    q, n = int(rng.integers(1, 4)), int(rng.integers(300, 1000))
    traits = rng.normal(size=(n, q))
    table: Table = {}

    def mixed() -> np.ndarray:
        loads = rng.normal(size=q)
        return traits @ loads / np.linalg.norm(loads) * rng.uniform(1.0, 3.0) + rng.normal(size=n)

    for j in range(int(rng.integers(0, 6))):
        table[f"number {j}"] = mixed()
    for j in range(int(rng.integers(0, 2))):
        table[f"amount {j}"] = np.exp(mixed())
    for j in range(int(rng.integers(3, 9))):
        levels = int(rng.integers(2, 6))
        value = mixed()
        cuts = np.quantile(value, np.sort(rng.uniform(0.1, 0.9, levels - 1)))
        table[f"category {j}"] = _words(rng.permutation(levels)[np.searchsorted(cuts, value)])
    table |= columns_of_chance(int(rng.integers(0, 4)), n, rng)
    return table, np.zeros(n, dtype=np.int64)


def columns_of_chance(count: int, n: int, rng: np.random.Generator, kind: int = -1) -> Table:
    """Columns that do not depend on anything; ``kind`` from 0 to 5, or -1 for any."""
    table: Table = {}
    for j in range(count):
        which = int(rng.integers(6)) if kind < 0 else kind
        levels = int(rng.integers(2, 8))
        values: list[Any] = [
            rng.normal(size=n),
            np.exp(rng.normal(size=n)),
            np.where(rng.random(n) < 0.6, 0.0, rng.gamma(2.0, 100.0, n)),
            rng.poisson(3.0, n).astype(float),
            _words(rng.choice(levels, n, p=rng.dirichlet(np.full(levels, 2.0)))),
            np.datetime64("2024-01-01") + rng.integers(0, 700, n).astype("timedelta64[D]"),
        ]
        table[f"chance {j}"] = values[which]
    return table


def structureless(seed: int) -> tuple[Table, np.ndarray]:
    """Independent columns: of one kind for the first six seeds, of every kind afterwards."""
    rng = np.random.default_rng(9000 + seed)
    n = int(rng.integers(200, 1000))
    kind = seed if seed < 6 else -1
    return columns_of_chance(int(rng.integers(3, 12)), n, rng, kind), np.zeros(n, dtype=np.int64)
