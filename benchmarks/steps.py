"""The t that `SelfSmoothing` chooses without labels, beside the best t in hindsight.

The rule was found on three sets (shapes, faces, digits), which are marked; the others were not looked at
before. Sets that scikit-learn does not bring are read from the folder that VICINAL_DATA names, those that
are not there are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.report import RESULTS

# Numbers of steps among which the best is sought.
GRID = [0, *(2**i for i in range(16))]
QUICK = 300
IMAGES = 1500
UCI = ("breast_tissue", "glass", "soybean", "vehicle", "image_segmentation")

Table = tuple[np.ndarray, np.ndarray, str]


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick`` few items, nothing written."""
    sets = {name: read for name, read in SETS.items() if not only or only in name}
    if not sets:
        raise SystemExit(f"--only {only} matches no set; there are {', '.join(SETS)}")
    for name, read in sets.items():
        try:
            table = read()
        except FileNotFoundError as error:
            print(f"{name}: {error}", flush=True)
            continue
        row = {"set": name, **measure(*table, QUICK if quick else None)}
        print(_line(row), flush=True)
        if not quick:
            save(row)


def save(row: dict[str, Any]) -> None:
    """Write the table; other sets keep their earlier row."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "steps.json"
    earlier = json.loads(path.read_text()) if path.exists() else []
    rows = {known["set"]: known for known in [*earlier, row]}
    ordered = [rows[name] for name in SETS if name in rows]
    path.write_text(json.dumps(ordered, indent=1) + "\n")
    path.with_suffix(".md").write_text(markdown(ordered))


def measure(X: np.ndarray, labels: np.ndarray, metric: str, limit: int | None) -> dict[str, Any]:
    """Mean average precision before smoothing, at the chosen t and at the best t of the grid."""
    from vicinal import SelfSmoothing
    from vicinal.metrics import compare

    if limit is not None and len(X) > limit:
        some = np.random.default_rng(0).choice(len(X), limit, replace=False)
        X, labels = X[np.ix_(some, some)] if metric == "precomputed" else X[some], labels[some]
    model = SelfSmoothing(metric=metric).fit(X)
    grid = sorted({*GRID, int(model.t_)})
    table = compare({"sso": model}, labels, grid, measure="mean_average_precision")
    chosen = next(score for score in table.scores if score.t == model.t_)
    best = table.best()["sso"]
    return {
        "n": len(X),
        "classes": len(np.unique(labels)),
        "before": chosen.before,
        "chosen_t": model.t_,
        "chosen": chosen.after,
        "best_t": best.t,
        "best": best.after,
        "shortfall": best.after - chosen.after,
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table as a page."""
    fresh = [row["shortfall"] for row in rows if row["set"] not in SEEN] or [np.nan]
    return "\n".join(
        [
            "# Benchmark: steps",
            "",
            "Made by `python -m benchmarks steps`: mean average precision in percent of retrieval under "
            "`SelfSmoothing()`, at the t that it chooses without labels and at the best of "
            "0, 1, 2, 4, ..., 32,768 in hindsight. The rule was found on the sets marked *.",
            "",
            "| | items | classes | before | chosen t | after | best t | after | shortfall |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *(_line(row) for row in rows),
            "",
            f"On the {len(fresh)} sets that were not looked at the shortfall is "
            f"{100 * float(np.mean(fresh)):.1f} points in the mean and {100 * max(fresh):.1f} at most.",
            "",
        ]
    )


def _line(row: dict[str, Any]) -> str:
    mark = " *" if row["set"] in SEEN else ""
    before, chosen, best, short = (
        f"{100 * row[key]:.1f}" for key in ("before", "chosen", "best", "shortfall")
    )
    cells = [f"{row['set']}{mark}", row["n"], row["classes"], before, f"{row['chosen_t']:g}"]
    cells += [chosen, f"{row['best_t']:g}", best, short]
    return f"| {' | '.join(map(str, cells))} |"


# Sets


def _bundled(name: str) -> Callable[[], Table]:
    def read() -> Table:
        from sklearn import datasets
        from sklearn.preprocessing import scale

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return scale(X), y, "euclidean"

    return read


def _digits(part: slice) -> Callable[[], Table]:
    def read() -> Table:
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return X[part], y[part], "euclidean"

    return read


def _uci(name: str) -> Callable[[], Table]:
    def read() -> Table:
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import scale

        from vicinal.datasets import load_uci_table

        X, y = load_uci_table(name)
        return scale(SimpleImputer().fit_transform(X)), y, "euclidean"

    return read


def _mnist() -> Table:
    from vicinal.datasets import load_mnist

    images, y = load_mnist()
    return images[:IMAGES].reshape(IMAGES, -1), y[:IMAGES], "euclidean"


def _faces() -> Table:
    from vicinal.datasets import load_orl_faces

    images, y = load_orl_faces()
    return images[:, ::7, ::6].reshape(len(images), -1), y, "euclidean"


def _shapes() -> Table:
    from vicinal.datasets import load_mpeg7_distances

    shapes = load_mpeg7_distances()
    return shapes.distances["sc"], shapes.classes, "precomputed"


SETS: dict[str, Callable[[], Table]] = {
    "shapes, MPEG-7": _shapes,
    "faces, ORL": _faces,
    "digits": _digits(slice(None)),
    "digits, first half": _digits(slice(None, 898)),
    "digits, second half": _digits(slice(898, None)),
    "MNIST, 1,500 images": _mnist,
    "iris": _bundled("iris"),
    "wine": _bundled("wine"),
    "breast cancer": _bundled("breast_cancer"),
    **{name.replace("_", " "): _uci(name) for name in UCI},
}
# The halves of the digits are parts of what was looked at.
SEEN = ("shapes, MPEG-7", "faces, ORL", "digits", "digits, first half", "digits, second half")
