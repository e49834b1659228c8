"""`TableEncoder`: any table as points, what it decided, and what it rejects."""

import datetime as dt

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from vicinal import SpectralClustering, TableEncoder
from vicinal.tables._coding import date_cycles

N = 60
GROUP = np.arange(N) % 3


def columns(seed=0):
    """Groups of rows in columns of every kind."""
    rng = np.random.default_rng(seed)
    price = 100.0 * (1 + GROUP) + rng.normal(size=N)
    start = dt.datetime(2024, 1, 1)
    return {
        "id": [f"customer {i}" for i in range(N)],
        "price": [f"${value:,.2f}" for value in price],
        "share": [f"{v:.1f} %" for v in 30.0 * GROUP + rng.normal(size=N)],
        "city": [("Rome", "Oslo", "Lima")[g] for g in GROUP],
        "member": ["yes" if g == 2 else "no" for g in GROUP],
        "since": [start + dt.timedelta(days=40 * int(g)) for g in GROUP],
        "size": [("S", "M", "L")[g] for g in GROUP],
        "same": ["x"] * N,
    }


def test_every_kind_is_read_and_unused_columns_say_why():
    encoder = TableEncoder(kinds={"size": ["S", "M", "L"]}).fit(columns())
    assert encoder.kinds_ == {
        "id": "ignore",
        "price": "numeric",
        "share": "numeric",
        "city": "categorical",
        "member": "boolean",
        "since": "date",
        "size": "ordinal",
        "same": "ignore",
    }
    by_name = {column.name: column for column in encoder.columns_}
    assert by_name["id"].reason == "names or free text: 60 different values in 60 rows"
    assert by_name["same"].reason == "constant"
    assert [c.name for c in encoder.columns_ if not c.used] == ["id", "same"]
    assert set(encoder.weights_) == set(encoder.kinds_) - {"id", "same"}
    names = encoder.get_feature_names_out().tolist()
    assert names == ["price", "share", "shared 1", "shared 2"]
    plain = TableEncoder(kinds={"size": ["S", "M", "L"]}, categories="indicators").fit(columns())
    names_of_indicators = plain.get_feature_names_out().tolist()
    assert names_of_indicators[:4] == ["price", "share", "city_Lima", "city_Oslo"]
    points = encoder.transform(columns())
    assert points.shape == (N, len(names))
    same_group = GROUP[:, None] == GROUP
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    assert distances[same_group].max() < distances[~same_group].min()


def test_complete_tables_have_the_distances_of_their_points():
    encoder = TableEncoder(categories="indicators").fit(columns())
    points = encoder.transform(columns())
    expected = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(encoder.distances(columns()), expected, atol=1e-7)
    indices, distances = encoder.nearest(5)
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :5], atol=1e-7)
    assert indices.shape == (N, 5)


def test_the_squared_distance_is_the_weighted_sum_over_columns():
    table = {"x": [0.0, 1.0, 2.0, 3.0, 5.0], "c": list("aabbc")}
    encoder = TableEncoder(weights={"x": 2.0, "c": 3.0}, scaling="none").fit(table)
    x, c = np.array(table["x"]), np.array(table["c"])
    expected = 2.0 * (x[:, None] - x) ** 2 + 3.0 * (c[:, None] != c)
    np.testing.assert_allclose(encoder.distances(table) ** 2, expected, atol=1e-12)


def test_gower_is_the_weighted_mean_of_range_scaled_differences():
    table = {"x": [0.0, 1.0, None, 4.0], "c": ["a", "b", "b", None], "y": [1.0, 3.0, 2.0, 2.0]}
    encoder = TableEncoder(metric="gower", weights={"y": 2.0}).fit(table)
    distances = encoder.distances(table)
    assert distances[0, 1] == pytest.approx((1 / 4 + 1 + 2 * 1) / 4)
    assert distances[0, 2] == pytest.approx((1 + 2 * 1 / 2) / 3)
    assert distances[2, 3] == pytest.approx(0.0)
    complete = {name: values[:2] + values[:2] for name, values in table.items()}
    points = TableEncoder(metric="gower").fit(complete).transform(complete)
    assert np.abs(points[0] - points[1]).sum() == pytest.approx(1.0)


