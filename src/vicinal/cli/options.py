"""Options that commands share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal._core.tables import RawTable
from vicinal.cli.column_options import (
    add_column_options,
    encoded_points,
    given_column_options,
)
from vicinal.cli.columns import DISTANCES_AS_POINTS, is_square, looks_like_distances
from vicinal.cli.frames import is_parquet_folder
from vicinal.cli.output import (
    FIGURE_FORMATS,
    TABLE_FORMATS,
    check_table_target,
    check_target,
    require_modules,
)
from vicinal.cli.stdin import path_or_stdin
from vicinal.cli.tables import READERS, check_finite, read_table
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    import numpy as np

Run = Callable[[argparse.Namespace], dict[str, Any]]


class HelpPage(argparse.RawDescriptionHelpFormatter):
    """Help with wide option names, and a usage line with only the required arguments."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def add_argument(self, action: argparse.Action) -> None:
        super().add_argument(action)
        # argparse measures the names of commands without the indentation that it prints them with.
        if action.nargs == argparse.PARSER:
            self._action_max_length += self._indent_increment

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        # Options last, because --query takes all words that follow it.
        required = sorted((a for a in actions if a.required), key=lambda a: len(a.option_strings))
        arguments = [" ".join([*a.option_strings[-1:], self._value(a)]) for a in required]
        super().add_usage(" ".join(["%(prog)s", *arguments, "[options]"]), [], [], prefix)

    def _value(self, action: argparse.Action) -> str:
        name = str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest)
        if action.nargs == argparse.ZERO_OR_MORE:
            return f"[{name} ...]"
        return f"{name} ..." if action.nargs in (argparse.ONE_OR_MORE, argparse.PARSER) else name


