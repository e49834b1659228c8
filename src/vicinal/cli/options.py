"""Options that commands share, so that one thing has one name everywhere."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vicinal.cli.columns import ROWS_OF_DISTANCES, Table, looks_like_distances
from vicinal.cli.output import (
    FIGURE_FORMATS,
    MODULES,
    TABLE_FORMATS,
    check_target,
    need_modules,
)
from vicinal.cli.stdin import path_or_stdin
from vicinal.cli.tables import READERS, read_table
from vicinal.exceptions import InvalidValueError

Run = Callable[[argparse.Namespace], dict[str, Any]]


class HelpPage(argparse.RawDescriptionHelpFormatter):
    """Help with room for names, and a usage line that has what must be given only."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        # Options last, as --query takes as many words as follow it.
        needed = sorted((a for a in actions if a.required), key=lambda a: len(a.option_strings))
        words = [" ".join([*a.option_strings[-1:], self._value(a)]) for a in needed]
        super().add_usage(" ".join(["%(prog)s", *words, "[options]"]), [], [], prefix)

    def _value(self, action: argparse.Action) -> str:
        name = str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest)
        if action.nargs == argparse.ZERO_OR_MORE:
            return f"[{name} ...]"
        return f"{name} ..." if action.nargs in (argparse.ONE_OR_MORE, argparse.PARSER) else name


