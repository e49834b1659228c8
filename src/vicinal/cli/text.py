"""Text tables: a file is read as cells of text, once, and then each column as what its cells are.

Names of rows and classes stay the text that stands in the file.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.foreign_files import check_table_size, reading
from vicinal._core.tables import RawTable, unique_names
from vicinal.cli.columns import UNNAMED, Roles, import_reader, numeric_columns
from vicinal.exceptions import InvalidValueError

SEPARATORS = ",;\t|"
# An integer, or a number with a decimal comma.
COMMA_NUMBER = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")
# Larger files are read in blocks of this size.
MAX_BLOCK = 2**30
MAX_CELL = 2**31 - 1


class Record(NamedTuple):
    """Cells of a line, and the numbers of lines of the file above and up to its end."""

    start: int
    end: int
    cells: list[str]


class Layout(NamedTuple):
    """Where the cells of a text file are.

    ``header`` are the names in its first line, None without one; ``n_above`` lines stand above the first row
    of ``width`` cells.
    """

    separator: str
    header: list[str] | None
    n_above: int
    width: int


def read_text(path: Path, roles: Roles) -> RawTable:
    """Columns of a .csv or .tsv file."""
    pandas = import_reader("pandas", path)
    import_reader("pyarrow", path)
    from vicinal.cli.cells import as_columns
    from vicinal.tables._reading import MARK_ATTRIBUTE

    # The default limit of a cell is 131,072 characters.
    previous_limit = csv.field_size_limit(MAX_CELL)
    try:
        with reading(path):
            try:
                layout = _layout(path)
                columns = _cells(path, layout)
            except UnicodeDecodeError as error:
                raise _not_utf8(path, error) from error
    finally:
        csv.field_size_limit(previous_limit)
    header, index = layout.header, None
    notes = ["no header line" if header is None else "the first line is the header"]
    if header is None:
        header = [f"column {i + 1}" for i in range(layout.width)]
    elif len(header) < layout.width:
        if columns[-1].null_count == len(columns[-1]):
            columns = columns[:-1]
            notes.append(f"ignored the trailing {layout.separator!r} of all lines but the first")
        else:
            index, *columns = columns
            notes.append(
                "the header has one name fewer than there are columns, so the first column is used as "
                "row names"
            )
    if len(columns[0]) and layout.width == 1:
        columns, n_blank = _without_end(columns)
        notes += [f"ignored {n_blank} blank line(s) at the end"] if n_blank else []
    names = unique_names(name or UNNAMED.format(i) for i, name in enumerate(header))
    texts = {*roles.among(names).named.values(), UNNAMED.format(0)}
    cells = dict(zip(names, columns, strict=True))
    values, mark, value_notes = as_columns(cells, texts, layout.separator, path)
    frame = pandas.DataFrame(values)
    if index is not None:
        frame.index = index.to_numpy(zero_copy_only=False)
    if mark is not None:
        frame.attrs[MARK_ATTRIBUTE] = mark
    table = numeric_columns(frame, path, roles)
    return table._replace(notes=[*notes, *value_notes, *table.notes])


def _layout(path: Path) -> Layout:
    """Separator, header and width of a file, from its first two lines that are not blank."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = list(islice((line for line in file if line.strip()), 2))
    if not lines:
        raise InvalidValueError(f"{path} is empty; a table with one row per point is needed.")
    first, second = [*lines, ""][:2]
    separator = "\t" if path.suffix.lower() == ".tsv" else detect_separator(first, second)
    before, *rest = islice(_records(path, separator), 2)
    check_table_size(path, 1, len(before.cells))
    below = rest[0].cells if rest else []
    if not is_header(_plain(before.cells, separator), _plain(below, separator)):
        return Layout(separator, None, before.start, len(before.cells))
    if not rest:
        raise InvalidValueError(f"{path} has no rows; a table with one row per point is needed.")
    layout = Layout(separator, before.cells, before.end, len(below))
    if len(below) - len(before.cells) not in (0, 1):
        raise _ragged(path, layout)
    return layout


