"""Text tables: separators, header and number format are detected."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from vicinal._core.tables import RawTable
from vicinal.cli.columns import Roles, import_reader, numeric_columns
from vicinal.exceptions import InvalidValueError

SEPARATORS = ",;\t|"
# An integer, or a number with a decimal comma.
COMMA_NUMBER = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")


def read_text(path: Path, roles: Roles) -> RawTable:
    """Numeric columns of a .csv or .tsv file."""
    pandas = import_reader("pandas", path)
    try:
        first, second, n_blank = _first_lines(path)
    except UnicodeDecodeError as error:
        raise _not_utf8(path, error) from error
    if not first:
        raise InvalidValueError(f"{path} is empty; a table with one row per point is needed.")
    separator = "\t" if path.suffix.lower() == ".tsv" else detect_separator(first, second)
    header = is_header(cells(first, separator), cells(second, separator))
    try:
        frame = pandas.read_csv(
            path,
            sep=separator,
            header=0 if header else None,
            skiprows=n_blank,
            encoding="utf-8-sig",
            float_precision="round_trip",  # the default may be off by one bit
        )
    except UnicodeDecodeError as error:
        raise _not_utf8(path, error) from error
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError) as error:
        raise InvalidValueError(f"cannot read {path} as a table: {error}") from error
    if frame.index.nlevels > 1:
        n_named = frame.shape[1]
        raise InvalidValueError(
            f"{path} has {n_named} cells in the first line but {n_named + frame.index.nlevels} in others; "
            "all lines need the same number of cells."
        )
    if not header:
        frame.columns = [f"column {i}" for i in range(1, frame.shape[1] + 1)]
    notes = ["the first line is the header" if header else "no header line"]
    if frame.index.nlevels == 1 and len(frame) and _ends_in_separators(frame, pandas):
        frame = frame.reset_index().iloc[:, :-1].set_axis(frame.columns, axis="columns")
        notes.append(f"ignored the trailing {separator!r} of all lines but the first")
    elif not isinstance(frame.index, pandas.RangeIndex):
        notes.append(
            "the header has one name fewer than there are columns, so the first column is used as row names"
        )
    if separator != ",":
        notes += _read_decimal_commas(frame, roles)
    table = numeric_columns(frame, path, roles)
    return table._replace(notes=[*notes, *table.notes])


def detect_separator(first: str, second: str) -> str:
    """Separator of the cells of two lines: usually the most frequent candidate."""
    for separator in SEPARATORS[1:]:
        fields = _split(second or first, separator)
        # Decimal commas may be more frequent than the separator.
        if (
            separator in first
            and len(fields) > 1
            and all("," not in field or COMMA_NUMBER.fullmatch(field.strip()) for field in fields)
        ):
            return separator
    return max(SEPARATORS, key=first.count)


def cells(line: str, separator: str) -> list[str]:
    """Cells of a line, with decimal commas replaced by points."""
    stripped = [cell.strip() for cell in _split(line, separator)]
    if separator == ",":
        return stripped
    return [cell.replace(",", ".") if COMMA_NUMBER.fullmatch(cell) else cell for cell in stripped]


def _split(line: str, separator: str) -> list[str]:
    """Cells of a line of any length; the default limit of the csv module is 131,072 characters."""
    previous_limit = csv.field_size_limit(max(csv.field_size_limit(), len(line) + 1))
    try:
        return next(csv.reader([line], delimiter=separator), [])
    finally:
        csv.field_size_limit(previous_limit)


def is_header(first: list[str], second: list[str]) -> bool:
    """Whether the first line names the columns.

    It does if it has no numbers, if a word is above a number, if only the cell above the row names is
    empty, or if it numbers the columns, as pandas does.
    """
    word_above_number = any(
        above and not _is_number(above) and _is_number(below)
        for above, below in zip(first, second, strict=False)
    )
    empty_above_names = first[:1] == [""] and all(first[1:]) and all(second)
    return (
        word_above_number
        or empty_above_names
        or _numbers_columns(first, second)
        or not any(map(_is_number, first))
    )


def _numbers_columns(first: list[str], second: list[str]) -> bool:
    names = first[1:] if first[:1] == [""] else first
    # Columns that were added to an array, such as labels, have words as names.
    numbers = [name for name in names if _is_number(name)]
    if numbers != [str(i) for i in range(len(numbers))] or names[: len(numbers)] != numbers:
        return False
    # Integer columns may start with 0, 1 as data.
    below = [cell for above, cell in zip(first, second, strict=False) if _is_number(above)]
    is_long = len(names) == len(numbers) and len(first) > 2
    return is_long or not all(cell.lstrip("-").isdigit() for cell in below)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _ends_in_separators(frame: Any, pandas: Any) -> bool:
    """Whether pandas used the first column as index only because lines end in a separator."""
    return not isinstance(frame.index, pandas.RangeIndex) and frame.iloc[:, -1].isna().all()


def _read_decimal_commas(frame: Any, roles: Roles) -> list[str]:
    """Convert columns with decimal commas to numbers; returns a note on which."""
    converted = []
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        texts = column.dropna().astype(str).str.strip()
        if column.dtype.kind in "biuf" or name in roles.named.values() or not len(texts):
            continue
        if texts.str.fullmatch(COMMA_NUMBER).all() and texts.str.contains(",").any():
            numbers = texts.str.replace(",", ".", regex=False).map(float)
            frame.isetitem(position, numbers.reindex(column.index))
            converted.append(repr(str(name)))
    listed = ", ".join(converted[:8]) + (", ..." if len(converted) > 8 else "")
    return [f"read commas as decimal points in {listed}"] if converted else []


def _first_lines(path: Path) -> tuple[str, str, int]:
    """First two lines, and the number of empty lines above them."""
    n_blank = 0
    with open(path, newline="", encoding="utf-8-sig") as lines:
        for line in lines:
            if line.strip():
                return line, lines.readline(), n_blank
            n_blank += 1
    return "", "", n_blank


def _not_utf8(path: Path, error: UnicodeDecodeError) -> ValueError:
    return InvalidValueError(
        f"{path} is not UTF-8 text ({error}); save it with UTF-8 encoding: in Excel as 'CSV UTF-8', or "
        "with iconv -f cp1252 -t utf-8."
    )