def test_numbers_of_any_unit_and_shift_give_the_same_points():
    table = columns()
    prices = np.array([float(word[1:].replace(",", "")) for word in table["price"]])
    expected = TableEncoder().fit_transform({**table, "price": prices})
    found = TableEncoder().fit_transform({**table, "price": 1e6 * prices - 5e8})
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_independent_columns_get_no_weight_and_say_so():
    rng = np.random.default_rng(1)
    noise = {"coin": rng.choice(["h", "t"], N).tolist(), "noise": rng.normal(size=N)}
    encoder = TableEncoder().fit({**columns(), **noise})
    by_name = {column.name: column for column in encoder.columns_}
    for name in noise:
        assert not by_name[name].used
        assert by_name[name].reason.endswith("independent of every other column")
    given = TableEncoder(weights={"coin": 1.0}).fit({**columns(), **noise})
    assert given.weights_["coin"] == 1.0


def test_groups_in_a_single_column_of_numbers_keep_their_weight():
    rng = np.random.default_rng(0)
    group = np.arange(200) % 2
    table = {"x": 8.0 * group + rng.normal(size=200)}
    table |= {f"c{j}": rng.choice(list("abc"), 200) for j in range(4)}
    assert list(TableEncoder().fit(table).weights_) == ["x"]


def frames():
    table = columns()
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    records = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    return [
        pandas.DataFrame(table),
        polars.DataFrame(table),
        pyarrow.table(table),
        records,
        {name: np.array(values, dtype=object) for name, values in table.items()},
    ]


def test_tables_of_all_libraries_give_the_same_points():
    expected = TableEncoder().fit_transform(columns())
    for frame in frames():
        encoder = TableEncoder()
        np.testing.assert_array_equal(encoder.fit_transform(frame), expected)
        assert encoder.feature_names_in_.tolist() == list(columns())
    rows = np.array(list(zip(*columns().values(), strict=True)), dtype=object)
    np.testing.assert_array_equal(TableEncoder().fit_transform(rows), expected)


def test_dtypes_of_data_frames_are_kinds():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "size": pandas.Categorical(list("SML") * 4, ["S", "M", "L"], ordered=True),
            "count": pandas.array([1, None, 3] * 4, dtype="Int64"),
            "flag": pandas.array([True, None, False] * 4, dtype="boolean"),
            "day": pandas.to_datetime(["2024-01-01", None, "2024-03-01"] * 4).tz_localize("UTC"),
            "color": pandas.Categorical(list("rgb") * 4),
        }
    )
    encoder = TableEncoder().fit(frame)
    assert list(encoder.kinds_.values()) == ["ordinal", "numeric", "boolean", "date", "categorical"]
    assert [column.missing for column in encoder.columns_] == [0, 4, 4, 4, 0]


def test_new_rows_are_read_as_in_fit():
    encoder = TableEncoder().fit(columns())
    points = encoder.transform(columns())
    few = {name: values[3:5] for name, values in columns().items()}
    np.testing.assert_allclose(encoder.transform(few), points[3:5], atol=1e-12)
    few["city"] = ["Rome", "Atlantis"]
    # An unknown category is a missing value: the other columns say the same with less certainty.
    np.testing.assert_allclose(encoder.transform(few), points[3:5], atol=0.01)
    encoder = TableEncoder(categories="indicators").fit(columns())
    known = {**few, "city": ["Rome", "Oslo"]}
    np.testing.assert_allclose(encoder.transform(few), encoder.transform(known), atol=1e-12)


def test_missing_values_are_completed_kept_or_typical():
    table = columns()
    table["price"] = [None if i % 7 == 0 else value for i, value in enumerate(table["price"])]
    kept = TableEncoder(missing="keep").fit_transform(table)
    assert np.flatnonzero(np.isnan(kept[:, 0])).tolist() == list(range(0, N, 7))
    near = TableEncoder().fit_transform(table)
    for g in range(3):
        own = near[g == GROUP, 0]
        assert np.ptp(own) < 0.2
    typical = TableEncoder(missing="typical").fit_transform(table)
    assert len(np.unique(typical[::7, 0])) == 1


