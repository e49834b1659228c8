"""Preparation of real-world tables: missing values, constants, text, scales, names."""

import numpy as np
import pytest

from vicinal._core.tables import RawTable
from vicinal.report._preprocessing import prepare, raw_table
from vicinal.tables import TableEncoder

pd = pytest.importorskip("pandas")


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(size=(30, 3))


def test_missing_values_are_counted_and_shown_complete(values):
    values = values[:, :1] + 0.4 * np.random.default_rng(1).normal(size=(30, 8))
    whole = values.copy()
    values[[2, 5], 1] = np.nan
    values[7, 2] = np.inf
    original = values.copy()
    table = prepare(RawTable(values), "none")
    assert table.n_missing == 3
    assert [column["missing"] for column in table.columns] == [0, 2, 1, 0, 0, 0, 0, 0]
    np.testing.assert_array_equal(values, original)  # the caller's table is unchanged
    assert any(
        "3 of 240 values are missing (1.25%), most in 'column 2' (2)" in n for n in table.notes
    )
    # The other columns tell most of it.
    assert np.abs(table.values[[2, 5], 1] - whole[[2, 5], 1]).max() < whole[:, 1].std()
    known = np.isfinite(original)
    np.testing.assert_array_equal(table.values[known], original[known])
    np.testing.assert_array_equal(table.points, table.values)
    np.testing.assert_array_equal(np.isnan(np.column_stack([*table.given.values()])), ~known)


def test_constant_and_empty_columns_are_dropped_and_listed(values):
    X = np.column_stack([values, np.full(30, 7.0), np.full(30, np.nan)])
    table = prepare(RawTable(X, names=["a", "b", "c", "seven", "nothing"]), "none")
    assert table.names == ["a", "b", "c"]
    assert "'nothing' not used: empty" in table.notes
    assert "'seven' not used: constant" in table.notes
    assert table.n_missing == 0
    assert [column["used"] for column in table.columns] == [True] * 3 + [False] * 2


def test_standard_takes_numbers_in_standard_deviations(values):
    table = prepare(RawTable(values * [1.0, 1000.0, 1.0]), "standard")
    assert "standard deviations" in table.why_scaling
    np.testing.assert_allclose(table.points.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(table.points.std(axis=0), 1)


def incomes(n=200):
    """A skewed amount, a height and a share; names as in a table people have."""
    rng = np.random.default_rng(0)
    amounts = np.exp(rng.normal(10, 1, n))
    return np.column_stack([amounts, rng.normal(170, 9, n), rng.random(n)]), [
        "income",
        "height",
        "share",
    ]


def test_skewed_amounts_are_compared_by_logarithms_with_and_without_names():
    X, names = incomes()
    tables = [prepare(RawTable(X, names=names)), prepare(RawTable(X))]
    np.testing.assert_array_equal(tables[0].points, tables[1].points)
    for table in tables:
        reasons = [column["reason"] for column in table.columns]
        assert ["logarithms" in reason for reason in reasons] == [True, False, False]
        np.testing.assert_array_equal(table.values, X)
    correlation = np.corrcoef(tables[0].points[:, 0], np.log(X[:, 0]))[0, 1]
    assert correlation > 0.99


def test_new_values_without_a_logarithm_are_placed_at_the_smallest_known_one():
    X, _ = incomes()
    encoder = TableEncoder().fit(X)
    placed = encoder.transform([[0.0, 170.0, 0.5], [-5.0, 170.0, 0.5], [X[:, 0].min(), 170.0, 0.5]])
    np.testing.assert_array_equal(placed, np.repeat(placed[:1], 3, axis=0))


def test_images_and_requests_leave_numbers_as_they_are(values):
    pictures = RawTable(values * [1, 100, 1], images=np.zeros((30, 2, 2)))
    for table in (prepare(pictures), prepare(RawTable(values * [1, 100, 1]), "none")):
        assert table.scaling == "none"
        assert "not rescaled" in table.why_scaling
        np.testing.assert_array_equal(table.points, table.values)


def test_arrays_frames_and_the_encoder_give_the_same_points(values):
    values[:, 2] += 3 * values[:, 0]
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    expected = TableEncoder().fit_transform(values)
    for table in (prepare(RawTable(values)), prepare(raw_table(frame, None, None, None))):
        np.testing.assert_array_equal(table.points, expected)


def test_names_and_numbers_as_text_change_no_point(values):
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    frame.insert(1, "name", [f"n{i}" for i in range(30)])
    frame["b"] = [f"{value:.17g} €" for value in frame["b"]]
    table = prepare(raw_table(frame, None, None, None))
    np.testing.assert_array_equal(table.points, TableEncoder().fit_transform(values))
    assert "'name' not used: names or free text: 30 different values in 30 rows" in table.notes
    given = prepare(raw_table(frame, None, None, None), kinds={"b": "ignore"})
    assert [column["column"] for column in given.columns] == ["a", "name", "b", "c"]


def test_columns_of_any_kind_are_encoded(values):
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    frame["kind"] = np.where(values[:, 0] > 0, "x", "y")
    frame["since"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        np.arange(30) * (values[:, 0] > 0), "D"
    )
    table = prepare(raw_table(frame, None, None, None))
    np.testing.assert_array_equal(table.points, TableEncoder().fit_transform(frame))
    assert list(table.categories) == ["kind"]
    assert "since" in table.names
    first = table.values[:, table.names.index("since")].min()
    assert first == pytest.approx(2024.0, abs=0.01)
    given = prepare(raw_table(frame, None, None, None), kinds={"a": "ignore"}, weights={"c": 2.0})
    assert "a" not in given.names
    assert given.encoder.weights_["c"] == 2.0


def test_kinds_of_columns_of_an_array_are_given_by_number(values):
    values[:, 0] = np.arange(30) % 3
    table = prepare(RawTable(values), kinds={"column 1": "categorical"}, weights={"column 1": 1.0})
    assert table.categories["column 1"].tolist()[:3] == ["0", "1", "2"]


def test_labels_and_ids_are_found_by_name(values):
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    frame["kind"] = ["x", "y"] * 15
    frame["name"] = [f"n{i}" for i in range(30)]
    frame["class"] = [1.0, 2.0, 3.0] * 10
    table = prepare(raw_table(frame, "class", "name", None))
    assert set(table.names) <= {"a", "b", "c"}
    assert table.ids[:2] == ["n0", "n1"]
    assert table.labels.tolist()[:3] == ["1", "2", "3"]
    assert table.label_name == "class"
    assert list(table.others) == ["kind"]
    assert [column["column"] for column in table.columns] == ["a", "b", "c", "kind"]


def test_a_frame_without_usable_columns_is_rejected():
    frame = pd.DataFrame({"a": ["x"] * 20, "b": ["y"] * 20})
    with pytest.raises(ValueError, match=r"rows can be compared by: 'a' \(constant\), 'b'"):
        prepare(raw_table(frame, None, None, None))
    with pytest.raises(ValueError, match="labels='c', but the columns of X are a, b"):
        raw_table(frame, "c", None, None)
    with pytest.raises(ValueError, match="no columns besides labels and ids"):
        raw_table(frame, "a", "b", None)


def test_images_become_tables_of_pixels():
    pictures = np.random.default_rng(1).integers(0, 255, (12, 4, 5))
    table = prepare(raw_table(pictures, None, None, None))
    assert table.points.shape == (12, 20)
    np.testing.assert_array_equal(table.images, pictures)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.array([1.0, 2.0, np.nan, -0.0]), ["1", "2", "", "0"]),
        (np.array([1.5, np.nan, 2.0, 2.0]), ["1.5", "", "2.0", "2.0"]),
        (np.array(["a", None, "", pd.NA], dtype=object), ["a", "", "", ""]),
        (pd.array([1, None, 2, 2], dtype="Int64"), ["1", "", "2", "2"]),
        (np.array(["2020-01-01", "NaT"] * 2, "M8[D]"), ["2020-01-01", ""] * 2),
    ],
)
def test_missing_labels_are_counted_and_are_not_a_class(given, expected, values):
    labels = np.resize(np.asarray(given), 28)
    table = prepare(RawTable(values[:28], labels=labels))
    assert table.labels.tolist() == expected * 7
    missing = 7 * expected.count("")
    assert f"{missing} of 28 rows have no label; they are not scored against labels" in table.notes


