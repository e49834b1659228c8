"""From a real-world table to points: missing values, constants, text, scales, names."""

import numpy as np
import pytest

from vicinal._core.tables import RawTable
from vicinal.report._preprocessing import prepare, raw_table

pd = pytest.importorskip("pandas")


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(size=(30, 3))


def test_missing_values_become_the_median_and_are_counted(values):
    expected = values.copy()
    values[[2, 5], 1] = np.nan
    values[7, 2] = np.inf
    given = values.copy()
    found = prepare(RawTable(values), "none")
    expected[[2, 5], 1] = np.nanmedian(given[:, 1])
    expected[7, 2] = np.median(given[np.isfinite(given[:, 2]), 2])
    np.testing.assert_array_equal(found.points, expected)
    assert found.n_missing == 3
    assert [column["missing"] for column in found.columns] == [0, 2, 1]
    np.testing.assert_array_equal(values, given)  # the caller's table stays as it is
    assert "3 of 90 values are missing (3.33%), most in 'column 2' (2)" in found.notes[0]


def test_constant_and_empty_columns_are_dropped_and_listed(values):
    X = np.column_stack([values, np.full(30, 7.0), np.full(30, np.nan)])
    found = prepare(RawTable(X, names=["a", "b", "c", "seven", "nothing"]), "none")
    assert found.names == ["a", "b", "c"]
    assert found.notes == ["set aside 'nothing': it is empty", "dropped 1 constant column: 'seven'"]
    assert found.n_missing == 0
    assert [column["used"] for column in found.columns] == [True] * 3 + [False] * 2


def test_columns_of_different_ranges_are_standardised_with_a_reason(values):
    found = prepare(RawTable(values * [1.0, 1000.0, 1.0]))
    assert found.scaling == "standard"
    assert "differ by a factor of" in found.why_scaling
    np.testing.assert_allclose(found.points.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.points.std(axis=0), 1)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (lambda X: RawTable(X), "column ranges differ by only a factor of"),
        (lambda X: RawTable(X[:, :1]), "one column"),
        (lambda X: RawTable(X * [1, 100, 1], images=np.zeros((30, 2, 2))), "grey levels"),
    ],
)
def test_columns_of_comparable_ranges_are_not_rescaled(source, words, values):
    found = prepare(source(values))
    assert found.scaling == "none"
    assert words in found.why_scaling
    np.testing.assert_array_equal(found.points, found.values)


def test_a_frame_sets_text_aside_and_finds_its_labels_and_ids(values):
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    frame["kind"] = ["x", "y"] * 15
    frame["name"] = [f"n{i}" for i in range(30)]
    frame["class"] = [1.0, 2.0, 3.0] * 10
    found = prepare(raw_table(frame, "class", "name", None))
    assert found.names == ["a", "b", "c"]
    assert found.ids[:2] == ["n0", "n1"]
    assert found.labels.tolist()[:3] == ["1", "2", "3"]
    assert found.label_name == "class"
    assert list(found.others) == ["kind"]
    assert found.notes == ["set aside 'kind': it is not numeric"]


def test_a_frame_without_numeric_columns_is_rejected():
    frame = pd.DataFrame({"a": ["x"] * 20, "b": ["y"] * 20})
    with pytest.raises(ValueError, match="no numeric column among a, b"):
        raw_table(frame, None, None, None)
    with pytest.raises(ValueError, match="labels='c', but the columns of X are a, b"):
        raw_table(frame, "c", None, None)


def test_images_are_tables_of_pixels():
    pictures = np.random.default_rng(1).integers(0, 255, (12, 4, 5))
    found = prepare(raw_table(pictures, None, None, None))
    assert found.points.shape == (12, 20)
    np.testing.assert_array_equal(found.images, pictures)


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
def test_missing_labels_are_not_a_class_and_are_counted(given, expected, values):
    labels = np.resize(np.asarray(given), 28)
    found = prepare(RawTable(values[:28], labels=labels))
    assert found.labels.tolist() == expected * 7
    missing = 7 * expected.count("")
    assert f"{missing} of 28 rows have no label; they are not scored against labels" in found.notes


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
    found = prepare(raw_table(frame, None, None, None))
    assert found.names == ["a", "a (2)"]
    assert {name: column[0] for name, column in found.others.items()} == {
        "kind": "x",
        "kind (2)": "u",
    }
    assert "set aside 'kind (2)': it is not numeric" in found.notes


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-300])
def test_a_column_of_extreme_values_is_standardised_like_any_other(size, values):
    signs = np.where(values[:, 1] > 0, 1.0, -1.0)
    usual = prepare(RawTable(np.column_stack([values, 50.0 * signs])), "standard")
    found = prepare(RawTable(np.column_stack([values, size * signs])), "standard")
    np.testing.assert_allclose(found.points, usual.points, atol=1e-14)
    summary = found.columns[3]
    assert summary["max"] == size == -summary["min"]
    assert summary["std"] == pytest.approx(size * signs.std())


def test_a_huge_range_ratio_is_short(values):
    found = prepare(RawTable(values * [1e300, 1.0, 1.0]))
    assert found.scaling == "standard"
    assert "differ by a factor of" in found.why_scaling
    assert len(found.why_scaling) < 200


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_a_table_of_extreme_values_keeps_its_shape(size, values):
    gap = np.array(values)
    gap[4, 1] = np.nan
    found, usual = prepare(RawTable(gap * size)), prepare(RawTable(gap))
    assert found.scaling == usual.scaling == "none"
    np.testing.assert_allclose(found.points, usual.points / np.abs(usual.points).max(), rtol=1e-14)
    np.testing.assert_allclose(found.values, usual.values * size, rtol=1e-14)
    assert any(note.startswith("all values were divided by the largest") for note in found.notes)


def test_a_clean_table_is_copied_once(values):
    clean = prepare(RawTable(values))
    assert clean.points is clean.values
    assert not np.shares_memory(clean.values, values)
