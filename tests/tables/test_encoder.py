"""`TableEncoder`: any table as points, what it decided, and what it rejects."""

import datetime as dt
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from benchmarks.table_generators import random_mixture
from vicinal import SpectralClustering, TableEncoder

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
    lines = {str(column).partition(":")[0]: str(column) for column in encoder.columns_}
    assert lines["id"] == "id: not used, names or free text: 60 different values in 60 rows"
    assert re.fullmatch(r"city: categorical, weight \d\.\d\d, 3 categories.*", lines["city"])
    names = encoder.get_feature_names_out().tolist()
    assert names[:2] == ["price", "share"]
    points = encoder.transform(columns())
    assert points.shape == (N, len(names))
    same_group = GROUP[:, None] == GROUP
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    assert distances[same_group].max() < distances[~same_group].min()


@pytest.mark.parametrize("seed", range(4))
def test_a_squared_distance_is_a_sum_over_columns(seed):
    table, _ = random_mixture(seed)
    table["when"] = np.datetime64("2020-01-01") + np.arange(len(table["category 0"]))
    encoder = TableEncoder().fit(table)
    points = encoder.transform(table)
    first = {name: values[:100] for name, values in table.items()}
    second = {name: values[100:200] for name, values in table.items()}
    parts = encoder.differences(first, second)
    assert set(parts) <= set(table)
    assert all((part >= 0).all() for part in parts.values())
    expected = ((points[:100] - points[100:200]) ** 2).sum(axis=1)
    np.testing.assert_allclose(sum(parts.values()), expected, rtol=1e-6)
    with pytest.raises(ValueError, match="X has 100 rows and Y has 3"):
        encoder.differences(first, {name: values[:3] for name, values in table.items()})


def test_columns_with_given_weights_count_by_their_own_values():
    table = {"x": [0.0, 1.0, 2.0, 3.0, 5.0] * 4, "c": list("aabbc") * 4}
    encoder = TableEncoder(weights={"x": 2.0, "c": 3.0}, scaling="none").fit(table)
    x, c = np.array(table["x"]), np.array(table["c"])
    points = encoder.transform(table)
    found = np.linalg.norm(points[:, None] - points, axis=2) ** 2
    # Two rows with different categories differ in two coordinates, each of which is the root of 2 long.
    expected = 2.0 * (x[:, None] - x) ** 2 + 3.0 * 4.0 * (c[:, None] != c)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert encoder.weights_ == {"x": 2.0, "c": 3.0}


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
    np.testing.assert_array_equal(encoder.transform(few), points[3:5])
    few["city"] = ["Rome", "Atlantis"]
    # An unknown category is a missing value.
    gap = {**few, "city": ["Rome", None]}
    np.testing.assert_array_equal(encoder.transform(few), encoder.transform(gap))
    assert np.abs(encoder.transform(few) - points[3:5]).max() < 0.5


@pytest.mark.parametrize("seed", range(4))
def test_equal_rows_have_equal_points_alone_or_together(seed):
    table, _ = random_mixture(seed)
    twice = {name: np.concatenate([values, values[::-1]]) for name, values in table.items()}
    points = TableEncoder().fit_transform(twice)
    np.testing.assert_array_equal(points, points[::-1])
    encoder = TableEncoder().fit(table)
    whole = encoder.transform(table)
    for i in (0, 17):
        alone = encoder.transform({name: values[i : i + 1] for name, values in table.items()})
        np.testing.assert_array_equal(alone, whole[i : i + 1])


def test_a_gap_counts_as_what_the_other_columns_lead_to_expect():
    table = columns()
    prices = np.array([float(word[1:].replace(",", "")) for word in table["price"]])
    complete = TableEncoder().fit_transform({**table, "price": prices})[:, 0]
    gaps = np.where(np.arange(N) % 7 == 0, np.nan, prices)
    points = TableEncoder().fit_transform({**table, "price": gaps})
    assert np.isfinite(points).all()
    assert np.corrcoef(points[::7, 0], complete[::7])[0, 1] > 0.9


def test_a_row_without_any_value_is_in_the_middle():
    table = {name: [None, *values[1:]] for name, values in columns().items()}
    points = TableEncoder().fit_transform(table)
    assert np.isfinite(points).all()
    lengths = np.linalg.norm(points - points.mean(axis=0), axis=1)
    assert lengths[0] < np.median(lengths)


