"""What the command leaves behind: whole files or none, and small tables on the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from vicinal._validation import require_memory
from vicinal.graphs.graph import Graph
from vicinal.plot.network import listed_entries

EDGE_FORMATS = (".csv", ".tsv", ".parquet", ".npz")
FIGURE_FORMATS = (".png", ".pdf", ".svg", ".jpg")


def check_target(path: Path, formats: Sequence[str], option: str) -> None:
    """Refuse a file that could not be written, before the work whose result it is to hold."""
    if path.suffix.lower() not in formats:
        raise ValueError(
            f"{option} {path} ends in {path.suffix or 'nothing'}, but one of "
            f"{', '.join(formats)} is needed."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{option} {path}: there is no folder {path.parent}; make it.")
    if path.is_dir():
        raise IsADirectoryError(f"{option} {path} is a folder; name a file.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"{option} {path}: the folder {path.parent} cannot be written to.")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary neighbour of ``path`` that takes its place only when the block ends well."""
    # Not from tempfile: its files are private to the user, and would stay so under the final name.
    unfinished = path.with_name(f".{path.stem}-{os.getpid()}{path.suffix}")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_edges(graph: Graph, path: Path) -> None:
    """Table of source, target, length and strength; an undirected edge stands once."""
    require_memory(
        50.0 * len(graph.indices),
        f"Writing {graph.n_edges:,} edges",
        "Choose a sparser kind of graph.",
    )
    listed = listed_entries(graph)
    source, target = graph.edges().T
    columns = {
        "source": source,
        "target": target,
        "length": graph.lengths[listed],
        "strength": graph.strengths[listed],
    }
    suffix = path.suffix.lower()
    with whole_file(path) as unfinished:
        if suffix == ".npz":
            np.savez_compressed(unfinished, **columns)
            return
        try:
            import pandas
        except ImportError as error:
            raise ImportError(f"{suffix} files need pandas: pip install 'vicinal[cli]'.") from error
        frame = pandas.DataFrame(columns)
        if suffix == ".parquet":
            frame.to_parquet(unfinished, index=False)
        else:
            frame.to_csv(unfinished, sep="\t" if suffix == ".tsv" else ",", index=False)


def format_rows(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells in aligned columns: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        for row in rows
    )
