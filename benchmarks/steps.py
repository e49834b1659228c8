"""The t that `SelfSmoothing` chooses without labels, compared with the best t in hindsight.

The rule was designed on three sets (shapes, faces, digits) and its limit on texts and normal clusters like
those here, which are marked; the others are held out.
Sets that do not come with scikit-learn are read from the folder VICINAL_DATA; missing ones are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.report import RESULTS, write_results

# Candidates for the best number of steps.
GRID = [0, *(2**i for i in range(16))]
N_QUICK = 300
N_IMAGES = 1500
UCI = ("breast_tissue", "glass", "soybean", "vehicle", "image_segmentation")

Table = tuple[np.ndarray, np.ndarray, str]


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, few items and no files."""
    sets = {name: read for name, read in SETS.items() if not only or only in name}
    if not sets:
        raise SystemExit(f"--only {only} matches no set; choose from {', '.join(SETS)}")
    for name, read in sets.items():
        try:
            table = read()
        except FileNotFoundError as error:
            print(f"{name}: {error}", flush=True)
            continue
        row = {"set": name, **measure(*table, N_QUICK if quick else None)}
        print(_line(row), flush=True)
        if not quick:
            save(row)


def save(row: dict[str, Any]) -> None:
    """Write the table; other sets keep their earlier row."""
    path = RESULTS / "steps.json"
    earlier = json.loads(path.read_text()) if path.exists() else []
    rows = {earlier_row["set"]: earlier_row for earlier_row in [*earlier, row]}
    ordered = [rows[name] for name in SETS if name in rows]
    write_results("steps", ordered, markdown(ordered))


def measure(X: np.ndarray, labels: np.ndarray, metric: str, limit: int | None) -> dict[str, Any]:
    """Mean average precision before smoothing, at the chosen t and at the best t of the grid."""
    from vicinal import SelfSmoothing
    from vicinal.metrics import mean_average_precision

    if limit is not None and len(X) > limit:
        sample = np.random.default_rng(0).choice(len(X), limit, replace=False)
        X, labels = (
            X[np.ix_(sample, sample)] if metric == "precomputed" else X[sample],
            labels[sample],
        )
    model = SelfSmoothing(metric=metric).fit(X)
    grid = sorted({*GRID, int(model.t_)})
    scores = {
        t: mean_average_precision(neighbors, labels)
        for t, (_, neighbors) in model.sweep_neighbors(grid, len(X) - 1)
    }
    # Ties go to the fewest steps.
    best_t = max(scores, key=lambda t: (scores[t], -t))
    start = model.affinity_
    before = start.toarray() if hasattr(start, "toarray") else start
    return {
        "n": len(X),
        "classes": len(np.unique(labels)),
        "before": mean_average_precision(before, labels),
        "chosen_t": model.t_,
        "chosen": scores[model.t_],
        "best_t": best_t,
        "best": scores[best_t],
        "shortfall": scores[best_t] - scores[model.t_],
    }


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table as a page."""
    held_out = [row["shortfall"] for row in rows if row["set"] not in DESIGN_SETS] or [np.nan]
    return "\n".join(
        [
            "# Benchmark: steps",
            "",
            "Measured by `python -m benchmarks steps`: mean average precision of retrieval with "
            "`SelfSmoothing()` in percent, at the t chosen without labels and at the best of "
            "0, 1, 2, 4, ..., 32,768 in hindsight. The rule was designed on the sets marked *.",
            "",
            "| | items | classes | before | chosen t | after | best t | after | shortfall |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *(_line(row) for row in rows),
            "",
            f"On the {len(held_out)} other sets, the mean shortfall is "
            f"{100 * float(np.mean(held_out)):.1f} points and the maximum {100 * max(held_out):.1f}.",
            "",
        ]
    )


def _line(row: dict[str, Any]) -> str:
    mark = " *" if row["set"] in DESIGN_SETS else ""
    before, chosen, best, shortfall = (
        f"{100 * row[key]:.1f}" for key in ("before", "chosen", "best", "shortfall")
    )
    cells = [f"{row['set']}{mark}", row["n"], row["classes"], before, f"{row['chosen_t']:g}"]
    cells += [chosen, f"{row['best_t']:g}", best, shortfall]
    return f"| {' | '.join(map(str, cells))} |"


# Sets


def _bundled(name: str) -> Callable[[], Table]:
    def read() -> Table:
        from sklearn import datasets
        from sklearn.preprocessing import scale

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return scale(X), y, "euclidean"

    return read


def _digits(rows: slice) -> Callable[[], Table]:
    def read() -> Table:
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return X[rows], y[rows], "euclidean"

    return read


def _uci(name: str) -> Callable[[], Table]:
    def read() -> Table:
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import scale

        from studies.loaders import load_uci_table

        X, y = load_uci_table(name)
        return scale(SimpleImputer().fit_transform(X)), y, "euclidean"

    return read


def _mnist() -> Table:
    from studies.loaders import load_mnist

    images, y = load_mnist()
    return images[:N_IMAGES].reshape(N_IMAGES, -1), y[:N_IMAGES], "euclidean"


def _faces() -> Table:
    from studies.loaders import load_orl_faces

    images, y = load_orl_faces()
    return images[:, ::7, ::6].reshape(len(images), -1), y, "euclidean"


def _shapes() -> Table:
    from studies.loaders import load_mpeg7_distances

    shapes = load_mpeg7_distances()
    return shapes.distances["sc"], shapes.classes, "precomputed"


def _texts(of_topic: float) -> Callable[[], Table]:
    def read() -> Table:
        from benchmarks.near_duplicates import tfidf, topic_texts

        texts, topics = topic_texts(np.random.default_rng(11), 1000, of_topic=of_topic)
        return tfidf(texts), topics, "euclidean"

    return read


def _normal_clusters() -> Table:
    rng = np.random.default_rng(11)
    classes = rng.integers(0, 10, 1000)
    return (
        rng.normal(size=(10, 100))[classes] + 2.0 * rng.normal(size=(1000, 100)),
        classes,
        "euclidean",
    )


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
    "texts, a third of words of the topic": _texts(1 / 3),
    "texts, a fifth": _texts(1 / 5),
    "normal clusters, 100 columns": _normal_clusters,
}
# The halves of the digits are parts of a design set.
DESIGN_SETS = (
    "shapes, MPEG-7",
    "faces, ORL",
    "digits",
    "digits, first half",
    "digits, second half",
    "texts, a third of words of the topic",
    "texts, a fifth",
    "normal clusters, 100 columns",
)
