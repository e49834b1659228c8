"""One page of the API reference for each public package, made from its ``__all__``.

Public names are attached lazily, so that Sphinx would not find them by looking through a module. Made
from ``__all__``, the reference can neither miss a name nor list one that is gone.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# In the order of the road; what lies beside it comes last.
PACKAGES = (
    "neighbors",
    "graphs",
    "similarity",
    "operators",
    "cluster",
    "embed",
    "rank",
    "semi",
    "segmentation",
    "metrics",
    "plot",
    "datasets",
)
# What functions and estimators return, which nobody imports but everybody uses.
RETURNED = {
    "graphs": ["sparse_codes.CodeQuality"],
    "similarity": [
        "smoothed.SmoothedSimilarity",
        "path_matrix.PathSimilarity",
        "path_scale.SigmaCurve",
    ],
    "operators": ["spectrum.Eigenpairs"],
}
FOLDER = "generated/api"


def write_pages(app: Any, config: Any) -> None:
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    top = importlib.import_module("vicinal")
    missing = {name for name in top.__all__ if _is_package(top, name)} - set(PACKAGES)
    if missing:
        raise RuntimeError(f"public packages without a page of the reference: {sorted(missing)}")
    for name in PACKAGES:
        package = importlib.import_module(f"vicinal.{name}")
        # A name at top level is the one to use, and has its page there.
        names = [
            f"vicinal.{n}" if n in top.__all__ else f"vicinal.{name}.{n}" for n in package.__all__
        ]
        returned = [f"vicinal.{name}.{n}" for n in RETURNED.get(name, [])]
        _write(folder / f"{name}.rst", f"vicinal.{name}", package.__doc__, names, returned)
    rest = [f"vicinal.{name}" for name in top.__all__ if not _is_package(top, name)]
    _write(folder / "vicinal.rst", "vicinal", top.__doc__, rest)


def _is_package(top: Any, name: str) -> bool:
    return hasattr(getattr(top, name), "__path__")


def _write(
    path: Path, title: str, text: str, names: list[str], returned: Sequence[str] = ()
) -> None:
    content = f"{title}\n{'=' * len(title)}\n\n{text.strip()}\n{_table(names)}"
    if returned:
        content += f"\nWhat they return\n----------------\n{_table(returned)}"
    # An unchanged page is not built again.
    if not path.exists() or path.read_text(encoding="utf-8") != content:
        path.write_text(content, encoding="utf-8")


def _table(names: Sequence[str]) -> str:
    return "\n".join(["", ".. autosummary::", "   :toctree:", "", *(f"   ~{n}" for n in names), ""])


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