def test_a_row_without_any_value_gets_typical_values():
    table = {name: [None, *values[1:]] for name, values in columns().items()}
    encoder = TableEncoder().fit(table)
    points = encoder.transform(table)
    assert np.isfinite(points).all()
    assert np.isinf(encoder.distances(table)[0]).all()


def test_dates_have_the_cycles_that_they_span_and_resolve():
    day = 86400.0
    days = day * np.arange(1000)
    assert list(date_cycles(days)) == ["weekday", "month"]
    assert list(date_cycles(days + 3600.0 * (np.arange(1000) % 24))) == [
        "time of day",
        "weekday",
        "month",
    ]
    assert date_cycles(days[:10]) == {}
    assert list(date_cycles(7 * days[:60])) == []
    # Sunday night and Monday morning are near.
    table = {"t": np.datetime64("2024-01-01") + np.arange(60).astype("timedelta64[D]")}
    points = TableEncoder().fit_transform(table)
    week = np.linalg.norm(points[:, None, 1:] - points[None, :, 1:], axis=2)
    assert week[0, 6] == pytest.approx(week[0, 1])
    assert week[0, 7] == pytest.approx(0.0, abs=1e-9)


def test_output_containers_cloning_and_pipelines():
    pytest.importorskip("pandas")
    frame = frames()[0]
    encoder = clone(TableEncoder(kinds={"city": "ignore"})).set_output(transform="pandas")
    found = encoder.fit_transform(frame)
    assert list(found.columns) == encoder.get_feature_names_out().tolist()
    labels = make_pipeline(TableEncoder(), SpectralClustering(3, random_state=0)).fit_predict(frame)
    assert len(set(zip(labels.tolist(), GROUP.tolist(), strict=True))) == 3


def test_the_input_is_not_changed_and_threads_do_not_matter():
    table = columns()
    table["price"] = [None if i % 5 == 0 else value for i, value in enumerate(table["price"])]
    before = {name: list(values) for name, values in table.items()}
    one = TableEncoder(n_jobs=1).fit_transform(table)
    assert table == before
    np.testing.assert_array_equal(TableEncoder(n_jobs=2).fit_transform(table), one)


def test_repeated_column_names_are_numbered():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1.0, "a"], [2.0, "b"], [4.0, "a"]], columns=["x", "x"])
    assert list(TableEncoder().fit(frame).kinds_) == ["x", "x (2)"]


