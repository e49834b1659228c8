"""``vicinal compare``: what has changed between two results."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal._core.suggestions import listing, suggestion
from vicinal._core.tables import missing_cells
from vicinal.cli.options import add_force, new_command
from vicinal.cli.output import TABLE_FORMATS, check_table_target, write_table
from vicinal.cli.tables import read_table
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal.report._cluster_changes import ClusterChanges, LabelledRows

EXAMPLES = """\
examples:
  vicinal compare january.vicinal february.vicinal
  vicinal compare labels.csv labelled.csv -o moved.csv
  vicinal compare labels.csv other.csv --id name --cluster group --json
"""
# Rows that are listed in the terminal; files and JSON have all of them.
MAX_LISTED = 10
# Columns of row names and of clusters in the outputs of the commands, the preferred ones first.
ID_COLUMNS, CLUSTER_COLUMNS = ("id", "row"), ("cluster", "label")
# Name of the cluster of rows without one, as `vicinal label` leaves them where no label reaches.
MISSING = "missing"


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "compare",
        run,
        "compare the clusters of two results",
        "Compare the clusters of two results on the rows that both have, matched by row name: which rows\n"
        "moved, which clusters were split or merged, and the adjusted Rand index (1: the same clusters,\n"
        "0: no more alike than by chance). Numbers of clusters need not agree: each cluster of the second\n"
        "result continues the cluster of the first with which it shares the most rows.",
        EXAMPLES,
    )
    parser.add_argument(
        "before",
        type=Path,
        metavar="BEFORE",
        help="first result: a file of perceive --save, the output of perceive --json as a .json file, "
        "or a table of labels, such as those of perceive --labels, assign, cluster and label",
    )
    parser.add_argument(
        "after", type=Path, metavar="AFTER", help="second result, in any of these formats"
    )
    parser.add_argument(
        "--id", metavar="COLUMN", help="column with row names (default: id, otherwise row)"
    )
    parser.add_argument(
        "--cluster",
        metavar="COLUMN",
        help="column with clusters (default: cluster, otherwise label)",
    )
    parser.add_argument("-o", "--output", type=Path, help=f"moved rows: {' '.join(TABLE_FORMATS)}")
    add_force(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read both results and compare them."""
    from vicinal.report._cluster_changes import compare_clusters

    for source in (arguments.before, arguments.after):
        check_table_target(arguments.output, "--output", arguments.force, source)
    changes = compare_clusters(
        _read(arguments.before, arguments), _read(arguments.after, arguments)
    )
    written = {}
    if arguments.output is not None:
        columns = {
            name: np.array([record[name] for record in changes.moved], dtype=object)
            for name in ("id", "before", "after")
        }
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_table(columns, unfinished)
        written["moved rows"] = arguments.output
    if arguments.json:
        return {**changes._asdict(), "written": written}
    print("\n".join(describe(changes)) + "\n")
    return {
        "contingency": changes.contingency,
        "moved": changes.moved[:MAX_LISTED],
        "written": written,
    }


def describe(changes: ClusterChanges) -> list[str]:
    """The changes as sentences."""
    n, n_moved = changes.n_rows, len(changes.moved)
    lines = [
        f"{n:,} rows are in both results; {changes.n_only_before:,} only in the first, "
        f"{changes.n_only_after:,} only in the second.",
        f"{n_moved:,} rows ({n_moved / n:.1%}) moved to another cluster; adjusted Rand index "
        f"{changes.adjusted_rand:.3f}.",
    ]
    lines += [
        f"Cluster {record['cluster']} was split into {_listed(record['parts'])}."
        for record in changes.split
    ]
    lines += [
        f"{_listed(record['parts']).capitalize()} were merged into cluster {record['cluster']}."
        for record in changes.merged
    ]
    if not changes.split and not changes.merged:
        lines.append("No cluster was split or merged.")
    if n_moved > MAX_LISTED:
        lines.append(f"The first {MAX_LISTED} moved rows are listed; -o writes all of them.")
    return lines


def _listed(names: list[str]) -> str:
    return f"clusters {', '.join(names[:-1])} and {names[-1]}"


def _read(path: Path, arguments: argparse.Namespace) -> LabelledRows:
    from vicinal.report import PerceptionModel
    from vicinal.report._cluster_changes import LabelledRows

    if path.suffix.lower() == ".vicinal":
        model = PerceptionModel.load(path)
        return LabelledRows(model.ids, [str(label) for label in model.labels.tolist()])
    if path.suffix.lower() == ".json":
        return LabelledRows(*_labels_of_json(path))
    cluster = arguments.cluster or CLUSTER_COLUMNS
    try:
        table = read_table(
            path,
            id_column=arguments.id or ID_COLUMNS,
            label_column=cluster,
            unchanged=True,
            accept_missing=True,
        )
    except InvalidValueError as error:
        raise InvalidValueError(str(error).replace("--label", "--cluster")) from error
    if table.columns is None:
        raise InvalidValueError(
            f"{path} has no named columns; give a table with row names and clusters, or a .vicinal file."
        )
    columns = []
    for option, names, values in (
        ("--id", arguments.id or ID_COLUMNS[0], table.ids),
        ("--cluster", arguments.cluster or CLUSTER_COLUMNS[0], table.labels),
    ):
        if values is None:
            known = list(map(str, table.columns.columns))
            raise InvalidValueError(
                f"{option} {names}: {path} has no such column{suggestion(names, known)}; it has "
                f"{listing(known)}."
            )
        missing = missing_cells(values)
        if option == "--id" and missing.any():
            raise InvalidValueError(
                f"--id {names}: row {int(missing.argmax())} of {path} has no name; fill it in, or choose "
                "another column."
            )
        columns.append(
            [
                MISSING if is_missing else _name(value)
                for value, is_missing in zip(values.tolist(), missing, strict=True)
            ]
        )
    return LabelledRows(*columns)


def _labels_of_json(path: Path) -> tuple[list[str], list[str]]:
    """Row names and clusters in what perceive --json printed."""
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(f"{path} is not JSON: {error}.") from error
    result: dict[str, Any] = loaded if isinstance(loaded, dict) else {}
    ids, labels = result.get("ids"), result.get("labels")
    if (
        not isinstance(ids, list)
        or not isinstance(labels, list)
        or len(ids) != len(labels)
        or not all(type(label) is int for label in labels)
    ):
        raise InvalidValueError(
            f"{path} has no row names and clusters; print it with vicinal perceive --json."
        )
    return [_name(name) for name in ids], [str(label) for label in labels]


def _name(value: Any) -> str:
    """A cell as text; whole numbers that were read as floats have no decimal point."""
    whole = isinstance(value, float) and value.is_integer()
    text = str(int(value)) if whole else str(value)
    return "-1" if text == "noise" else text
