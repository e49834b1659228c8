"""Kinds of columns: guessed from their values, each with the reason, or read as requested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.suggestions import quoted
from vicinal.exceptions import InvalidValueError
from vicinal.tables._reading import RawColumn
from vicinal.tables._values import (
    date_format,
    date_parser,
    is_missing_word,
    number_mark,
    parse_number,
    yes_no,
)

KINDS = ("numeric", "ordinal", "categorical", "boolean", "date", "ignore")
# Text of which this fraction are numbers is a column of numbers with some words for missing values.
MOSTLY_NUMBERS = 0.9
# Texts with at least this many different values, in more than half of the rows, are names or free text.
MIN_DISTINCT_TEXTS = 10
# Integers of more digits are not exact as floats.
MAX_EXACT_DIGITS = 15
# Consecutive integers count as row numbers only in tables of at least this many rows.
MIN_NUMBERED_ROWS = 10


class TypedColumn(NamedTuple):
    """A column whose kind is known.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : str
        One of `KINDS`.
    reason : str
        Why it is of this kind.
    numbers : ndarray or None
        Values of a numeric column, or seconds since 1970 of a date; NaN where missing.
    words : ndarray of object or None
        Categories as text; None where missing.
    form : str or None
        Decimal mark of numbers in text, or the format of dates in text.
    levels : tuple of str or None
        Categories of an ordinal column, lowest first.
    """

    name: str
    kind: str
    reason: str
    numbers: np.ndarray | None = None
    words: np.ndarray | None = None
    form: str | None = None
    levels: tuple[str, ...] | None = None

    @property
    def missing(self) -> np.ndarray:
        """Which rows have no value."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        assert self.words is not None
        return np.array([word is None for word in self.words.tolist()], dtype=bool)


def guess_kind(column: RawColumn) -> TypedColumn:
    """The column with the kind that its values suggest."""
    name, values = column.name, column.values
    if values.dtype.kind == "f":
        return _guess_numbers(name, values)
    if values.dtype.kind == "M":
        known = values[~np.isnat(values)]
        if len(np.unique(known)) < 2:
            return _unused(name, values, len(known))
        return TypedColumn(name, "date", "dates", numbers=_seconds(values))
    words = as_words(values)
    texts = _distinct(words)
    if len(texts) < 2:
        return _unused(name, words, len(texts))
    if column.levels is not None:
        levels = tuple(map(str, column.levels))
        return TypedColumn(name, "ordinal", "ordered categories", words=words, levels=levels)
    pair = yes_no(set(texts))
    if pair is not None:
        return TypedColumn(name, "boolean", f"{pair[1]} or {pair[0]}", words=_lower(words))
    return _guess_texts(name, words, texts)


def _guess_numbers(name: str, values: np.ndarray) -> TypedColumn:
    values = np.where(np.isfinite(values), values, np.nan)
    known = values[~np.isnan(values)]
    different = np.unique(known)
    if len(different) < 2:
        return _unused(name, values, len(known))
    if set(different.tolist()) == {0.0, 1.0}:
        return TypedColumn(name, "boolean", "0 or 1", words=as_words(values))
    whole = bool(np.all(known == np.round(known)))
    span = float(different[-1] / 2 - different[0] / 2)
    if whole and len(different) == len(values) >= MIN_NUMBERED_ROWS and 2 * span == len(known) - 1:
        reason = f"row numbers: all integers from {different[0]:.0f} to {different[-1]:.0f}"
        return TypedColumn(name, "ignore", reason, numbers=values)
    reason = f"{len(different):,} different integers" if whole else "numbers"
    return TypedColumn(name, "numeric", reason, numbers=values)


def _guess_texts(name: str, words: np.ndarray, texts: list[str]) -> TypedColumn:
    n_known = sum(word is not None for word in words.tolist())
    mark, count = number_mark(texts)
    count = 0 if any(map(_is_code, texts)) else count
    if count == len(texts):
        reason = f"numbers as text, such as {quoted(texts[0])}"
        return TypedColumn(name, "numeric", reason, numbers=_numbers(words, mark), form=mark)
    if count >= MOSTLY_NUMBERS * len(texts) and count >= MIN_DISTINCT_TEXTS:
        numbers = _numbers(words, mark)
        n_numbers = int(np.count_nonzero(~np.isnan(numbers)))
        if n_numbers >= MOSTLY_NUMBERS * n_known:
            word = next(text for text in texts if parse_number(text, mark) is None)
            n_others = n_known - n_numbers
            reason = f"numbers; {n_others:,} other values, such as {quoted(word)}, count as missing"
            return TypedColumn(name, "numeric", reason, numbers=numbers, form=mark)
    form = date_format(texts)
    if form is not None:
        reason = f"dates as text, such as {quoted(texts[0])} ({form})"
        return TypedColumn(name, "date", reason, numbers=_dates(words, form), form=form)
    if len(texts) >= MIN_DISTINCT_TEXTS and len(texts) > n_known / 2:
        reason = f"names or free text: {len(texts):,} different values in {n_known:,} rows"
        return TypedColumn(name, "ignore", reason, words=words)
    return TypedColumn(name, "categorical", f"{len(texts):,} categories", words=words)


