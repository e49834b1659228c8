"""What columns mean: kinds guessed from values, each with its reason, or read as requested."""

import datetime as dt

import numpy as np
import pytest

from vicinal.tables._kinds import guess_kind, read_as
from vicinal.tables._reading import RawColumn, plain_values
from vicinal.tables._values import number_text


def column(values, name="c"):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return RawColumn(name, plain_values(array))


@pytest.mark.parametrize(
    ("text", "mark", "number"),
    [
        ("$1,234.50", "point", 1234.5),
        ("12 %", "point", 12.0),
        ("1 234,5", "comma", 1234.5),
        ("1.234,5 €", "comma", 1234.5),
        ("€ 3", "point", 3.0),
        ("-$4.50", "point", -4.5),
        ("$-4.50", "point", -4.5),
        ("(1,000)", "point", -1000.0),
        ("1'234'567.8 CHF", "point", 1234567.8),
        ("1e-3", "point", 0.001),
        ("+7", "point", 7.0),
        (".5", "point", 0.5),
        ("12,34,5", "point", None),
        ("1,23", "point", None),
        ("1.2.3", "point", None),
        ("12a", "point", None),
        ("", "point", None),
        ("$", "point", None),
    ],
)
def test_numbers_are_read_with_currency_percent_and_separators(text, mark, number):
    found = number_text(text)
    assert (None if found is None else found.value.get(mark)) == number


@pytest.mark.parametrize(
    ("values", "kind", "reason"),
    [
        ([1.5, 2.5, 3.0, None], "numeric", "numbers"),
        ([3, 1, 2, 2], "numeric", "3 different integers"),
        ([0, 1, 1, None], "boolean", "0 or 1"),
        ([True, False, None, True], "boolean", "true or false"),
        (["Yes", "no", "NO", ""], "boolean", "yes or no"),
        (["ja", "nein", "ja", "ja"], "boolean", "ja or nein"),
        (["$1,200", "$90", "n/a", "$7.5"], "numeric", "numbers as text, such as '$1,200'"),
        (["1,5", "2,25", "3", "4"], "numeric", "numbers as text"),
        (["red", "blue", "red", "?"], "categorical", "3 categories"),
        (["red", "blue", "red", ""], "categorical", "2 categories"),
        (["01067", "04109", "01067", "04109"], "categorical", "2 categories"),
        (["2024-01-31", "2024-02-01", None], "date", "dates as text"),
        (["31.01.2024", "01.02.2024"], "date", "%d.%m.%Y"),
        (["1/31/2024 14:05", "2/1/2024 09:30"], "date", "%m/%d/%Y %H:%M"),
        ([dt.date(2024, 1, 1), dt.date(2024, 1, 2), None], "date", "dates"),
        ([7, 7, None, 7], "ignore", "constant"),
        ([None, "", None], "ignore", "empty"),
        ([f"name {i}" for i in range(20)], "ignore", "names or free text: 20 different values"),
        (list(range(5, 25)), "ignore", "row numbers: all integers from 5 to 24"),
        ([1, "a", 2.5, "a"], "categorical", "3 categories"),
        (
            [*map(str, range(0, 60, 2)), "unknown"],
            "numeric",
            "1 cells count as missing: 'unknown' (1)",
        ),
    ],
)
def test_kinds_are_guessed_with_a_reason(values, kind, reason):
    found = guess_kind(column(values))
    assert found.kind == kind
    assert reason in "; ".join([found.reason, *found.remarks])


def test_guessed_numbers_and_missing_words_become_values():
    found = guess_kind(column(["$1,200", "n/a", "(5)"]))
    np.testing.assert_array_equal(found.numbers, [1200.0, np.nan, -5.0])
    found = guess_kind(column(["Yes", "no", "NO", "-"]))
    assert found.words.tolist() == ["yes", "no", "no", None]


def test_infinite_numbers_are_missing():
    found = guess_kind(column([1.0, np.inf, 2.0, -np.inf]))
    np.testing.assert_array_equal(found.numbers, [1.0, np.nan, 2.0, np.nan])


def test_numbers_as_text_beyond_the_largest_float_are_missing():
    values = column(["1e400", "2", "-1e999", "3.5"] * 5)
    for typed in (guess_kind(values), read_as(values, "numeric")):
        np.testing.assert_array_equal(typed.numbers[:4], [np.nan, 2.0, np.nan, 3.5])


def test_messages_show_only_the_start_of_long_values():
    with pytest.raises(ValueError, match="should be numeric") as caught:
        read_as(column(["z" * 200_000, "b"]), "numeric")
    assert len(str(caught.value)) < 300


def test_dates_are_seconds_since_1970():
    found = guess_kind(column(["1970-01-02", "1970-01-01 06:00", None]))
    np.testing.assert_array_equal(found.numbers, [86400.0, 21600.0, np.nan])


def test_integers_too_long_for_a_float_stay_names():
    found = guess_kind(column([10**400 + i for i in range(12)]))
    assert found.kind == "ignore"


def test_requested_kinds_override_the_guess():
    zip_codes = column([10115, 10117, 10115])
    assert read_as(zip_codes, "categorical").words.tolist() == ["10115", "10117", "10115"]
    assert read_as(zip_codes, "ordinal").levels == ("10115", "10117")
    assert read_as(column(["L", "S"]), "ordinal", levels=["S", "M", "L"]).levels == ("S", "M", "L")
    np.testing.assert_array_equal(read_as(column([True, False]), "numeric").numbers, [1.0, 0.0])


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (
            ["a", "1"],
            "numeric",
            "'c' of X should be numeric, but 1 of its 2 different values are not numbers",
        ),
        (["a", "b"], "date", "'c' of X should be a date, but 'a' is not a date"),
        (["a", "b", "x"], "boolean", "'c' of X should be boolean, but has 3 different values"),
        ([2001, 2002], "date", "'c' of X should be a date, but '2001' is not a date"),
    ],
)
def test_a_kind_that_values_do_not_have_is_an_error(values, kind, message):
    with pytest.raises(ValueError, match=message):
        read_as(column(values), kind)
