"""Columns of cells of text as numbers, with one decimal mark for a file, or as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.suggestions import listing
from vicinal._core.tables import MAX_EXACT
from vicinal.exceptions import InvalidValueError
from vicinal.tables._kinds import assumed_mark, is_inexact, missing_remark, mostly_numbers
from vicinal.tables._values import (
    BODY_PATTERNS,
    GROUP_MARKS,
    MISSING_WORDS,
    common_mark,
    number_text,
    shown_marks,
)

TRUTHS = ("True", "False", "true", "false", "TRUE", "FALSE")
# Cells that are looked at before all of a column are.
N_FIRST = 100
SIGNED = {mark: f"^[+-]?(?:{body})$" for mark, body in BODY_PATTERNS.items()}


class TextColumns(NamedTuple):
    """Columns of a file: floats, booleans, or text (None where a cell is empty).

    ``mark`` is the decimal mark of the file, "comma" or "point", for numbers that are still text; ``notes``
    say what was decided.
    """

    values: dict[str, np.ndarray]
    mark: str | None
    notes: list[str]


class Numbers(NamedTuple):
    """Numbers of a column (NaN where missing), and the words that count as missing."""

    values: np.ndarray
    words: Counter[str]
    is_whole: bool = False


def as_columns(
    cells: Mapping[str, Any], texts: Collection[str], separator: str, path: Path
) -> TextColumns:
    """Columns of text (pyarrow arrays, null where empty) as what they are; those of ``texts`` stay text."""
    numbers, left = {}, {}
    for name, column in cells.items():
        found = None if name in texts else _plain_numbers(column)
        if found is not None:
            numbers[name] = found
        elif name not in texts:
            left[name] = column
    # What each column shows about the decimal mark, as `shown_marks` tells it.
    shown = {name: own for name, column in left.items() if (own := _shown_by_texts(column))}
    shown |= _shown_by_numbers(cells, numbers)
    mark = common_mark(shown.values())
    unclear = [name for name, own in shown.items() if mark is None and set(own) == {"either"}]
    notes = []
    if unclear:
        _check_agreement(shown, unclear[0], path)
        texts_of = [shown[name]["either"] for name in unclear]
        is_comma = separator != "," and any("," in text for text in texts_of)
        mark = "comma" if is_comma else "point"
        where = listing(map(repr, unclear))
        notes.append(f"{where}: {assumed_mark(texts_of[0], mark)}")
    read: dict[str, list[str]] = {}
    for name, own in shown.items():
        own_mark = common_mark([own]) or (None if len(set(own) - {"either"}) == 2 else mark)
        if own_mark is None or (name in numbers and own_mark == "point"):
            continue
        found = _numbers_by_mark(cells[name], own_mark)
        if found is not None:
            numbers[name] = found
            for meaning in _meanings(cells[name], own_mark):
                read.setdefault(meaning, []).append(repr(name))
    notes += [f"read {meaning} in {listing(names)}" for meaning, names in read.items()]
    words = {name: found.words for name, found in numbers.items() if found.words}
    if words:
        total = missing_remark(sum(words.values(), Counter()))
        notes.insert(0, f"{total} in the numbers of {listing(map(repr, words))}")
    values = {
        name: numbers[name].values
        if name in numbers
        else _truths(column)
        if name in left
        else column.to_numpy(zero_copy_only=False)
        for name, column in cells.items()
    }
    # Without any evidence, no number that is still text depends on the mark.
    return TextColumns(values, mark or (None if shown else "point"), notes)


def _check_agreement(shown: Mapping[str, Mapping[str, str]], name: str, path: Path) -> None:
    """Raise if other columns contradict each other about the decimal mark of a column."""
    marks = {mark: text for own in shown.values() for mark, text in own.items()}
    if {"comma", "point"} <= set(marks):
        raise InvalidValueError(
            f"{path}: {shown[name]['either']!r} in column {name!r} may have a decimal comma or a decimal "
            f"point, because other columns have both ({marks['comma']!r}, {marks['point']!r}); use one."
        )


def _plain_numbers(column: Any) -> Numbers | None:
    """Numbers as Python writes them, apart from words for missing values; None if cells are others."""
    found = _cast(column)
    if found is None:
        known, words = _without_words(column)
        found = None if known is column else _cast(known)
        return None if found is None else found._replace(words=words)
    missing = np.isnan(found.values)
    if np.count_nonzero(missing) > column.null_count:
        import pyarrow

        texts = column.filter(pyarrow.array(missing)).drop_null().to_pylist()
        return found._replace(words=Counter(texts))
    return found


def _cast(column: Any) -> Numbers | None:
    """Cells as numbers; None if some are none, or if a number would lose digits of theirs."""
    import pyarrow.compute as pc

    integers = _converted(column, "int64")
    if integers is None:
        floats = _converted(column, "float64")
        if floats is None:
            return None
        values = floats.to_numpy(zero_copy_only=False)
        large = np.abs(values) > MAX_EXACT
        is_lost = large.any() and any(map(is_inexact, column.filter(large).to_pylist()))
        return None if is_lost else Numbers(values, Counter())
    zeros = column.filter(pc.starts_with(column, "0"))
    if len(zeros) and pc.max(pc.binary_length(zeros)).as_py() > 1:
        return None  # codes such as 01067, or hexadecimal numbers
    floats = _converted(integers, "float64")  # None if they are not exact
    if floats is None:
        return None
    return Numbers(floats.to_numpy(zero_copy_only=False), Counter(), is_whole=True)


def _converted(column: Any, dtype: str) -> Any:
    """Cells of another type, or None. Errors are slow, so the first cells are tried before the others."""
    import pyarrow
    import pyarrow.compute as pc

    try:
        pc.cast(column[:N_FIRST], dtype)
        return pc.cast(column, dtype)
    except pyarrow.ArrowInvalid:
        return None


def _without_words(column: Any) -> tuple[Any, Counter[str]]:
    """Cells without surrounding spaces, null where a word means a missing value, and these words."""
    import pyarrow
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    missing = pc.is_in(pc.utf8_lower(trimmed), value_set=pyarrow.array(sorted(MISSING_WORDS)))
    missing = pc.and_(missing, pc.is_valid(column))
    counts = Counter(trimmed.filter(missing).to_pylist())
    counts.pop("", None)
    if trimmed.equals(column) and not pc.any(missing).as_py():
        return column, counts
    return pc.if_else(missing, pyarrow.scalar(None, pyarrow.string()), trimmed), counts


def _shown_by_texts(column: Any) -> dict[str, str]:
    """What a column of text shows about the decimal mark; nothing if it holds no numbers."""

    if not mostly_numbers(_distinct(_without_words(column[:N_FIRST])[0])):
        return {}
    known = _without_words(column)[0].drop_null()
    by_comma, by_point = (_matches(known, SIGNED[mark]) for mark in ("comma", "point"))
    if not (by_comma | by_point).all():
        return shown_marks({text: number_text(text) for text in _distinct(known)})
    has_mark = _matches(known, "[.,]")
    showing = {
        "comma": by_comma & ~by_point,
        "point": by_point & ~by_comma & has_mark,
        "either": by_comma & by_point & has_mark,
    }
    return {
        mark: known[int(cells.argmax())].as_py() for mark, cells in showing.items() if cells.any()
    }


def _shown_by_numbers(
    cells: Mapping[str, Any], numbers: Mapping[str, Numbers]
) -> dict[str, dict[str, str]]:
    """What columns of numbers with points show."""
    shown = {}
    for name, found in numbers.items():
        if found.is_whole:
            continue
        for part in (cells[name][:N_FIRST], cells[name]):
            known = part.filter(_matches_arrow(part, "[.]")).drop_null()
            grouped = _matches(known, SIGNED["comma"])
            if not grouped.all():
                shown[name] = {"point": known[int(grouped.argmin())].as_py()}
                break
            if len(known):
                shown[name] = {"either": known[0].as_py()}
    return shown


def _numbers_by_mark(column: Any, mark: str) -> Numbers | None:
    """Numbers written with a decimal mark; None if some cells are others."""
    import pyarrow
    import pyarrow.compute as pc

    known, words = _without_words(column)
    if not _matches(known.drop_null(), SIGNED[mark]).all():
        return None
    plain = pc.replace_substring_regex(known, f"[{GROUP_MARKS[mark]}]", "")
    values = pc.cast(pc.replace_substring(plain, ",", "."), pyarrow.float64())
    return Numbers(values.to_numpy(zero_copy_only=False), words)


def _meanings(column: Any, mark: str) -> list[str]:
    """What points and commas of a column were read as, where it is not what Python writes."""
    import pyarrow.compute as pc

    meanings = []
    if mark == "comma" and pc.any(pc.match_substring(column, ",")).as_py():
        meanings.append("commas as decimal points")
    sign, name = (",", "commas") if mark == "point" else (".", "points")
    grouped = column.filter(pc.match_substring(column, sign)).drop_null()
    if len(grouped):
        number = number_text(grouped[0].as_py())
        assert number is not None
        example = f"{grouped[0].as_py()!r} is {number.value[mark]:.17g}"
        meanings.append(f"{name} as separators of thousands ({example})")
    return meanings


def _truths(column: Any) -> np.ndarray:
    """A column of text; booleans if all cells are True or False."""
    import pyarrow
    import pyarrow.compute as pc

    if len(column) and pc.all(pc.is_in(column, value_set=pyarrow.array(TRUTHS))).as_py():
        return pc.equal(pc.utf8_lower(column), "true").to_numpy(zero_copy_only=False)
    return column.to_numpy(zero_copy_only=False)


def _distinct(column: Any) -> list[str]:
    return [text for text in column.unique().to_pylist() if text is not None]


def _matches_arrow(column: Any, pattern: str) -> Any:
    import pyarrow.compute as pc

    return pc.match_substring_regex(column, pattern)


def _matches(column: Any, pattern: str) -> np.ndarray:
    return _matches_arrow(column, pattern).to_numpy(zero_copy_only=False).astype(bool)
