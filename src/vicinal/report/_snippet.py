"""How to get the same again: versions, parameters, and a few lines of Python."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

from vicinal.report._column_scaling import is_extreme

if TYPE_CHECKING:
    from vicinal.report.result import Perception

GIVEN = "X = ...  # the numeric columns of the table that was given"


def versions() -> dict[str, str]:
    """Versions of what the results depend on."""
    packages = ("vicinal", "numpy", "scipy", "scikit-learn", "numba")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def snippet(found: Perception) -> str:
    """Python that gets the clusters of a report with nothing but the estimator."""
    data = found.data
    imports = {"from vicinal import PerceptualClustering"}
    body: list[str] = []
    for line in found.origin.reading or [GIVEN]:
        (imports.add if line.startswith(("import ", "from ")) else body.append)(line)
    if data.n_missing:
        imports |= {"import numpy as np", "from sklearn.impute import SimpleImputer"}
        body.append("X = np.where(np.isfinite(X), X, np.nan)")
        body.append('X = SimpleImputer(strategy="median").fit_transform(X)')
    if any(not column["used"] for column in data.columns):
        body.append("X = X[:, X.max(axis=0) > X.min(axis=0)]")
    if is_extreme(data.values):
        body.append(f"X = X / abs(X).max({'axis=0' if data.scaling == 'standard' else ''})")
    if data.scaling == "standard":
        imports.add("from sklearn.preprocessing import StandardScaler")
        body.append("X = StandardScaler().fit_transform(X)")
    body += [
        "model = PerceptualClustering(",
        f"    n_clusters={found.clusters.sought}, n_neighbors={found.neighborhoods.context}, "
        f"random_state={found.parameters['random_state']}",
        ")",
        "labels = model.fit_predict(X)  # -1 is noise",
        "noise_score = model.noise_score_",
    ]
    # Plain imports first, as is the custom.
    ordered = sorted(imports, key=lambda line: (line.startswith("from"), line))
    return "\n".join([*ordered, "", *body]) + "\n"
