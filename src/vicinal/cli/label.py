"""``vicinal label``: fill the missing labels of a table, and suggest which rows to label next."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal._core.tables import missing_cells
from vicinal.cli.methods import (
    Method,
    add_methods,
    build_estimator,
    matrix_meaning,
    methods_listing,
)
from vicinal.cli.options import (
    add_data,
    add_run_options,
    add_targets,
    check_targets,
    new_command,
    read_data,
    row_names,
)
from vicinal.cli.output import write_table
from vicinal.cli.plots import draw_points, project_to_plane
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.tables import RawTable

ABOUT = {
    "harmonic": "mean of the neighbours, scaled to class proportions (Zhu, Ghahramani and Lafferty)",
    "laplace": "deviations of harmonic functions from their mean",
    "poisson": "labels as sources and sinks of a flow (Calder et al.)",
    "poisson_mbo": "Poisson learning with class proportions of the labels (Calder et al.)",
    "prior": "a graph prior that is smooth along edges (Carreira-Perpinan and Zemel)",
}
METHODS = {
    name: Method("GraphClassifier", about, {"scale": "scale"}, {"method": name}, on_graph=True)
    for name, about in ABOUT.items()
}
# Larger floats do not represent every integer.
MAX_WHOLE = 2.0**53

EXAMPLES = """\
examples:
  vicinal label flowers.csv --label species -o species.csv
  vicinal label flowers.csv --label species --standardize --queries 20 --json
  vicinal label flowers.csv --label species --method poisson --graph dmst --n-trees 4
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "label",
        run,
        "fill missing labels, and suggest which rows to label next",
        "Fill the missing labels of a table from the few that are known, with a confidence, and list the "
        "rows to label next and the labels that the others contradict. Cells that are empty or -1 "
        "are missing.",
        f"{methods_listing(METHODS)}\n\n{EXAMPLES}",
    )
    add_data(parser)
    parser.add_argument(
        "--queries",
        type=int,
        default=10,
        metavar="N",
        help="number of rows to suggest for labelling (default: 10)",
    )
    add_methods(parser, METHODS)
    add_targets(parser, "labels of all rows")
    add_run_options(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the table, fill its labels and write the results."""
    if arguments.label is None:
        raise InvalidValueError("label needs --label COLUMN: the column with the known classes.")
    if arguments.queries < 0:
        raise InvalidValueError(f"--queries {arguments.queries}: must be 0 or more.")
    model = build_estimator(arguments, METHODS)
    matrix = matrix_meaning(arguments, METHODS)
    check_targets(arguments, has_coordinates=matrix is None)
    table = read_data(arguments, matrix=matrix, accept_sparse=matrix is not None)
    names, codes = class_codes(table.labels, arguments.label)

    start = time.perf_counter()
    model.fit(table.points, codes)
    n_queries = min(arguments.queries, int((codes < 0).sum()))
    queries = model.suggest_queries(n_queries) if n_queries else np.zeros(0, dtype=np.int64)
    doubtful = model.doubtful_labels()
    seconds = time.perf_counter() - start

    columns = filled_columns(model, names, codes)
    filled = (codes < 0) & model.reached_
    facts: dict[str, Any] = {
        "method": arguments.method,
        "rows": len(codes),
        "columns": table.points.shape[1],
        "classes": len(names),
        "labelled_rows": int((codes >= 0).sum()),
        "filled_rows": int(filled.sum()),
        "unknown_rows": int((~model.reached_).sum()),
        "mean_confidence": float(columns["confidence"][filled].mean()) if filled.any() else None,
        "label_next": records(table, columns, queries, ("label", "confidence")),
        "doubtful_labels": [
            line | {"suggested": str(names[code]), "probability": float(probability)}
            for line, code, probability in zip(
                records(table, columns, doubtful.indices, ("label",)),
                doubtful.suggested,
                doubtful.probability,
                strict=True,
            )
        ],
        "seconds": seconds,
    }
    written = {}
    if arguments.output is not None:
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_table(row_names(table) | columns, unfinished)
        written["labels"] = arguments.output
    if arguments.plot is not None:
        with atomic_write(arguments.plot, replace=arguments.force) as unfinished:
            shown = np.where(model.reached_, model.transduction_, -1)
            facts["plot_shows"] = draw_points(project_to_plane(table.points), unfinished, shown)
        written["plot"] = arguments.plot
    return facts | {"written": written}


def class_codes(labels: Any, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Sorted class names, and the code of the class of each row, -1 where it is missing."""
    missing = missing_cells(labels)
    known = labels[~missing]
    # A column of integers with missing cells was read as floats.
    if known.dtype.kind == "f" and ((known == np.floor(known)) & (np.abs(known) < MAX_WHOLE)).all():
        known = known.astype(np.int64)
    texts = np.full(len(labels), "-1", dtype=object)
    texts[~missing] = [str(label).strip() for label in known.tolist()]
    missing = np.array([text in ("-1", "-1.0", "") for text in texts])
    if missing.all():
        raise InvalidValueError(
            f"--label {column}: no row has a class; label at least one row of each class."
        )
    names, known_codes = np.unique(texts[~missing].astype(str), return_inverse=True)
    codes = np.full(len(labels), -1)
    codes[~missing] = known_codes
    return names, codes


def filled_columns(model: Any, names: np.ndarray, codes: np.ndarray) -> dict[str, np.ndarray]:
    """Label, confidence and origin of each row; given labels are kept."""
    best = np.where(codes >= 0, codes, model.label_distributions_.argmax(axis=1))
    labels = names[best].astype(object)
    labels[~model.reached_] = None
    confidence = model.label_distributions_[np.arange(len(codes)), best]
    return {
        "label": labels,
        "confidence": np.where(model.reached_, confidence, 0.0),
        "given": codes >= 0,
    }


def records(
    table: RawTable, columns: dict[str, np.ndarray], rows: np.ndarray, names: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Some columns of some rows, with row numbers and names."""
    chosen = row_names(table) | {name: columns[name] for name in names}
    return [{name: column[row] for name, column in chosen.items()} for row in rows.tolist()]