def test_labels_that_are_all_missing_are_rejected(values):
    with pytest.raises(ValueError, match="none of the 30 rows has a label; omit labels"):
        prepare(RawTable(values, labels=np.full(30, np.nan)))


def test_ids_beyond_exact_floats_are_unchanged(values):
    ids = np.arange(30.0)
    assert prepare(RawTable(values, ids=ids)).ids == [str(i) for i in range(30)]
    ids[3] = 1e20
    assert prepare(RawTable(values, ids=ids)).ids[2:4] == ["2.0", "1e+20"]


def test_columns_of_the_same_name_are_all_used(values):
    frame = pd.DataFrame(values[:, [0, 1, 2, 0]], columns=["a", "kind", "a", "kind"])
    frame.isetitem(1, ["x", "y"] * 15)
    frame.isetitem(3, ["u", "v", "w"] * 10)
    table = prepare(raw_table(frame, None, None, None))
    assert [column["column"] for column in table.columns] == ["a", "kind", "a (2)", "kind (2)"]
    assert {name: column[0] for name, column in table.others.items()} == {
        "kind": "x",
        "kind (2)": "u",
    }
    assert "'kind (2)' not used: 3 categories; independent of every other column" in table.notes


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-300])
def test_a_column_of_extreme_values_is_standardised_like_any_other(size, values):
    signs = np.where(values[:, 1] > 0, 1.0, -1.0)
    expected = prepare(RawTable(np.column_stack([values, 50.0 * signs])), "standard")
    table = prepare(RawTable(np.column_stack([values, size * signs])), "standard")
    np.testing.assert_allclose(table.points, expected.points, atol=1e-14)
    statistics = table.columns[3]
    assert statistics["max"] == size == -statistics["min"]
    assert statistics["std"] == pytest.approx(size * signs.std())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_a_table_of_extreme_values_keeps_its_shape(size, values):
    table, expected = prepare(RawTable(values * size)), prepare(RawTable(values))
    np.testing.assert_allclose(table.points, expected.points, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(table.values, values * size)


def test_the_callers_array_is_neither_changed_nor_kept(values):
    before = values.copy()
    clean = prepare(RawTable(values))
    assert not np.shares_memory(clean.values, values)
    np.testing.assert_array_equal(values, before)
