"""A table of numbers and categories, whose rows come in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.options import checked, random_generator
from vicinal._core.scalar_checks import check_count, check_real

if TYPE_CHECKING:
    from vicinal._core.types import RandomStateLike

# Number of categories of columns that depend on the group, at least, and of the columns that do not, in turn.
MIN_CATEGORIES, NOISE_CATEGORIES = 4, (2, 3, 4, 5)
# Powers of ten that columns of numbers are scaled by.
UNITS = (-2.0, 3.0)


@checked
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
    random_state: RandomStateLike = None,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Make a table of numbers and categories with groups of rows of equal size.

    Parameters
    ----------
    n_rows : int, default=300
        Number of rows.
    n_groups : int, default=3
        Number of groups.
    n_numeric : int, default=8
        Columns of numbers that depend on the group: normally distributed around the centre of the group, each
        column in its own unit.
    n_categorical : int, default=8
        Columns of categories that depend on the group.
    n_noise : int, default=0
        Number of numeric columns, and of categorical ones, that do not depend on the group.
    separation : float, default=8.0
        Distance of the two nearest centres, in standard deviations within groups.
    purity : float, default=0.8
        Probability that a category is that of the group; otherwise it is drawn from all categories.
    missing : float, default=0.0
        Fraction of missing values; they are None.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    table : dict of str to ndarray
        Columns by name.
    group : ndarray of int (n_rows,)
        Group of each row.

    Examples
    --------
    >>> from vicinal.datasets import make_mixed_table
    >>> table, group = make_mixed_table(6, n_numeric=1, n_categorical=1, random_state=0)
    >>> list(table), group.tolist()
    (['number 1', 'category 1'], [0, 1, 2, 0, 1, 2])
    """
    n_rows, n_groups = check_count(n_rows, "n_rows"), check_count(n_groups, "n_groups")
    n_numeric = check_count(n_numeric, "n_numeric", low=0)
    n_categorical = check_count(n_categorical, "n_categorical", low=0)
    n_noise = check_count(n_noise, "n_noise", low=0)
    separation = check_real(separation, "separation", low=0.0, high=1e100)
    purity = check_real(purity, "purity", low=0.0, high=1.0)
    missing = check_real(missing, "missing", low=0.0, high=1.0)
    rng = random_generator(random_state)
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


def _centers(n_groups: int, d: int, separation: float, rng: Any) -> np.ndarray:
    centers = rng.standard_normal((n_groups, d))
    distances = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(n_groups, 1)]
    return centers * (separation / distances.min(initial=np.inf) if n_groups > 1 else 1.0)


def _words(codes: np.ndarray) -> np.ndarray:
    return np.array([f"kind {chr(ord('A') + code % 26)}{code // 26 or ''}" for code in codes])


def _with_gaps(column: np.ndarray, missing: float, rng: Any) -> np.ndarray:
    cells = column.astype(object)
    cells[rng.random(len(cells)) < missing] = None
    return cells
