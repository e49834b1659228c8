"""``vicinal cluster``: clusters of the rows of a table."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal._core.tables import missing_cells
from vicinal.cli.columns import count_unlabelled
from vicinal.cli.large import add_store, in_memory, out_of_core
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
    check_clusters,
    check_targets,
    new_command,
    number_or_word,
    read_data,
    row_names,
)
from vicinal.cli.output import write_table
from vicinal.cli.plots import draw_points, project_to_plane
from vicinal.exceptions import InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.tables import RawTable

METHODS = {
    "perceptual": Method(
        "PerceptualClustering",
        "contextual distances; separates noise from clusters",
        {"neighbors": "n_neighbors", "noise": "noise"},
    ),
    "spectral": Method(
        "SpectralClustering",
        "sets of rows that a random walk on a graph rarely leaves (Ng, Jordan and Weiss)",
        {"scale": "scale"},
        on_graph=True,
    ),
    "ncut": Method(
        "SpectralClustering",
        "spectral clustering by normalised cuts (Shi and Malik)",
        {"scale": "scale"},
        {"method": "ncut"},
        on_graph=True,
    ),
    "sparse-subspace": Method(
        "SparseSubspaceClustering",
        "sparse representation of each row by others; for linear subspaces",
        {"penalty": "penalty"},
    ),
    "kernel-kmeans": Method(
        "KernelKMeans",
        "k-means in the feature space of a kernel; needs a number of --clusters",
        {"kernel": "kernel", "gamma": "gamma", "psd": "psd"},
    ),
}

EXAMPLES = """\
examples:
  vicinal cluster points.csv --clusters auto -o labels.csv --plot clusters.png
  vicinal cluster points.csv --clusters 3 --noise 0.2 -o labels.parquet
  vicinal cluster flowers.csv --standardize --label species --graph dmst --n-trees 3 --json
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "cluster",
        run,
        "find clusters and noise among the rows of a table",
        "Find clusters of the rows of a table. With --label, also compare them with known classes.",
        f"{methods_listing(METHODS)}\n\n{EXAMPLES}",
    )
    add_data(parser)
    parser.add_argument(
        "--clusters",
        type=number_or_word,
        default="auto",
        metavar="N",
        help="number of clusters (default: auto)",
    )
    add_methods(parser, METHODS)
    group = parser.add_argument_group("options of some methods", argument_default=argparse.SUPPRESS)
    group.add_argument(
        "--noise",
        type=number_or_word,
        help="noise: auto, a fraction of the rows or a number of rows",
    )
    group.add_argument("--kernel", help="rbf, linear, or precomputed for a kernel matrix")
    group.add_argument(
        "--gamma", type=number_or_word, help="width of the rbf kernel: scale or a number"
    )
    group.add_argument(
        "--psd",
        help="matrix that is not positive semidefinite: 'check' raises an error, 'project' uses the "
        "nearest one that is",
    )
    add_targets(parser, "clusters of the rows")
    add_run_options(parser)
    add_store(parser)


@out_of_core
def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the table, cluster it and write the results."""
    check_clusters(arguments)
    model = build_estimator(arguments, METHODS, n_clusters=arguments.clusters)
    if arguments.method == "kernel-kmeans" and arguments.clusters == "auto":
        raise InvalidValueError("--method kernel-kmeans needs a number of --clusters.")
    matrix = matrix_meaning(arguments, METHODS)
    check_targets(arguments, has_coordinates=matrix is None)
    table = read_data(arguments, matrix=matrix, accept_sparse=matrix is not None)

    start = time.perf_counter()
    labels = in_memory(model.fit(table.points).labels_)
    seconds = time.perf_counter() - start

    facts = {
        "method": arguments.method,
        "rows": len(labels),
        "columns": table.points.shape[1],
        **describe_clusters(model, labels),
        **agreement(labels, table),
        "seconds": seconds,
    }
    written = {}
    if arguments.output is not None:
        columns = row_names(table) | {"cluster": labels}
        if hasattr(model, "noise_score_"):
            columns["noise_score"] = in_memory(model.noise_score_)
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            write_table(columns, unfinished)
        written["clusters"] = arguments.output
    if arguments.plot is not None:
        with atomic_write(arguments.plot, replace=arguments.force) as unfinished:
            facts["plot_shows"] = draw_points(project_to_plane(table.points), unfinished, labels)
        written["plot"] = arguments.plot
    return facts | {"written": written}


def describe_clusters(model: Any, labels: np.ndarray) -> dict[str, Any]:
    """Number and sizes of clusters, and the eigengaps that decided the number; -1 is noise."""
    names, counts = np.unique(labels, return_counts=True)
    facts: dict[str, Any] = {"clusters": int((names >= 0).sum()), "noise": int((labels < 0).sum())}
    if isinstance(model.n_clusters, str):
        facts["eigengaps"] = model.eigengaps_
    facts["sizes"] = [
        {
            "cluster": int(name),
            "rows": int(count),
            "fraction": count / len(labels),
        }
        for name, count in zip(names, counts, strict=True)
    ]
    return facts


def agreement(labels: np.ndarray, table: RawTable) -> dict[str, Any]:
    """Agreement of the clusters with the known classes, if there are any."""
    if table.labels is None:
        return {}
    from vicinal.metrics import clustering_accuracy, normalized_mutual_info

    unlabelled, missing = count_unlabelled(table.labels), missing_cells(table.labels)
    if missing.all():
        return unlabelled
    classes = np.unique(table.labels[~missing].astype(str), return_inverse=True)[1]
    labels = labels[~missing]
    return unlabelled | {
        "accuracy": float(clustering_accuracy(classes, labels)),
        "normalized_mutual_info": float(normalized_mutual_info(classes, labels)),
    }