def cycles_of(days):
    """Cycles that a column of dates has."""
    seconds = np.asarray(days) * 86400.0
    moments = np.datetime64("2024-01-01") + seconds.astype("timedelta64[s]")
    encoder = TableEncoder(weights={"t": 1.0}).fit({"t": moments})
    names = [str(name)[2:] for name in encoder.get_feature_names_out()]
    return [name.removesuffix(" sin") for name in names if name.endswith(" sin")]


def test_dates_have_the_cycles_that_they_span_and_resolve():
    days = np.arange(1000.0)
    assert cycles_of(days) == ["weekday", "month"]
    assert cycles_of(days + (np.arange(1000) % 24) / 24) == ["time of day", "weekday", "month"]
    assert cycles_of(days[:10]) == []
    assert cycles_of(7 * days[:60]) == []
    # The first day of a month has no weekday of its own.
    months = np.arange("2010-01", "2020-01", dtype="datetime64[M]").astype("datetime64[D]")
    assert cycles_of((months - np.datetime64("2024-01-01")).astype(float)) == ["month"]


def test_sunday_and_monday_are_near():
    table = {"t": np.datetime64("2024-01-01") + np.arange(60).astype("timedelta64[D]")}
    points = TableEncoder(weights={"t": 1.0}).fit_transform(table)
    week = np.linalg.norm(points[:, None, 1:] - points[None, :, 1:], axis=2)
    assert week[0, 6] == pytest.approx(week[0, 1], rel=0.05)
    assert week[0, 7] == pytest.approx(0.0, abs=1e-9)


def test_output_containers_cloning_and_pipelines():
    pytest.importorskip("pandas")
    frame = frames()[0]
    encoder = clone(TableEncoder(kinds={"city": "ignore"})).set_output(transform="pandas")
    found = encoder.fit_transform(frame)
    assert list(found.columns) == encoder.get_feature_names_out().tolist()
    labels = make_pipeline(TableEncoder(), SpectralClustering(3, random_state=0)).fit_predict(frame)
    assert len(set(zip(labels.tolist(), GROUP.tolist(), strict=True))) == 3


def test_the_input_is_not_changed():
    table = columns()
    table["price"] = [None if i % 5 == 0 else value for i, value in enumerate(table["price"])]
    before = {name: list(values) for name, values in table.items()}
    TableEncoder().fit_transform(table)
    assert table == before


def test_repeated_column_names_are_numbered():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1.0, "a"], [2.0, "b"], [4.0, "a"]], columns=["x", "x"])
    assert list(TableEncoder().fit(frame).kinds_) == ["x", "x (2)"]


def test_rare_categories_beyond_the_limit_share_a_coordinate():
    words = np.repeat([f"w{i:03}" for i in range(100)], 6)
    encoder = TableEncoder(weights={"word": 1.0}).fit({"word": words})
    names = encoder.get_feature_names_out()
    assert len(names) == 65
    assert names[-1] == "word (other)"
    assert "36 rare ones count as one" in encoder.columns_[0].reason


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
        ({"scaling": "log"}, "scaling='log', but one of 'auto'"),
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
    model = SpectralClustering(3, random_state=0).fit(TableEncoder().fit_transform(table))
    assert len(set(zip(model.labels_.tolist(), group.tolist(), strict=True))) < 6


def test_weekdays_that_another_column_depends_on_count():
    table, _ = dated_table()
    weekend = (table["signup"].astype("datetime64[D]").astype(int) + 3) % 7 >= 5
    table["sales"] = 100.0 * weekend + np.random.default_rng(0).normal(size=400)
    table["staff"] = np.where(weekend, "few", "many")
    encoder = TableEncoder().fit(table)
    days = np.datetime64("2020-06-01") + np.arange(14).astype("timedelta64[D]")
    # The same row on all days of two weeks: only the date differs.
    rows = {name: np.repeat(values[:1], 14) for name, values in table.items()} | {"signup": days}
    one = {name: np.repeat(values[:1], 14) for name, values in rows.items()}
    differences = encoder.differences(rows, one)["signup"]
    np.testing.assert_allclose(differences[:7], differences[7:], atol=0.01)
    assert differences.max() > 0.05


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
    encoder = TableEncoder(scaling="none").fit(table)
    points = encoder.transform(table)
    assert sorted(set(points[:, 0])) == [999.0, 1234.0, 12345.0]
    with pytest.raises(ValueError, match=r"'0\.5'.* are written with a decimal comma"):
        encoder.transform({"price": ["1.234"], "share": ["0.5"]})