def _records(path: Path, separator: str) -> Iterator[Record]:
    """Cells of the lines that are not blank; quoted cells may have several lines."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader, start = csv.reader(file, delimiter=separator), 0
        for cells in reader:
            if len(cells) > 1 or any(cell.strip() for cell in cells):
                yield Record(start, reader.line_num, cells)
            start = reader.line_num


def _cells(path: Path, layout: Layout) -> list[Any]:
    """Cells of each column as text; null where they are empty."""
    import pyarrow
    from pyarrow import csv as arrow

    names = [str(i) for i in range(layout.width)]
    size = path.stat().st_size
    try:
        table = arrow.read_csv(
            path,
            read_options=arrow.ReadOptions(
                use_threads=False,
                block_size=min(size + 1, MAX_BLOCK),
                skip_rows=layout.n_above,
                column_names=names,
            ),
            parse_options=arrow.ParseOptions(
                delimiter=layout.separator,
                newlines_in_values=True,
                # A blank line is a missing value if lines have one cell.
                ignore_empty_lines=layout.width > 1,
                invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
            ),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pyarrow.ArrowInvalid as error:
        path.read_text(encoding="utf-8")  # raises UnicodeDecodeError if that is the fault
        _check_quotes(path, layout.separator)
        raise _ragged(path, layout, str(error)) from error
    _check_quotes(path, layout.separator)
    blocks = table.to_batches()
    return [pyarrow.concat_arrays([block.column(i) for block in blocks]) for i in range(len(names))]


def _ragged(path: Path, layout: Layout, otherwise: str = "") -> ValueError:
    """The line that has another number of cells than most."""
    records = _records(path, layout.separator)
    widths = [(record.start + 1, len(record.cells)) for record in records]
    usual = Counter(width for _, width in widths).most_common(1)[0][0]
    if layout.header is not None and widths[0][1] == usual - 1:
        widths = widths[1:]  # the first column has no name
    for line, width in widths:
        if width != usual:
            return InvalidValueError(
                f"line {line} of {path} has {width} cells, but other lines have {usual}; all lines need the "
                "same number of cells. Put cells that contain the separator "
                f"{layout.separator!r} in quotes."
            )
    return InvalidValueError(f"cannot read {path} as a table: {otherwise}.")


def _check_quotes(path: Path, separator: str) -> None:
    """Raise if a quoted cell never ends, so that the rest of the file is in it."""
    if path.read_bytes().count(b'"') % 2 == 0:
        return
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        start = 1
        try:
            for _ in reader:
                start = reader.line_num + 1
        except csv.Error as error:
            if "end of data" in str(error):
                raise InvalidValueError(
                    f'cannot read {path} as a table: a cell of line {start} begins with ", but does not end; '
                    "remove the quote or close it."
                ) from error


def _without_end(columns: list[Any]) -> tuple[list[Any], int]:
    """A single column without the blank lines at the end of a file."""
    (cells,) = columns
    known = np.flatnonzero(cells.is_valid().to_numpy(zero_copy_only=False))
    end = int(known[-1]) + 1 if len(known) else 0
    return [cells[:end]], len(cells) - end


def detect_separator(first: str, second: str) -> str:
    """Separator of the cells of two lines: usually the most frequent candidate."""
    for separator in SEPARATORS[1:]:
        fields = next(csv.reader([second or first], delimiter=separator), [])
        # Decimal commas may be more frequent than the separator.
        if (
            separator in first
            and len(fields) > 1
            and all("," not in field or COMMA_NUMBER.fullmatch(field.strip()) for field in fields)
        ):
            return separator
    return max(SEPARATORS, key=first.count)


def _plain(record: list[str], separator: str) -> list[str]:
    """Cells of a line, with decimal commas replaced by points."""
    stripped = [cell.strip() for cell in record]
    if separator == ",":
        return stripped
    return [cell.replace(",", ".") if COMMA_NUMBER.fullmatch(cell) else cell for cell in stripped]


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


def _not_utf8(path: Path, error: UnicodeDecodeError) -> ValueError:
    return InvalidValueError(
        f"{path} is not UTF-8 text ({error}); save it with UTF-8 encoding: in Excel as 'CSV UTF-8', or "
        "with iconv -f cp1252 -t utf-8."
    )
