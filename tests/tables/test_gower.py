"""Gower distances of `TableEncoder` are those of their definition, gaps included."""

import numpy as np
import pytest

from vicinal import TableEncoder

KINDS = {"x": "numeric", "c": "categorical", "b": "boolean", "o": ["S", "M", "L"], "d": "date"}
WEIGHTS = {"x": 2.0, "o": 0.5}


def table(n, gaps, seed=0):
    rng = np.random.default_rng(seed)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    columns = {
        "x": rng.lognormal(size=n).tolist(),
        "c": rng.choice(["Rome", "Oslo", "Lima"], n).tolist(),
        "b": rng.choice(["yes", "no"], n).tolist(),
        "o": rng.choice(["S", "M", "L"], n).tolist(),
        "d": [str(day) for day in days],
    }
    return {
        name: [None if rng.random() < gaps else value for value in values]
        for name, values in columns.items()
    }


def seconds(day):
    return float(np.datetime64(day, "s").astype(float))


def by_definition(one, other, fitted):
    """Distances row by row and column by column, in units learned from a table."""

    def difference(name, a, b):
        known = [value for value in fitted[name] if value is not None]
        if name in "cb":
            return float(a != b)
        if name == "o":
            below = {"S": "", "M": "S", "L": "SM"}
            rank = {v: sum(k in below[v] for k in known) + known.count(v) / 2 for v in below}
            return abs(rank[a] - rank[b]) / len(known)
        number = seconds if name == "d" else float
        known = [number(value) for value in known]
        return abs(number(a) - number(b)) / (max(known) - min(known))

    def distance(i, j):
        shared = [n for n in KINDS if one[n][i] is not None and other[n][j] is not None]
        weights = [WEIGHTS.get(name, 1.0) for name in shared]
        parts = [difference(name, one[name][i], other[name][j]) for name in shared]
        return np.dot(weights, parts) / sum(weights) if shared else np.inf

    n, m = len(one["x"]), len(other["x"])
    return np.array([[distance(i, j) for j in range(m)] for i in range(n)])


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.7])
def test_distances_are_those_of_the_definition(gaps):
    old, new = table(40, gaps), table(15, gaps, seed=1)
    encoder = TableEncoder(KINDS, weights=WEIGHTS, metric="gower").fit(old)
    expected = by_definition(new, old, old)
    np.testing.assert_allclose(encoder.distances(new), expected, atol=1e-12)
    np.testing.assert_allclose(encoder.distances(old, new), expected.T, atol=1e-12)
    points, rows = encoder.transform(new), encoder.transform(old)
    assert encoder.metric_(points[3], rows[5]) == pytest.approx(expected[3, 5])
    assert encoder.weights_ == dict.fromkeys(KINDS, 1.0) | WEIGHTS
    assert points.shape[1] == len(encoder.get_feature_names_out())
    if not gaps:
        manhattan = np.abs(points[:, None] - rows).sum(axis=2)
        np.testing.assert_allclose(manhattan, expected, atol=1e-12)


@pytest.mark.parametrize("gaps", [0.0, 0.4])
@pytest.mark.parametrize("metric", ["gower", "euclidean"])
def test_nearest_rows_have_the_least_distances(gaps, metric):
    old, new = table(40, gaps), table(15, gaps, seed=1)
    encoder = TableEncoder(KINDS, weights=WEIGHTS, metric=metric).fit(old)
    for queries, k in ((None, 5), (new, 40)):
        expected = encoder.distances(old if queries is None else queries)
        indices, distances = encoder.nearest(k, queries)
        np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :k], atol=1e-7)
        found = np.take_along_axis(expected, indices, axis=1)
        np.testing.assert_allclose(found, distances, atol=1e-7)
    in_pandas = encoder.set_output(transform="pandas").nearest(40, new)[1]
    np.testing.assert_array_equal(in_pandas, distances)
    with pytest.raises(ValueError, match="n_neighbors=41"):
        encoder.nearest(41)


def test_gower_compares_columns_that_say_nothing_about_each_other():
    columns = {"x": [0.0, 1.0, None, 4.0], "c": ["a", "b", "b", None], "y": [1.0, 3.0, 2.0, 2.0]}
    distances = TableEncoder(metric="gower", weights={"y": 2.0}).fit(columns).distances(columns)
    assert distances[0, 1] == pytest.approx((1 / 4 + 1 + 2 * 1) / 4)
    assert distances[0, 2] == pytest.approx((1 + 2 * 1 / 2) / 3)
    assert distances[2, 3] == pytest.approx(0.0)


def test_rows_without_a_common_column_are_infinitely_far_apart():
    columns = {"x": [0.0, 1.0, None], "c": [None, "a", "b"]}
    encoder = TableEncoder(metric="gower").fit(columns)
    assert np.isinf(encoder.distances(columns)[0, 2])
    # A category that was not seen is missing.
    assert np.isinf(encoder.distances({"x": [None], "c": ["new"]})).all()


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e300])
def test_the_unit_of_numbers_does_not_matter(size):
    columns = {"x": np.array([-1.0, 0.0, 1.0]) * size}
    distances = TableEncoder(metric="gower").fit(columns).distances(columns)
    np.testing.assert_allclose(distances, [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]], atol=1e-12)


def test_what_gower_cannot_do_is_said():
    columns = table(20, 0.0)
    with pytest.raises(ValueError, match="metric='cosine', but one of 'euclidean', 'gower'"):
        TableEncoder(metric="cosine").fit(columns)
    with pytest.raises(ValueError, match="metric='gower', but differences are parts of a squared"):
        TableEncoder(metric="gower").fit(columns).differences(columns, columns)
    with pytest.raises(ValueError, match="no column that rows can be compared by"):
        TableEncoder(metric="gower").fit({"x": [1.0, 1.0]})
    huge = TableEncoder(metric="gower").fit({"x": [0.0, 1.0, 2.0]})
    with pytest.raises(ValueError, match="'x' of X contains a number more than"):
        huge.transform({"x": [1e200]})
