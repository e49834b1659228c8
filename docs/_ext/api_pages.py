"""One page of the API reference per public package, generated from its ``__all__``.

Public names are loaded lazily, so Sphinx would not find them in a module. Generated from ``__all__``, the
reference neither misses a name nor lists a removed one.
"""

from __future__ import annotations

import importlib
import inspect
from itertools import chain
from pathlib import Path
from typing import Any

# In the order of the layers; supporting packages come last.
PACKAGES = (
    "neighbors",
    "graphs",
    "operators",
    "similarity",
    "rank",
    "codes",
    "cluster",
    "embed",
    "outliers",
    "duplicates",
    "semi_supervised",
    "segmentation",
    "report",
    "tables",
    "tl",
    "scale",
    "metrics",
    "plot",
    "datasets",
    "exceptions",
)
# Types of results, which users do not import.
RETURNED = {
    "duplicates": ["result.NearDuplicates"],
    "codes": ["_sparse_codes.CodeQuality"],
    "similarity": [
        "smoothing._lazy_similarity.SmoothedSimilarity",
        "paths.matrix.PathSimilarity",
        "paths._auto_sigma.SigmaCurve",
    ],
    "operators": ["eigenpairs.Eigenpairs"],
    "report": [
        "_steps.neighborhoods.Neighborhoods",
        "_steps.n_clusters.ClusterCount",
        "_steps.clusters.Clusters",
        "_steps.maps.Maps",
        "_steps.exemplars.Exemplars",
        "_steps.label_scores.LabelScores",
    ],
}
FOLDER = "generated/api"


def write_pages(app: Any, config: Any) -> None:
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    top = importlib.import_module("vicinal")
    missing = {name for name in top.__all__ if _is_package(top, name)} - set(PACKAGES)
    if missing:
        raise RuntimeError(f"public packages without a page in the reference: {sorted(missing)}")
    pages = {"vicinal": [f"vicinal.{name}" for name in top.__all__ if not _is_package(top, name)]}
    for name in PACKAGES:
        # Names at the top level have their page there.
        names = importlib.import_module(f"vicinal.{name}").__all__
        pages[name] = [f"vicinal.{n}" if n in top.__all__ else f"vicinal.{name}.{n}" for n in names]
    returned = {name: [f"vicinal.{name}.{n}" for n in RETURNED.get(name, [])] for name in pages}
    # Listed explicitly, because pages created since the last build would be ignored.
    config.autosummary_generate = [f"{FOLDER}/{name}.rst" for name in pages]
    _remove_others(folder, {*pages, *chain(*pages.values(), *returned.values())})
    for name, names in pages.items():
        title = "vicinal" if name == "vicinal" else f"vicinal.{name}"
        text = importlib.import_module(title).__doc__
        _write(folder / f"{name}.rst", title, text, names, returned[name])


def _remove_others(folder: Path, names: set[str]) -> None:
    """Remove pages of names that no longer exist."""
    for page in folder.glob("*.rst"):
        if page.stem not in names:
            page.unlink()


def _is_package(top: Any, name: str) -> bool:
    return inspect.ismodule(getattr(top, name))


def _write(path: Path, title: str, text: str, names: list[str], returned: list[str]) -> None:
    content = f"{title}\n{'=' * len(title)}\n\n{text.strip()}\n{_table(names)}"
    if returned:
        content += f"\nResult types\n------------\n{_table(returned)}"
    # Unchanged pages are not rebuilt.
    if not path.exists() or path.read_text(encoding="utf-8") != content:
        path.write_text(content, encoding="utf-8")


def _table(names: list[str]) -> str:
    return "\n".join(["", ".. autosummary::", "   :toctree:", "", *(f"   ~{n}" for n in names), ""])


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