def new_command(
    commands: Any, name: str, run: Run, about: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    """A subcommand with the options that every one has."""
    parser = commands.add_parser(
        name,
        help=about,
        description=description,
        epilog=epilog,
        formatter_class=HelpPage,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    parser.add_argument("--json", action="store_true", help="print the result for machines")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def add_data(parser: argparse.ArgumentParser, what: str = "table of points") -> None:
    """The table to work on, and what its columns mean; `read_data` reads it."""
    parser.add_argument(
        "data",
        type=path_or_stdin,
        metavar="DATA",
        help=f"{what}: {' '.join(READERS)}, a folder of images, or - for standard input",
    )
    parser.add_argument("--key", help="array of an .npz, or .obsm entry of an .h5ad file")
    parser.add_argument("--id", metavar="COLUMN", help="column of names of the rows")
    parser.add_argument("--label", metavar="COLUMN", help="column of known classes of the rows")
    parser.add_argument(
        "--standardize", action="store_true", help="give every column mean 0 and deviation 1"
    )


def read_source(arguments: argparse.Namespace, **accepted: bool) -> Table:
    """The table that the options of `add_data` name, or the images of a folder."""
    if not arguments.data.is_dir():
        return read_table(
            arguments.data,
            arguments.key,
            id_column=arguments.id,
            label_column=arguments.label,
            **accepted,
        )
    from vicinal.cli.image_folder import read_images

    for option in ("key", "id"):
        if getattr(arguments, option) is not None:
            raise InvalidValueError(
                f"--{option} means nothing to a folder of images; leave it out."
            )
    return read_images(arguments.data, arguments.label)


def read_data(arguments: argparse.Namespace, *, accept_sparse: bool = False) -> Table:
    """The table without gaps; what was decided about it goes to stderr."""
    pairs = getattr(arguments, "metric", "") in ("precomputed", None)
    table = read_source(arguments, accept_sparse=accept_sparse, accept_pairs=pairs)
    for note in [*table.notes, *_matrix_notes(arguments, table.points)]:
        print(f"{arguments.data.name}: {note}", file=sys.stderr)
    if arguments.standardize and hasattr(table.points, "toarray"):
        raise InvalidValueError("--standardize would fill a sparse matrix; leave it out.")
    if arguments.standardize:
        from sklearn.preprocessing import StandardScaler

        table = table._replace(points=StandardScaler().fit_transform(table.points))
    return table


def _matrix_notes(arguments: argparse.Namespace, points: Any) -> list[str]:
    """What a square table is taken for, where it could be something else."""
    if getattr(arguments, "graph", None) == "precomputed":
        note = "the matrix is taken for affinities: the larger, the nearer"
        if looks_like_distances(points):
            note += "; should it hold distances, give --metric precomputed and another --graph"
        return [note]
    # With --metric it is plain what the table is, and smooth finds out by itself.
    if hasattr(arguments, "metric") or getattr(arguments, "kernel", None) == "precomputed":
        return []
    if not looks_like_distances(points):
        return []
    return [f"{ROWS_OF_DISTANCES}; methods on a graph take distances by --metric precomputed"]


def row_names(table: Table) -> dict[str, Any]:
    """First columns of a table about rows: their numbers, and their names if they have any."""
    import numpy as np

    rows = {"row": np.arange(table.points.shape[0])}
    return rows if table.ids is None else rows | {"id": table.ids}


def add_targets(parser: argparse.ArgumentParser, what: str) -> None:
    """Files to write, a table and a picture, and whether they may replace others."""
    parser.add_argument("-o", "--output", type=Path, help=f"{what}: {' '.join(TABLE_FORMATS)}")
    parser.add_argument("--plot", type=Path, help=f"picture: {' '.join(FIGURE_FORMATS)}")
    add_force(parser)


def check_targets(arguments: argparse.Namespace, *, has_coordinates: bool = True) -> None:
    """Refuse, before any work, files of `add_targets` that could not be written."""
    if arguments.plot is not None and not has_coordinates:
        raise InvalidValueError(
            "--plot needs coordinates, but a matrix of pairs has none; leave it out."
        )
    force, source = arguments.force, arguments.data
    check_target(arguments.output, TABLE_FORMATS, "--output", force, source)
    check_target(arguments.plot, FIGURE_FORMATS, "--plot", force, source)
    if arguments.output is not None:
        need_modules(f"{arguments.output.suffix} files", *MODULES[arguments.output.suffix.lower()])
    if arguments.plot is not None:
        need_modules("pictures", "matplotlib")


def add_force(parser: argparse.ArgumentParser) -> None:
    """``--force``: existing files may be written over."""
    parser.add_argument("--force", action="store_true", help="write over files that exist")


def add_manner(parser: argparse.ArgumentParser, *, seed: bool = True) -> None:
    """How the work is done; the result depends on the seed only."""
    if seed:
        parser.add_argument("--seed", type=int, default=0, help="of all chance; default: 0")
    parser.add_argument("--jobs", type=int, metavar="N", help="threads; all cores by default")
    add_progress(parser)


def add_top(parser: argparse.ArgumentParser) -> None:
    """How many rows an answer has; `check_top` reads it."""
    parser.add_argument("-k", "--top", type=int, metavar="N", help="rows to find; default: 10")


def check_top(arguments: argparse.Namespace, n: int) -> int:
    """Number of rows to find among n, one of which asks."""
    if arguments.top is None:
        return min(10, n - 1)
    if not 1 <= arguments.top < n:
        raise InvalidValueError(
            f"--top {arguments.top}: of {n} rows, 1 to {n - 1} can be found beside the one that asks."
        )
    return arguments.top


def add_progress(parser: argparse.ArgumentParser) -> None:
    """``--progress``; `verbosity` reads it."""
    parser.add_argument(
        "--progress", action="store_true", help="show bars even where stderr is no terminal"
    )


def verbosity(arguments: argparse.Namespace) -> int:
    """``verbose`` of estimators: bars on a terminal, or on request."""
    return int(arguments.progress or sys.stderr.isatty())


def number_or_word(text: str) -> int | float | str:
    """Type of options that are a number or a word such as auto; the library knows which words."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def check_clusters(arguments: argparse.Namespace) -> None:
    """Refuse a word for ``--clusters`` that is not auto."""
    if arguments.clusters != "auto" and not isinstance(arguments.clusters, int):
        raise InvalidValueError(
            f"--clusters {arguments.clusters}: a whole number or the word auto is needed."
        )


def flag(name: str) -> str:
    """The option that sets an attribute of the parsed arguments."""
    return f"--{name.replace('_', '-')}"
