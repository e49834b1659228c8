"""What each kind of column does to the points of a table with three groups."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks.table_generators import columns_of_chance, make_mixed_table
from vicinal import TableEncoder

N = 400


def groups(seed=0, **options):
    """A table with three groups in numbers and categories, and the groups."""
    return make_mixed_table(N, n_numeric=4, n_categorical=4, random_state=seed, **options)


def score(table, group):
    """Adjusted Rand index of k-means on the points."""
    points = TableEncoder().fit_transform(table)
    k = len(np.unique(group))
    return adjusted_rand_score(group, KMeans(k, n_init=5, random_state=0).fit_predict(points))


def column_of(encoder, name):
    return next(column for column in encoder.columns_ if column.name == name)


def chance(seed=0):
    return np.random.default_rng(100 + seed)


ADDED = {
    "a constant": lambda rng, g: np.full(N, 3.0),
    "nearly constant": lambda rng, g: np.where(np.arange(N) < 4, 1.0, 0.0),
    "row numbers": lambda rng, g: np.arange(N),
    "names": lambda rng, g: [f"name {i}" for i in range(N)],
    "free text": lambda rng, g: [" ".join(rng.choice(list("abcdefgh"), 9)) for _ in range(N)],
    "high-cardinality codes": lambda rng, g: [f"c{v}" for v in rng.integers(0, 180, N)],
    "random postcodes": lambda rng, g: rng.integers(10_000, 99_999, N).astype(float),
    "heavy tails": lambda rng, g: rng.standard_cauchy(N),
    "amounts": lambda rng, g: np.exp(rng.normal(0, 3, N)),
    "mostly zero": lambda rng, g: np.where(rng.random(N) < 0.7, 0.0, rng.gamma(2, 100, N)),
    "half zero": lambda rng, g: np.where(rng.random(N) < 0.4, 0.0, np.exp(rng.normal(5, 1, N))),
    "three cells of a million": lambda rng, g: np.where(np.arange(N) < 3, 1e6, rng.normal(size=N)),
    "coins": lambda rng, g: rng.choice(["head", "tail"], N),
    "counts": lambda rng, g: rng.poisson(2.0, N),
    "dates": lambda rng, g: np.datetime64("2024-01-01") + rng.integers(0, 900, N),
}


@pytest.mark.parametrize("kind", ADDED)
def test_a_column_that_says_nothing_does_not_count(kind):
    table, group = groups()
    values = ADDED[kind](chance(), group)
    encoder = TableEncoder().fit({**table, "added": values})
    added = column_of(encoder, "added")
    assert added.weight < 0.05
    assert added.used or added.reason
    assert score({**table, "added": values}, group) >= score(table, group) - 0.02


@pytest.mark.parametrize("kind", [0, 1, 3, 4])
def test_copies_of_a_column_of_chance_are_no_evidence(kind):
    table, group = groups()
    (values,) = columns_of_chance(1, N, chance(), kind).values()
    copies = {f"copy {i}": values for i in range(5)}
    encoder = TableEncoder().fit({**table, **copies})
    assert all(not column_of(encoder, name).used for name in copies)
    assert score({**table, **copies}, group) >= score(table, group) - 0.02


def test_copies_count_once_together_and_say_so():
    table, _ = groups()
    copies = {f"copy {i}": table["number 1"] for i in range(3)}
    once, four = TableEncoder().fit(table), TableEncoder().fit({**table, **copies})
    assert "counts once together with" in column_of(four, "number 1").reason
    first = {name: values[:50] for name, values in {**table, **copies}.items()}
    second = {name: values[50:100] for name, values in {**table, **copies}.items()}
    parts = four.differences(first, second)
    together = sum(parts[name] for name in ["number 1", *copies])
    names = list(table)
    alone = once.differences({n: first[n] for n in names}, {n: second[n] for n in names})[
        "number 1"
    ]
    np.testing.assert_allclose(together, alone, rtol=0.3, atol=1e-6)


def test_codes_nested_in_groups_help_and_rare_ones_are_pooled():
    table, group = groups()
    rng = chance()
    postcodes = [f"{g}{v:02d}" for g, v in zip(group + 1, rng.integers(0, 10, N), strict=True)]
    encoder = TableEncoder(kinds={"postcode": "categorical"}).fit({**table, "postcode": postcodes})
    assert column_of(encoder, "postcode").used
    weak, group = groups(separation=3.0, purity=0.4)
    assert score({**weak, "city": [f"city {g}" for g in group]}, group) > score(weak, group)


def test_groups_in_a_number_alone_count_fully():
    rng = chance()
    number = 9.0 * (np.arange(N) % 2) + rng.normal(size=N)
    table = {"x": number, **columns_of_chance(4, N, rng, 4)}
    encoder = TableEncoder().fit(table)
    assert encoder.weights_ == {"x": 1.0}


def test_a_table_of_numbers_keeps_all_its_columns():
    X = chance().normal(size=(N, 5))
    assert list(TableEncoder().fit(X).weights_.values()) == [1.0] * 5
    table, _ = make_mixed_table(N, n_categorical=0, random_state=1)
    assert len(TableEncoder().fit(table).weights_) == len(table)


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_random_gaps_cost_little_and_make_no_column(rate):
    table, group = groups(missing=rate)
    encoder = TableEncoder().fit(table)
    assert encoder.missing_together_ == []
    assert score(table, group) > 0.9


def test_columns_missing_together_are_one_yes_or_no_and_named():
    rng = chance()
    table, group = groups()
    joint = group == 2
    first = np.where(joint, rng.normal(size=N), np.nan)
    second = np.where(joint, rng.gamma(2.0, size=N), np.nan)
    encoder = TableEncoder().fit({**table, "partner age": first, "partner income": second})
    (gaps,) = encoder.missing_together_
    assert gaps.name == "missing: partner age, partner income"
    assert gaps.reason.startswith(f"missing together in {int((~joint).sum())} rows")
    assert gaps.weight > 0.3
    assert score({**table, "partner age": first, "partner income": second}, group) > 0.95


def test_a_column_without_dependence_on_others_may_be_given_a_weight():
    table = columns_of_chance(3, N, chance(), 4)
    encoder = TableEncoder().fit(table)
    assert set(encoder.weights_.values()) == {1.0}  # nothing else tells the rows apart
    given = TableEncoder(weights={"chance 0": 1.0}).fit(table)
    assert given.weights_ == {"chance 0": 1.0}
    assert len(np.unique(given.transform(table), axis=0)) == len(set(table["chance 0"]))


def test_memory_does_not_grow_with_the_square_of_the_number_of_columns():
    import tracemalloc

    X = chance().normal(size=(30, 3000))
    tracemalloc.start()
    try:
        TableEncoder().fit_transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 3000**2


def test_columns_that_say_nothing_about_each_other_count_by_their_own_values():
    table = {"x": [str(i % 7) for i in range(70)], "y": [str(i % 5) for i in range(70)]}
    encoder = TableEncoder().fit(table)
    assert encoder.weights_ == {"x": 1.0, "y": 1.0}
    assert len(np.unique(encoder.transform(table).round(9), axis=0)) == 35