def read_as(
    column: RawColumn, kind: str, form: str | None = None, levels: Sequence[Any] | None = None
) -> TypedColumn:
    """The column as a kind that was requested or learned; cells that are not of it raise an error."""
    name, values, reason = column.name, column.values, "as requested"
    if kind == "ignore":
        return TypedColumn(name, kind, reason, words=as_words(values))
    if kind == "numeric":
        return _read_numbers(column, form)
    if kind == "date":
        return _read_dates(column, form)
    words = as_words(values)
    texts = _distinct(words)
    if kind == "boolean" and len(texts) > 2:
        raise InvalidValueError(
            f"column {name!r} of X should be boolean, but has {len(texts):,} different values, such as "
            f"{', '.join(map(quoted, texts[:3]))}; use categorical."
        )
    if kind != "ordinal":
        lower = kind == "boolean" and yes_no(set(texts)) is not None
        return TypedColumn(name, kind, reason, words=_lower(words) if lower else words)
    order = levels or column.levels
    if order is not None:
        ordered, reason = _level_names(order), f"{reason}, in the given order"
    elif values.dtype.kind == "f":
        ordered, reason = sorted(texts, key=float), f"{reason}, in order of the numbers"
    else:
        ordered, reason = sorted(texts), f"{reason}, in alphabetical order"
    return TypedColumn(name, kind, reason, words=words, levels=tuple(ordered))


def _level_names(levels: Sequence[Any]) -> list[str]:
    return [str(word) for word in as_words(np.array([*levels, None], dtype=object))[:-1]]


def _read_numbers(column: RawColumn, form: str | None) -> TypedColumn:
    name, values = column.name, column.values
    if values.dtype.kind == "f":
        values = np.where(np.isfinite(values), values, np.nan)
        return TypedColumn(name, "numeric", "as requested", numbers=values)
    words = as_words(values)
    texts = _distinct(words)
    if set(texts) <= {"True", "False"}:
        table = {"True": 1.0, "False": 0.0, None: np.nan}
        return TypedColumn(
            name, "numeric", "as requested", numbers=np.array([table[w] for w in words])
        )
    mark, learned = form or number_mark(texts)[0], form is not None
    numbers = _numbers(words, mark)
    wrong = [text for text in texts if parse_number(text, mark) is None]
    # A learned kind accepts single words as missing values, as the guess did.
    if wrong and (not learned or len(wrong) == len(texts)):
        raise InvalidValueError(
            f"column {name!r} of X should be numeric, but {len(wrong):,} of its {len(texts):,} different "
            f"values are not numbers, such as {quoted(wrong[0])}; use categorical or ignore, or write "
            "numbers as 1234.5."
        )
    return TypedColumn(name, "numeric", "as requested", numbers=numbers, form=mark)


def _read_dates(column: RawColumn, form: str | None) -> TypedColumn:
    name, values = column.name, column.values
    if values.dtype.kind == "M":
        return TypedColumn(name, "date", "as requested", numbers=_seconds(values))
    words = as_words(values)
    texts = _distinct(words)
    form = form or date_format(texts)
    wrong = texts if form is None else [t for t in texts if date_parser(form)(t) is None]
    if wrong or form is None:
        problem = "not a date" if form is None else f"not of the form {form}"
        raise InvalidValueError(
            f"column {name!r} of X should be a date, but {wrong[0] if wrong else ''!r} is {problem}; write "
            "dates as 2024-01-31, all in one form."
        )
    return TypedColumn(name, "date", "as requested", numbers=_dates(words, form), form=form)


def as_words(values: np.ndarray) -> np.ndarray:
    """Cells as text without surrounding spaces; None where they are missing."""
    words = np.empty(len(values), dtype=object)
    if values.dtype.kind == "f":
        words[:] = [None if not np.isfinite(v) else _number_word(v) for v in values.tolist()]
    elif values.dtype.kind == "M":
        words[:] = [None if v is None else str(v) for v in values.tolist()]
    else:
        for i, value in enumerate(values.tolist()):
            if isinstance(value, float):
                words[i] = _number_word(value) if np.isfinite(value) else None
            elif value is not None:
                text = str(value).strip()
                words[i] = None if is_missing_word(text) else text
    return words


def _number_word(value: float) -> str:
    return str(int(value)) if value == round(value) and abs(value) < 2.0**53 else repr(value)


def _is_code(text: str) -> bool:
    """Whether text is a code such as 01067: leading zeros or digits that a number would lose."""
    return text.isdigit() and (len(text) > MAX_EXACT_DIGITS or (len(text) > 1 and text[0] == "0"))


def _distinct(words: np.ndarray) -> list[str]:
    """Different texts in order of first occurrence."""
    return [word for word in dict.fromkeys(words.tolist()) if word is not None]


def _lower(words: np.ndarray) -> np.ndarray:
    lower = np.empty(len(words), dtype=object)
    lower[:] = [None if word is None else word.lower() for word in words.tolist()]
    return lower


def _numbers(words: np.ndarray, mark: str) -> np.ndarray:
    """Numbers of texts; NaN where there is none, and for those beyond the largest float."""
    table = {text: parse_number(text, mark) for text in _distinct(words)}
    numbers = [np.nan if w is None or table[w] is None else table[w] for w in words.tolist()]
    values = np.array(numbers, dtype=np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _dates(words: np.ndarray, form: str) -> np.ndarray:
    parse = date_parser(form)
    table = {text: np.datetime64(parse(text), "us") for text in _distinct(words)}
    moments = [np.datetime64("NaT") if w is None else table[w] for w in words.tolist()]
    return _seconds(np.array(moments, dtype="datetime64[us]"))


def _seconds(moments: np.ndarray) -> np.ndarray:
    numbers = moments.astype("datetime64[us]").astype(np.int64) / 1e6
    return np.where(np.isnat(moments), np.nan, numbers)


def _unused(name: str, values: np.ndarray, n_known: int) -> TypedColumn:
    return TypedColumn(name, "ignore", "constant" if n_known else "empty", words=as_words(values))
