"""Text tables with different separators and number formats."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from vicinal.cli.tables import read_table  # noqa: E402


@pytest.fixture
def read(tmp_path):
    def call(text, **options):
        path = tmp_path / "data.csv"
        path.write_text(text)
        return read_table(path, **options)

    return call


EXPECTED = [[1.5, 2.25], [3.0, 4.0], [-0.5, 1e3]]


@pytest.mark.parametrize(
    "text",
    [
        "a;b\n1,5;2,25\n3;4,0\n-,5;1e3\n",
        "1,5;2,25\n3,0;4,0\n-0,5;1000\n",
        "Length, cm;Width, cm\n1,5;2,25\n3,0;4,0\n-0,5;1000\n",
        "a\tb\n1,5\t2,25\n3\t4,0\n-,5\t1e3\n",
    ],
)
def test_decimal_commas_are_read_with_a_note(text, read):
    table = read(text)
    np.testing.assert_array_equal(table.points, EXPECTED)
    assert table.notes[-1].startswith("read commas as decimal points in ")


@pytest.mark.parametrize(
    "text",
    [
        "a|b\n1.5|2.25\n3|4\n-.5|1e3\n",
        "1.5|2.25\n3|4\n-.5|1e3\n",
        "a;b\n1.5;2.25\n3;4\n-.5;1e3\n",
        "a,b\n1.5,2.25\n3,4\n-.5,1e3\n",
    ],
)
def test_separators_are_detected(text, read):
    np.testing.assert_array_equal(read(text).points, EXPECTED)


def test_columns_with_decimal_commas_may_have_missing_values(read):
    table = read("a;b;c\n1,5;x;7\n;y;8\n2,5;1,5 m;9\n", accept_missing=True)
    np.testing.assert_array_equal(table.points, [[1.5, 7], [np.nan, 8], [2.5, 9]])
    assert "skipped 'b': 3 of 3 values are not numbers, e.g. 'x'" in table.notes


def test_text_that_contains_other_separators_stays_text(read):
    table = read("1,red;round,2\n3,blue;round,4\n")
    np.testing.assert_array_equal(table.points, [[1, 2], [3, 4]])


def test_a_column_of_decimals_can_hold_row_names(read):
    table = read("code;x\n1,10;2,5\n1,1;3,5\n", id_column="code")
    assert table.ids.tolist() == ["1,10", "1,1"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a,b,\n1,2,\n3,4,\n", "skipped column 3: it is empty"),
        ("a,b\n1,2,\n3,4,\n", "ignored the trailing ',' of all lines but the first"),
        ("1,2,\n3,4,\n", "skipped 'column 3': it is empty"),
        ("a,empty,b\n1,,2\n3,,4\n", "skipped 'empty': it is empty"),
        (",a,b\n,1,2\n,3,4\n", "skipped column 1: it is empty"),
    ],
)
def test_empty_columns_are_skipped(text, note, read):
    table = read(text)
    np.testing.assert_array_equal(table.points, [[1, 2], [3, 4]])
    assert any(line.startswith(note) for line in table.notes)
    assert table.ids is None


def test_row_names_without_a_header_are_detected(read):
    table = read("a,b\nrow 1,1,2\nrow 2,3,4\n")
    np.testing.assert_array_equal(table.points, [[1, 2], [3, 4]])
    assert table.ids.tolist() == ["row 1", "row 2"]


def test_integers_too_long_for_a_float_are_skipped_with_the_reason(read):
    table = read("id,x\n3,1\n12345678901234567890123,2\n")
    assert table.names == ["x"]
    assert "too long to be exact, e.g. 12345678901234567890123" in table.notes[-1]


def test_booleans_become_0_and_1_with_a_note(read):
    table = read("x,flag\n1,True\n2,False\n")
    np.testing.assert_array_equal(table.points, [[1, 1], [2, 0]])
    assert "converted 'flag' to numbers: true is 1, false is 0" in table.notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:b\n1:2\n3:4\n", "e.g. '1:2'.*separate columns by commas, semicolons, tabs or"),
        ("a;b\n1.234,5;2.345,6\n3.4,1;5.6,7\n", r"e.g. '2.345,6'.*write numbers as 1234\.5"),
    ],
)
def test_a_table_without_numbers_shows_an_example_value(text, message, read):
    with pytest.raises(ValueError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("text", "n_rows"),
    [
        ("0,1,kind\n0.5,1.5,a\n0.25,2.5,b\n", 2),
        (",0,1,kind\n0,0.5,1.5,a\n1,0.25,2.5,b\n", 2),
        ("0,1,a\n3,4,b\n5,6,c\n", 3),
        ("0,2,a\n0.5,0.25,b\n5,6,c\n", 3),
    ],
)
def test_numbered_columns_may_be_followed_by_a_named_one(text, n_rows, read):
    assert len(read(text).points) == n_rows