def test_rare_categories_beyond_the_limit_share_a_coordinate():
    words = np.repeat([f"w{i:03}" for i in range(100)], 4)
    encoder = TableEncoder().fit({"word": words})
    names = encoder.get_feature_names_out()
    assert len(names) == 64
    assert names[-1] == "word_(other)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kinds": {"citi": "ignore"}},
            r"no column 'citi' \(did you mean 'city'\?\); it has id, price",
        ),
        (
            {"weights": {"prize": 2.0}},
            r"weights: X has no column 'prize' \(did you mean 'price'\?\)",
        ),
        ({"kinds": {"city": "word"}}, r"kinds\['city'\]='word', but one of 'numeric'"),
        ({"kinds": {"city": 3}}, r"kinds\['city'\]=3, but one of"),
        ({"kinds": ["city"]}, r"kinds=\['city'\], but a dict"),
        ({"kinds": {"city": "numeric"}}, "'city' of X should be numeric, but 3 of its 3"),
        ({"weights": {"city": -1}}, r"weights\['city'\]=-1, but a finite number >= 0"),
        ({"metric": "cosine"}, "metric='cosine', but one of 'euclidean', 'gower'"),
        ({"scaling": "log"}, "scaling='log', but one of 'robust'"),
        ({"missing": "drop"}, "missing='drop', but one of 'neighbors'"),
    ],
)
def test_wrong_parameters_are_named(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TableEncoder(**options).fit(columns())


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"a": [1.0, 1.0], "b": [None, None]},
            r"no column that rows can be compared by: 'a' \(constant\)",
        ),
        ({"a": [1.0]}, "n_samples=1"),
        ({"a": []}, r"0 sample\(s\)"),
        ({}, r"0 feature\(s\)"),
        ({"a": [1, 2], "b": [1]}, "columns of 1 to 2 rows"),
        (np.zeros((3, 3, 3)), r"shape \(3, 3, 3\)"),
        (np.array([[1j, 2j], [1j, 3j]]), "Complex data not supported"),
    ],
)
def test_tables_that_cannot_be_compared_are_rejected(table, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TableEncoder().fit(table)


def test_new_rows_need_the_columns_of_fit():
    encoder = TableEncoder().fit(columns())
    table = columns()
    table["Price"] = table.pop("price")
    with pytest.raises(ValueError, match=r"no column 'price' \(did you mean 'Price'\?\)"):
        encoder.transform(table)
    with pytest.raises(ValueError, match="'price' of X should be numeric"):
        encoder.transform({**columns(), "price": ["cheap"] * N})


def dated_table(n=400):
    """Three groups with dates by day, a number and a category; weekdays are those of chance."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, n)
    days = 300 * group + rng.integers(0, 200, n)
    table = {
        "age": np.array([25.0, 45.0, 65.0])[group] + rng.normal(0, 4, n),
        "plan": np.array(["a", "b", "c"])[np.where(rng.random(n) < 0.85, group, 0)],
        "signup": np.datetime64("2020-01-01") + days.astype("timedelta64[D]"),
    }
    return table, group


def test_weekdays_that_nothing_depends_on_do_not_make_groups():
    table, group = dated_table()
    encoder = TableEncoder().fit(table)
    assert not [name for name in encoder.get_feature_names_out() if "weekday" in name]
    model = SpectralClustering(random_state=0).fit(encoder.transform(table))
    assert model.n_clusters_ == 3
    assert len(set(zip(model.labels_.tolist(), group.tolist(), strict=True))) < 6


def test_weekdays_that_another_column_depends_on_are_compared():
    table, _ = dated_table()
    weekend = (table["signup"].astype("datetime64[D]").astype(int) + 3) % 7 >= 5
    table["sales"] = 100.0 * weekend + np.random.default_rng(0).normal(size=400)
    names = TableEncoder().fit(table).get_feature_names_out().tolist()
    assert "signup_weekday sin" in names
    weights = TableEncoder(weights={"signup": 1.0}).fit(dated_table()[0])
    assert [name for name in weights.get_feature_names_out() if "weekday" in name]


def test_words_for_missing_values_are_missing_only_where_they_can_be_nothing_else():
    n = 40
    table = {
        "flag": (["yes", "no", "NA", "no"] * n)[:n],
        "price": [["1.5", "2.5", "null", "7"][i % 4] for i in range(n)],
        "day": [f"2024-01-{1 + i % 28:02d}" if i % 5 else "n/a" for i in range(n)],
        "severity": (["None", "mild", "severe", "mild"] * n)[:n],
    }
    encoder = TableEncoder(weights=dict.fromkeys(table, 1.0)).fit(table)
    points = encoder.transform(table)
    assert np.isfinite(points).all()
    missing = {column.name: column.missing for column in encoder.columns_}
    assert missing == {"flag": 10, "price": 10, "day": 8, "severity": 0}
    remarks = {column.name: " ".join(column.remarks) for column in encoder.columns_}
    assert remarks["flag"] == "10 cells count as missing: 'NA' (10)"
    assert remarks["severity"].startswith("'None' (10) counts like any other category")


def test_one_decimal_mark_holds_for_a_table():
    table = {"price": ["1.234", "999", "12.345"] * 8, "share": ["0,5", "0,75", "0,25"] * 8}
    encoder = TableEncoder(scaling="none", weights={"price": 1.0, "share": 1.0}).fit(table)
    points = encoder.transform(table)
    assert sorted(set(points[:, 0])) == [999.0, 1234.0, 12345.0]
    with pytest.raises(ValueError, match=r"'0\.5'.* are written with a decimal comma"):
        encoder.transform({"price": ["1.234"], "share": ["0.5"]})
