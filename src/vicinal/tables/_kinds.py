"""Kinds of columns: guessed from their values, each with the reason, or read as requested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.suggestions import quoted
from vicinal.exceptions import InvalidValueError
from vicinal.tables._reading import RawColumn
from vicinal.tables._values import (
    N_PROBED,
    NumberText,
    common_mark,
    counted,
    date_format,
    date_parser,
    is_missing_word,
    number_text,
    other_order,
    shown_marks,
    yes_no,
)

KINDS = ("numeric", "ordinal", "categorical", "boolean", "date", "ignore")
# Text of which this fraction are numbers is a column of numbers with some words for missing values.
MOSTLY_NUMBERS = 0.9
# Texts with at least this many different values, in more than half of the rows, are names or free text.
MIN_DISTINCT_TEXTS = 10
# Integers of fewer digits are exact as floats.
MIN_INEXACT_DIGITS = 16
TOO_LONG = (
    "{} has more digits than a number holds exactly; if the column holds row names, give it as such (--id), "
    "otherwise ignore it or write it in a larger unit"
)
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
    remarks : tuple of str
        What a reader of the results has to know: what was assumed, and which cells count as missing.
    """

    name: str
    kind: str
    reason: str
    numbers: np.ndarray | None = None
    words: np.ndarray | None = None
    form: str | None = None
    levels: tuple[str, ...] | None = None
    remarks: tuple[str, ...] = ()

    @property
    def missing(self) -> np.ndarray:
        """Which rows have no value."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        assert self.words is not None
        return np.array([word is None for word in self.words.tolist()], dtype=bool)


def decimal_mark(columns: Iterable[RawColumn]) -> str | None:
    """The decimal mark of the numbers in text of a table; None if it shows none, or both."""
    shown = []
    for column in columns:
        if column.mark is not None:
            return column.mark
        if column.values.dtype.kind == "O":
            texts = [t for t in _distinct(as_words(column.values)) if not is_missing_word(t)]
            if mostly_numbers(texts):
                shown.append(shown_marks({text: number_text(text) for text in texts}))
    return common_mark(shown)


def guess_kind(column: RawColumn, mark: str | None = None) -> TypedColumn:
    """The column with the kind that its values suggest; ``mark`` is the decimal mark of its table."""
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
    known_texts = [text for text in texts if not is_missing_word(text)]
    if not known_texts:
        return _unused(name, words, 0)
    pair = yes_no(set(known_texts))
    if pair is not None and len(known_texts) > 1:
        remarks = _said(missing_remark(_others(words, known_texts)))
        words = _lower(_only(words, known_texts))
        return TypedColumn(name, "boolean", f"{pair[1]} or {pair[0]}", words=words, remarks=remarks)
    return _guess_texts(name, words, known_texts, mark)


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


def _guess_texts(name: str, words: np.ndarray, texts: list[str], mark: str | None) -> TypedColumn:
    n_known = sum(word is not None for word in words.tolist())
    numbers = _guess_number_texts(name, words, texts, mark)
    if numbers is not None:
        return numbers
    form = date_format(texts)
    if form is not None:
        return _date_texts(name, f"dates as text, such as {quoted(texts[0])} ({form})", words, form)
    n_texts = len(_distinct(words))
    if n_texts >= MIN_DISTINCT_TEXTS and n_texts > n_known / 2:
        reason = f"names or free text: {n_texts:,} different values in {n_known:,} rows"
        if all(text.lstrip("+-").isdigit() for text in texts):
            reason += f", such as {quoted(texts[0])}, which a number would not hold exactly"
        return TypedColumn(name, "ignore", reason, words=words)
    remarks = _said(category_remark(words.tolist()))
    return TypedColumn(name, "categorical", f"{n_texts:,} categories", words=words, remarks=remarks)


def _guess_number_texts(
    name: str, words: np.ndarray, texts: list[str], table_mark: str | None
) -> TypedColumn | None:
    """The column as numbers if nearly all texts are; codes such as 01067 are none."""
    if not mostly_numbers(texts) or any(map(is_code, texts)):
        return None
    found = {text: number_text(text) for text in texts}
    n_texts = sum(number is not None for number in found.values())
    if n_texts < len(texts):
        counts = Counter(word for word in words.tolist() if word in found)
        n_numbers = sum(counts[text] for text, number in found.items() if number is not None)
        n_needed = max(MOSTLY_NUMBERS * len(texts), MIN_DISTINCT_TEXTS)
        if n_texts < n_needed or n_numbers < MOSTLY_NUMBERS * counts.total():
            return None
    typed = _number_texts(name, words, found, None, table_mark)
    first, number = next((text, number) for text, number in found.items() if number is not None)
    reason = f"numbers as text, such as {quoted(first)}"
    if number.shows in ("comma", "either"):
        reason += f" ({number.value[typed.form or 'point']:.17g})"
    return typed._replace(reason=reason)


def _number_texts(
    name: str,
    words: np.ndarray,
    found: Mapping[str, NumberText | None],
    form: str | None,
    table_mark: str | None,
) -> TypedColumn:
    """A column of texts that are numbers, apart from some words that count as missing values."""
    shown = shown_marks(found)
    mark, doubt = form or common_mark([shown]) or table_mark or "point", ""
    if form is None and "either" in shown and len(shown) == 1 and table_mark is None:
        doubt = assumed_mark(shown["either"], mark)
    wrong = next(
        (shown[other] for other in ("comma", "point") if other in shown and other != mark), None
    )
    if wrong is not None:
        right = repr(shown[mark]) if mark in shown else f"with a decimal {mark}"
        raise InvalidValueError(
            f"column {name!r} of X has numbers such as {wrong!r}, but others are written {right}; use one "
            "decimal mark, or give its kind as categorical or ignore."
        )
    values = {text: number.value[mark] for text, number in found.items() if number is not None}
    currencies: dict[str, str] = {}
    for text, number in found.items():
        if number is not None and number.currency is not None:
            currencies.setdefault(number.currency, text)
    listed = " and ".join(map(repr, list(currencies.values())[:3]))
    unit = f"{listed} count in one unit; convert them first" if len(currencies) > 1 else ""
    remarks = _said(doubt, unit, missing_remark(_others(words, values)))
    numbers = _numbers(words, values)
    return TypedColumn(name, "numeric", "", numbers=numbers, form=mark, remarks=remarks)


def mostly_numbers(texts: Sequence[str]) -> bool:
    """Whether the first texts could be those of a column of numbers."""
    probed = texts[:N_PROBED]
    return 2 * sum(number_text(text) is not None for text in probed) > len(probed)


def assumed_mark(text: str, mark: str) -> str:
    """Say how a number was read if nothing in the table shows the decimal mark."""
    number = number_text(text)
    assert number is not None
    other = "comma" if mark == "point" else "point"
    return (
        f"{text!r} was read as {number.value[mark]:.17g}, because nothing shows the decimal mark; if it "
        f"means {number.value[other]:.17g}, write it so"
    )


def missing_remark(words: Iterable[str]) -> str:
    """Say which words count as missing values."""
    counts = Counter(words)
    return f"{counts.total():,} cells count as missing: {counted(counts)}" if counts else ""


def category_remark(words: Iterable[str | None]) -> str:
    """Say which words that often mean a missing value are names of categories."""
    counts = Counter(word for word in words if word and is_missing_word(word))
    if not counts:
        return ""
    return f"{counted(counts)} counts like any other category; leave missing cells empty"


def _others(words: np.ndarray, known: Collection[str]) -> list[str]:
    """Words of cells that are not empty, but not known either."""
    return [word for word in words.tolist() if word is not None and word not in known]


def _said(*remarks: str) -> tuple[str, ...]:
    return tuple(filter(None, remarks))


def read_as(
    column: RawColumn, kind: str, form: str | None = None, levels: Sequence[Any] | None = None
) -> TypedColumn:
    """The column as a kind that was requested or learned; cells that are not of it raise an error."""
    name, values, reason = column.name, column.values, f"{kind} as requested"
    if kind == "ignore":
        return TypedColumn(name, kind, "ignored as requested", words=as_words(values))
    if kind == "numeric":
        return _read_numbers(column, form)
    if kind == "date":
        return _read_dates(column, form)
    words = as_words(values)
    texts = _distinct(words)
    if kind == "boolean":
        texts = [text for text in texts if not is_missing_word(text)]
        words = _only(words, texts)
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


def only_levels(column: TypedColumn) -> TypedColumn:
    """An ordinal column whose cells that are not of its levels are missing, with a remark on which."""
    assert column.words is not None
    assert column.levels is not None
    others = _others(column.words, column.levels)
    if len(others) == np.count_nonzero(~column.missing):
        raise InvalidValueError(
            f"the order of column {column.name!r} of X names {', '.join(map(repr, column.levels))}, but none "
            f"of its values: {counted(Counter(others)) or 'it is empty'}."
        )
    if not others:
        return column
    remark = f"{missing_remark(others)}, because the given order does not name them"
    return column._replace(words=_only(column.words, column.levels), remarks=(remark,))


def _level_names(levels: Sequence[Any]) -> list[str]:
    return [str(word) for word in as_words(np.array([*levels, None], dtype=object))[:-1]]


def _read_numbers(column: RawColumn, form: str | None) -> TypedColumn:
    name, values, reason = column.name, column.values, "numeric as requested"
    if values.dtype.kind == "f":
        values = np.where(np.isfinite(values), values, np.nan)
        return TypedColumn(name, "numeric", reason, numbers=values)
    words = as_words(values)
    texts = [text for text in _distinct(words) if not is_missing_word(text)]
    if set(texts) <= {"True", "False"}:
        return TypedColumn(
            name, "numeric", reason, numbers=_numbers(words, {"True": 1.0, "False": 0.0})
        )
    inexact = next((text for text in texts if is_inexact(text)), None)
    if inexact is not None:
        raise InvalidValueError(
            f"column {name!r} of X should be numeric, but {TOO_LONG.format(inexact)}."
        )
    found = {text: number_text(text) for text in texts}
    wrong = [text for text, number in found.items() if number is None]
    # A learned kind accepts single words as missing values, as the guess did.
    if wrong and (form is None or len(wrong) == len(texts)):
        raise InvalidValueError(
            f"column {name!r} of X should be numeric, but {len(wrong):,} of its {len(texts):,} different "
            f"values are not numbers, such as {quoted(wrong[0])}; use categorical or ignore, or write "
            "numbers as 1234.5."
        )
    return _number_texts(name, words, found, form, column.mark)._replace(reason=reason)


def _read_dates(column: RawColumn, form: str | None) -> TypedColumn:
    name, values, reason = column.name, column.values, "date as requested"
    if values.dtype.kind == "M":
        return TypedColumn(name, "date", reason, numbers=_seconds(values))
    words = as_words(values)
    texts = [text for text in _distinct(words) if not is_missing_word(text)]
    form = form or date_format(texts)
    wrong = texts if form is None else [t for t in texts if date_parser(form)(t) is None]
    if wrong or form is None:
        problem = "not a date" if form is None else f"not of the form {form}"
        raise InvalidValueError(
            f"column {name!r} of X should be a date, but {wrong[0] if wrong else ''!r} is {problem}; write "
            "dates as 2024-01-31, all in one form."
        )
    return _date_texts(name, reason, words, form)


def _date_texts(name: str, reason: str, words: np.ndarray, form: str) -> TypedColumn:
    """Texts of a date format as a column of dates; other cells are missing."""
    parse = date_parser(form)
    dates = {text: date for text in _distinct(words) if (date := parse(text)) is not None}
    table = {text: np.datetime64(date, "us") for text, date in dates.items()}
    missing = np.datetime64("NaT")
    moments = [table.get(word, missing) for word in words.tolist()]
    doubt = ""
    exchanged = other_order(form, list(dates))
    if exchanged is not None:
        parse_exchanged = date_parser(exchanged)
        text = next(text for text, date in dates.items() if parse_exchanged(text) != date)
        first = "month" if form.startswith("%m") else "day"
        doubt = (
            f"{text!r} was read as {dates[text]:%Y-%m-%d}, with the {first} first, but no date shows whether "
            f"it is; write dates as {dates[text]:%Y-%m-%d}"
        )
    return TypedColumn(
        name,
        "date",
        reason,
        numbers=_seconds(np.array(moments, dtype="datetime64[us]")),
        form=form,
        remarks=_said(doubt, missing_remark(_others(words, dates))),
    )


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
                words[i] = str(value).strip() or None
    return words


def _number_word(value: float) -> str:
    return str(int(value)) if abs(value) < 2.0**53 and value == round(value) else repr(value)


def is_code(text: str) -> bool:
    """Whether text is a code such as 01067: leading zeros or digits that a number would lose."""
    return (text.isdigit() and len(text) > 1 and text[0] == "0") or is_inexact(text)


def is_inexact(text: str) -> bool:
    """Whether text is an integer that a float does not hold exactly."""
    # As text is much faster to reject than by conversion.
    if len(text) < MIN_INEXACT_DIGITS or not text.lstrip("+-").isdigit():
        return False
    try:
        return int(float(text)) != int(text)
    except (ValueError, OverflowError):
        return True


def _distinct(words: np.ndarray) -> list[str]:
    """Different texts in order of first occurrence."""
    return [word for word in dict.fromkeys(words.tolist()) if word is not None]


def _only(words: np.ndarray, known: Collection[str]) -> np.ndarray:
    """Words that are known; None in place of the others."""
    return np.array([word if word in known else None for word in words.tolist()], dtype=object)


def _lower(words: np.ndarray) -> np.ndarray:
    return np.array([None if w is None else w.lower() for w in words.tolist()], dtype=object)


def _numbers(words: np.ndarray, values: dict[str, float]) -> np.ndarray:
    """Numbers of words; NaN where there is none, and for those beyond the largest float."""
    numbers = np.array([values.get(word, np.nan) for word in words.tolist()], dtype=np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _seconds(moments: np.ndarray) -> np.ndarray:
    numbers = moments.astype("datetime64[us]").astype(np.int64) / 1e6
    return np.where(np.isnat(moments), np.nan, numbers)


def _unused(name: str, values: np.ndarray, n_known: int) -> TypedColumn:
    return TypedColumn(name, "ignore", "constant" if n_known else "empty", words=as_words(values))