def new_command(
    commands: Any, name: str, run: Run, about: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    """Add a subcommand with the options that all have."""
    parser = commands.add_parser(
        name,
        help=about,
        description=description,
        epilog=epilog,
        formatter_class=HelpPage,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, command_parser=parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    return parser


def add_data(parser: argparse.ArgumentParser, what: str = "table of points") -> None:
    """Add the input table and the roles of its columns; `read_data` reads it."""
    parser.add_argument(
        "data",
        type=path_or_stdin,
        metavar="DATA",
        help=f"{what}: {' '.join(READERS)}, compressed text (.csv.gz), a folder of .parquet files or "
        "images, or - for standard input",
    )
    parser.add_argument(
        "--key",
        help="array of an .npz file, .obsm entry or layer of an .h5ad file, sheet of an .xlsx file, table or "
        "SELECT query of a database",
    )
    parser.add_argument("--id", metavar="COLUMN", help="column with row names")
    parser.add_argument("--label", metavar="COLUMN", help="column with known classes")
    parser.add_argument(
        "--standardize",
        action="store_true",
        help="take numbers in standard deviations, all with the same weight",
    )
    parser.add_argument(
        "--as-is",
        action="store_true",
        help="take numbers as they are: coordinates in one unit, embeddings",
    )
    add_column_options(parser)


def read_source(
    arguments: argparse.Namespace, *, id_name: str | None = None, **accepted: bool
) -> RawTable:
    """Table or folder of images given by the options of `add_data`.

    The column ``id_name`` has the names of rows if ``--id`` is not given and there is such a column.
    """
    if not arguments.data.is_dir() or is_parquet_folder(arguments.data):
        return read_table(
            arguments.data,
            arguments.key,
            id_column=arguments.id or (None if id_name is None else (id_name,)),
            label_column=arguments.label,
            split_column=getattr(arguments, "split", None),
            **accepted,
        )
    from vicinal.cli.image_folder import read_images

    for option in ("key", "id"):
        if getattr(arguments, option) is not None:
            raise InvalidValueError(f"--{option} has no effect on a folder of images; remove it.")
    return read_images(arguments.data, arguments.label, getattr(arguments, "split", None))


def read_data(
    arguments: argparse.Namespace, *, matrix: str | None = None, accept_sparse: bool = False
) -> RawTable:
    """Table of points, encoded unless it is a matrix; notes on how it was read go to stderr.

    `matrix` is ``"affinity"``, ``"distances"`` or ``"kernel"`` if the table is a square matrix.
    """
    if getattr(arguments, "store", None) is not None:
        return _read_in_chunks(arguments, matrix)
    # smooth has --metric None until the table is read.
    accept_condensed = matrix == "distances" or getattr(arguments, "metric", "") is None
    given = given_column_options(arguments)
    if matrix is not None and given:
        raise InvalidValueError(f"{given[0]} has no effect on a matrix of pairs; remove it.")
    table = read_source(
        arguments,
        accept_sparse=accept_sparse,
        accept_condensed=accept_condensed,
        accept_missing=matrix is None,
        accept_mixed=matrix is None,
    )
    if table.points is not None and accept_condensed and is_square(table.points):
        check_finite(table.points, arguments.data)
    square_notes = [] if table.points is None or given else _matrix_notes(arguments, matrix, table)
    if arguments.standardize and hasattr(table.points, "toarray"):
        raise InvalidValueError("--standardize would make a sparse matrix dense; remove it.")
    if matrix is None:
        table = encoded_points(table, arguments)
    print_notes(arguments.data, [*table.notes, *square_notes])
    return table


def _read_in_chunks(arguments: argparse.Namespace, matrix: str | None) -> RawTable:
    from vicinal.cli.large import read_large

    if matrix is not None:
        raise InvalidValueError(
            f"a matrix of pairs ({matrix}) needs all of it in memory; remove --store, or give points."
        )
    table = read_large(arguments)
    print_notes(arguments.data, table.notes)
    return table


def print_notes(path: Path, notes: Iterable[str]) -> None:
    """Say on stderr how a file was read."""
    for note in notes:
        print(f"{path.name}: {note}", file=sys.stderr)


def new_rows(path: Path, table: RawTable, id_column: str | None) -> tuple[np.ndarray, Any]:
    """Rows of another file as points of a table, and their names if there are any."""
    if table.place is None:
        raise InvalidValueError(
            f"rows of {path} cannot be compared with a matrix; give a table of points."
        )
    rows = read_table(path, id_column=id_column, unchanged=True, accept_missing=True)
    print_notes(path, rows.notes)
    try:
        return table.place(rows), rows.ids
    except ValueError as error:
        raise InvalidValueError(f"{path}: {error}") from error


def _matrix_notes(arguments: argparse.Namespace, matrix: str | None, table: RawTable) -> list[str]:
    """How a square table is interpreted, where it is ambiguous."""
    points = table.points
    if matrix == "affinity":
        note = "interpreted as a matrix of affinities (larger means closer)"
        if looks_like_distances(points):
            note += "; for distances, use --graph precomputed_distances or --metric precomputed"
        return [note]
    # --metric says what the table is, and smooth finds out itself.
    if matrix is not None or hasattr(arguments, "metric") or not looks_like_distances(points):
        return []
    return [f"{DISTANCES_AS_POINTS}; methods on graphs take distances with --metric precomputed"]


def row_names(table: RawTable) -> dict[str, Any]:
    """First columns of an output table: row numbers, and row names if there are any."""
    import numpy as np

    rows = {"row": np.arange(table.points.shape[0])}
    return rows if table.ids is None else rows | {"id": table.ids}


def add_targets(parser: argparse.ArgumentParser, what: str, printed: bool = False) -> None:
    """Add the output files, a table and a plot; `check_targets` checks them.

    Without a file, the command says that the result was not saved, unless it is ``printed``.
    """
    parser.add_argument("-o", "--output", type=Path, help=f"{what}: {' '.join(TABLE_FORMATS)}")
    if not printed:
        parser.set_defaults(unsaved=what)
    parser.add_argument("--plot", type=Path, help=f"plot: {' '.join(FIGURE_FORMATS)}")
    add_force(parser)


def check_targets(arguments: argparse.Namespace, *, has_coordinates: bool = True) -> None:
    """Raise, before any work, if a file of `add_targets` cannot be written."""
    if arguments.plot is not None and not has_coordinates:
        raise InvalidValueError(
            "--plot needs coordinates, but a matrix of pairs has none; remove it."
        )
    force, source = arguments.force, arguments.data
    check_table_target(arguments.output, "--output", force, source)
    check_target(arguments.plot, FIGURE_FORMATS, "--plot", force, source)
    if arguments.plot is not None:
        require_modules("plots", "matplotlib")


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add ``--force``."""
    parser.add_argument("--force", action="store_true", help="overwrite existing files")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add seed, threads and progress; `run_parameters` reads them."""
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument(
        "--jobs", type=int, default=-1, metavar="N", help="number of threads (default: all cores)"
    )
    parser.add_argument(
        "--progress",
        action="store_true",
        help="show progress bars even if stderr is not a terminal",
    )


def run_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """Options of `add_run_options` as parameters of the library."""
    return {
        "random_state": arguments.seed,
        "n_jobs": arguments.jobs,
        "verbose": verbosity(arguments),
    }


def add_top(parser: argparse.ArgumentParser) -> None:
    """Add the number of results; `check_top` reads it."""
    parser.add_argument(
        "-k", "--top", type=int, metavar="N", help="number of results per query (default: 10)"
    )


def check_top(arguments: argparse.Namespace, n: int) -> int:
    """Number of results among n rows, the query excluded."""
    if arguments.top is None:
        return min(10, n - 1)
    if not 1 <= arguments.top < n:
        raise InvalidValueError(
            f"--top {arguments.top}: must be between 1 and {n - 1} for a table of {n} rows."
        )
    return arguments.top


def verbosity(arguments: argparse.Namespace) -> int:
    """Parameter ``verbose`` of the library: progress bars on a terminal or with ``--progress``."""
    return int(arguments.progress or sys.stderr.isatty())


def number_or_word(text: str) -> int | float | str:
    """Argument type of a number or a word such as auto; the library checks the word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def check_clusters(arguments: argparse.Namespace) -> None:
    """Raise unless ``--clusters`` is an integer or auto."""
    if arguments.clusters != "auto" and not isinstance(arguments.clusters, int):
        raise InvalidValueError(f"--clusters {arguments.clusters}: must be an integer or auto.")
