"""Experiments of studies, and how their tables and figures are written."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tqdm.auto import tqdm

Rows = list[dict[str, Any]]


class Experiment(NamedTuple):
    """Measurement, summary and figure of one experiment, and the claim of the paper."""

    name: str
    # From a setting and ``verbose`` to rows, or to an object that has them as ``rows``.
    measure: Callable[[Any, int], Any]
    summary: Callable[[Any], list[list[str]]]
    draw: Callable[[Any, Path], None]
    claim: str = ""


def progress_bar(total: int, title: str, verbose: int) -> Any:
    """Progress bar as a context manager with a method ``update``; it shows only if ``verbose`` is not 0."""
    return tqdm(total=total, desc=title, leave=False, disable=not verbose)


def markdown(table: list[list[str]]) -> str:
    """Table in Markdown."""
    head, *body = table
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def write_rows(rows: Rows, path: Path) -> None:
    """Write all measurements to a .csv file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def save_figure(fill: Callable[[Any], None], size: tuple[float, float], path: Path) -> None:
    """Write the figure that ``fill`` draws, of a size in inches."""
    # Not pyplot, which may need a display.
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    fill(figure)
    figure.savefig(path, dpi=100)
