"""Python code that reproduces the clusters of a report, and the versions involved."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

from vicinal.report._steps.clusters import COMMUNITIES, SPECTRAL

if TYPE_CHECKING:
    from vicinal.report.result import Perception
    from vicinal.tables import TableEncoder

PLACEHOLDER = "X = ...  # your table, without columns of labels and row names"


def versions() -> dict[str, str]:
    """Versions that the results depend on."""
    packages = ("vicinal", "numpy", "scipy", "scikit-learn", "numba")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def snippet(result: Perception) -> str:
    """Code that reproduces the clusters with the estimators alone."""
    data = result.data
    imports = {"from vicinal import PerceptualClustering"}
    body: list[str] = []
    for line in result.origin.reading or [PLACEHOLDER]:
        (imports.add if line.startswith(("import ", "from ")) else body.append)(line)
    imports.add("from vicinal import TableEncoder")
    body.append(f"X = TableEncoder({_given_parameters(data.encoder)}).fit_transform(X)")
    return _with_model(result, imports, body)


def _given_parameters(encoder: TableEncoder) -> str:
    """Parameters that change the points, as code."""
    given = {"kinds": encoder.kinds, "weights": encoder.weights}
    words = [f"{name}={dict(value)!r}" for name, value in given.items() if value]
    words += [f"scaling={encoder.scaling!r}"] if encoder.scaling != "auto" else []
    return ", ".join(words)


def _with_model(result: Perception, imports: set[str], body: list[str]) -> str:
    noise = "noise=0, " if result.data.categories else ""
    body += [
        "model = PerceptualClustering(",
        f"    n_clusters={result.clusters.n_requested}, n_neighbors={result.neighborhoods.context}, "
        f"{noise}random_state={result.parameters['random_state']}",
        ")",
        "labels = model.fit_predict(X)  # -1 is noise",
        "noise_score = model.noise_score_",
    ]
    if result.clusters.method == SPECTRAL:
        imports |= {"import numpy as np", "from vicinal import SpectralClustering"}
        body += [
            "trees = SpectralClustering(",
            f"    n_clusters={result.clusters.n_requested}, graph='disjoint_mst', "
            f"random_state={result.parameters['random_state']}",
            ")",
            "known = labels >= 0",
            "labels[known] = np.unique(trees.fit_predict(X)[known], return_inverse=True)[1]",
        ]
    if result.clusters.method == COMMUNITIES:
        imports |= {"import numpy as np", "from vicinal.cluster import estimate_clusters"}
        body += [
            "known = labels >= 0",
            "communities = estimate_clusters(X).labels",
            "labels[known] = np.unique(communities[known], return_inverse=True)[1]",
        ]
    # Plain imports first.
    ordered = sorted(imports, key=lambda line: (line.startswith("from"), line))
    return "\n".join([*ordered, "", *body]) + "\n"
