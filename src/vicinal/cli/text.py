"""Text that holds a table: what parts its cells, whether a line names them, how its numbers are written."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from vicinal.cli.columns import Roles, Table, need, numeric_columns
from vicinal.exceptions import InvalidValueError

SEPARATORS = ",;\t|"
# A whole number, or one with a decimal comma.
COMMA_NUMBER = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")


def read_text(path: Path, roles: Roles) -> Table:
    """The numeric columns of a .csv or .tsv file."""
    pandas = need("pandas", path)
    try:
        first, second, n_blank = _first_lines(path)
    except UnicodeDecodeError as error:
        raise _not_utf8(path, error) from error
    if not first:
        raise InvalidValueError(f"{path} is empty; a table with a row for each point is needed.")
    separator = "\t" if path.suffix.lower() == ".tsv" else separator_of(first, second)
    header = is_header(cells(first, separator), cells(second, separator))
    try:
        frame = pandas.read_csv(
            path,
            sep=separator,
            header=0 if header else None,
            skiprows=n_blank,
            encoding="utf-8-sig",
            float_precision="round_trip",  # the default may miss the nearest number by one bit
        )
    except UnicodeDecodeError as error:
        raise _not_utf8(path, error) from error
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError) as error:
        raise InvalidValueError(f"{path} could not be read as a table: {error}") from error
    if frame.index.nlevels > 1:
        n_named = frame.shape[1]
        raise InvalidValueError(
            f"{path} has {n_named} cells in its first line but {n_named + frame.index.nlevels} in others; "
            "every line needs the same number of cells."
        )
    if not header:
        frame.columns = [f"column {number}" for number in range(1, frame.shape[1] + 1)]
    notes = ["first line is the header" if header else "no header line"]
    if frame.index.nlevels == 1 and len(frame) and _ends_in_separators(frame, pandas):
        frame = frame.reset_index().iloc[:, :-1].set_axis(frame.columns, axis="columns")
        notes.append(
            f"every line but the first ends in {separator!r}, which is taken for no column"
        )
    elif not isinstance(frame.index, pandas.RangeIndex):
        notes.append("the header is one name short, so the first column holds names of rows")
    if separator != ",":
        notes += _read_decimal_commas(frame, roles)
    table = numeric_columns(frame, path, roles)
    return table._replace(notes=[*notes, *table.notes])


def separator_of(first: str, second: str) -> str:
    """What parts the cells of two lines: mostly what is there most often."""
    for separator in SEPARATORS[1:]:
        parts = _split(second or first, separator)
        # Commas may well be more, if they are in the numbers.
        if (
            separator in first
            and len(parts) > 1
            and all("," not in part or COMMA_NUMBER.fullmatch(part.strip()) for part in parts)
        ):
            return separator
    return max(SEPARATORS, key=first.count)


def cells(line: str, separator: str) -> list[str]:
    """The cells of a line, numbers with a decimal comma as those with a point."""
    found = [cell.strip() for cell in _split(line, separator)]
    if separator == ",":
        return found
    return [cell.replace(",", ".") if COMMA_NUMBER.fullmatch(cell) else cell for cell in found]


def _split(line: str, separator: str) -> list[str]:
    """The cells of a line of any length; the csv module stops at 131,072 characters by default."""
    before = csv.field_size_limit(max(csv.field_size_limit(), len(line) + 1))
    try:
        return next(csv.reader([line], delimiter=separator), [])
    finally:
        csv.field_size_limit(before)


def is_header(first: list[str], second: list[str]) -> bool:
    """Whether the first line names the columns.

    It does when none of its cells is a number, when a word stands over a number, when only the cell
    over the names of the rows is empty, or when it counts the columns, as pandas does.
    """
    over_number = any(
        above and not _is_number(above) and _is_number(below)
        for above, below in zip(first, second, strict=False)
    )
    over_names = first[:1] == [""] and all(first[1:]) and all(second)
    return over_number or over_names or _counts(first, second) or not any(map(_is_number, first))


def _counts(first: list[str], second: list[str]) -> bool:
    names = first[1:] if first[:1] == [""] else first
    if names != [str(number) for number in range(len(names))]:
        return False
    # One or two columns of whole numbers may well begin with 0 or 0, 1 themselves.
    return len(first) > 2 or not all(cell.lstrip("-").isdigit() for cell in second)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _ends_in_separators(frame: Any, pandas: Any) -> bool:
    """Whether pandas took the first column for names, only because lines have an empty cell at their end."""
    return not isinstance(frame.index, pandas.RangeIndex) and frame.iloc[:, -1].isna().all()


def _read_decimal_commas(frame: Any, roles: Roles) -> list[str]:
    """Put numbers in place of words that are numbers with a decimal comma; says where."""
    read = []
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        words = column.dropna().astype(str).str.strip()
        if column.dtype.kind in "biuf" or name in (roles.id, roles.label) or not len(words):
            continue
        if words.str.fullmatch(COMMA_NUMBER).all() and words.str.contains(",").any():
            numbers = words.str.replace(",", ".", regex=False).map(float)
            frame.isetitem(position, numbers.reindex(column.index))
            read.append(repr(str(name)))
    shown = ", ".join(read[:8]) + (", ..." if len(read) > 8 else "")
    return [f"commas are decimal points in {shown}"] if read else []


def _first_lines(path: Path) -> tuple[str, str, int]:
    """The first two lines, and how many empty ones are above them."""
    n_blank = 0
    with open(path, newline="", encoding="utf-8-sig") as lines:
        for line in lines:
            if line.strip():
                return line, lines.readline(), n_blank
            n_blank += 1
    return "", "", n_blank


def _not_utf8(path: Path, error: UnicodeDecodeError) -> ValueError:
    return InvalidValueError(
        f"{path} is no UTF-8 text ({error}); save it again with the encoding UTF-8."
    )
