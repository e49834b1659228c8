"""The board: vicinal beside its peers in every task, with intervals by bootstrap over data sets.

``python -m benchmarks board`` reads the results of the other suites and writes ``docs/board.md`` and the
short table of the README; the tests fail if they differ from the results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.figures import ROOT, load
from benchmarks.report import RESULTS

N_RESAMPLES = 10_000
START, END = "<!-- board -->", "<!-- end of board -->"
# Scores of each method on each data set.
Scores = dict[str, dict[str, float]]


class Task(NamedTuple):
    """A row of the board.

    Attributes
    ----------
    title : str
        What is compared.
    score : str
        Name of the score; higher is better.
    suite : str
        The benchmark whose results are read.
    ours : str
        The method of vicinal that is compared with the peers.
    read : callable
        From the results of the suite to scores.
    note : str
        What a reader has to know.
    """

    title: str
    score: str
    suite: str
    ours: str
    read: Callable[[Any], Scores]
    note: str


class Comparison(NamedTuple):
    """Mean difference of two methods over the sets that both ran on, with its 95 % interval."""

    difference: float
    low: float
    high: float
    n_sets: int

    @property
    def verdict(self) -> str:
        """In favour of whom the difference is, or a tie."""
        if self.low > 0:
            return "ahead"
        return "behind" if self.high < 0 else "tie"


def compare(ours: dict[str, float], peer: dict[str, float]) -> Comparison:
    """Compare two methods on their common sets, which are resampled with replacement."""
    names = sorted(set(ours) & set(peer))
    differences = np.array([ours[name] - peer[name] for name in names])
    draws = np.random.default_rng(0).integers(0, len(names), (N_RESAMPLES, len(names)))
    low, high = np.quantile(differences[draws].mean(axis=1), [0.025, 0.975])
    return Comparison(float(differences.mean()), float(low), float(high), len(names))


def run(only: str | None, quick: bool) -> None:
    """Write the board; with ``quick``, only print it."""
    page, rows = board_page(), readme_rows()
    print(page)
    if quick or only:
        return
    (ROOT / "docs" / "board.md").write_text(page, encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_rows(readme.read_text(encoding="utf-8"), rows), encoding="utf-8")


def with_rows(text: str, rows: str) -> str:
    """A text with the rows between the markers of the board."""
    before, rest = text.split(START)
    return f"{before}{START}\n{rows}\n{END}{rest.split(END)[1]}"


def board_page() -> str:
    """The page with all peers."""
    parts = [INTRODUCTION]
    for task, scores in _measured():
        rows = [f"## {task.title}", task.note, _full_table(task, scores)]
        parts.append("\n\n".join(rows))
    return "\n\n".join(parts) + "\n"


def readme_rows() -> str:
    """A table with the best peer of each task."""
    lines = [
        "| task (score, sets) | vicinal | best peer | difference |",
        "| --- | ---: | ---: | --- |",
    ]
    for task, scores in _measured():
        ours = scores[task.ours]
        peers = {name: compare(ours, own) for name, own in scores.items() if _is_peer(name)}
        best = min(peers, key=lambda name: peers[name].difference)
        found = peers[best]
        sets = sorted(set(ours) & set(scores[best]))
        means = [np.mean([each[name] for name in sets]) for each in (ours, scores[best])]
        lines.append(
            f"| {task.title} ({task.score}, {found.n_sets}) | {means[0]:.3f} | {means[1]:.3f} {best} "
            f"| {_interval(found)} |"
        )
    return "\n".join(lines)


def _full_table(task: Task, scores: Scores) -> str:
    ours = scores[task.ours]
    lines = [
        "| method | mean | sets | vicinal's lead, 95 % interval |",
        "| --- | ---: | ---: | --- |",
    ]
    for name in sorted(scores, key=lambda name: -float(np.mean(list(scores[name].values())))):
        mean = float(np.mean(list(scores[name].values())))
        lead = _interval(compare(ours, scores[name])) if _is_peer(name) else ""
        shown = f"**{name}**" if name == task.ours else name
        lines.append(f"| {shown} | {mean:.3f} | {len(scores[name])} | {lead} |")
    return f"`python -m benchmarks {task.suite}`, mean {task.score}:\n\n" + "\n".join(lines)


def _interval(found: Comparison) -> str:
    return f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f}), {found.verdict}"


def _is_peer(name: str) -> bool:
    return not name.startswith(("vicinal", "NeighborMap")) and name not in OTHER_MAPS


def _measured() -> list[tuple[Task, Scores]]:
    """Tasks whose results exist."""
    read = [
        (task, task.read(load(task.suite)))
        for task in TASKS
        if (RESULTS / f"{task.suite}.json").exists()
    ]
    return [(task, scores) for task, scores in read if task.ours in scores]


def _clusters(score: str, group: str) -> Callable[[Any], Scores]:
    def read(results: Any) -> Scores:
        scores: Scores = {}
        for row in results:
            if row["group"] == group:
                for method, found in row["methods"].items():
                    scores.setdefault(method, {})[row["set"]] = found[score]
        return scores

    return read


def _noise(results: Any) -> Scores:
    scores: Scores = {}
    for row in results:
        if row["group"] != "clean":
            for method, f1 in row["f1"].items():
                scores.setdefault(method, {})[f"{row['group']}/{row['set']}"] = f1
    return scores


def _labels(results: Any) -> Scores:
    scores: Scores = {}
    for row in results["accuracy"]:
        key = f"{row['set']}, {row['rate']} per class"
        scores.setdefault(row["method"], {})[key] = row["accuracy"]
    return scores


def _maps(results: Any) -> Scores:
    scores: Scores = {}
    for name, row in results["scores"].items():
        for method, found in row.items():
            scores.setdefault(method, {})[name] = found["trustworthiness"]
    return scores


def _rerank(results: Any) -> Scores:
    scores: Scores = {}
    for name, record in results["sets"].items():
        for method in record["within"]:
            found = [record[mode][method]["map"] for mode in ("within", "apart")]
            scores.setdefault(method, {})[name] = float(np.mean(found))
    return scores


def _outliers(results: Any) -> Scores:
    return {method: dict(row) for method, row in results["auc"].items()}


INTRODUCTION = """# The board

Every task with all peers that were measured, generated by `python -m benchmarks board` from
`benchmarks/results`. Methods run with their defaults. The lead of vicinal over a peer is the mean
difference over the data sets on which both ran; its interval comes from resampling these sets. An interval
that contains 0 is a tie: other sets could reverse it. Rules of vicinal were chosen on some of these sets,
which favours it there; the linked guides say on which."""

OTHER_MAPS = ("LaplacianEigenmaps", "Isomap", "ClusterPreservingEmbedding")
TASKS = [
    Task(
        "Clusters, number given: shapes",
        "normalised accuracy",
        "given",
        "vicinal SpectralClustering on disjoint trees",
        _clusters("accuracy", "shapes"),
        "The same sets as below, and the score of the benchmark of M. Gagolewski, from which they come.",
    ),
    Task(
        "Clusters, number given: real data",
        "normalised accuracy",
        "given",
        "vicinal SpectralClustering on disjoint trees",
        _clusters("accuracy", "real"),
        "Six UCI tables, digits, MNIST and faces. Classes are not always clusters.",
    ),
    Task(
        "Clusters, number given: generated",
        "normalised accuracy",
        "given",
        "vicinal SpectralClustering on disjoint trees",
        _clusters("accuracy", "varied"),
        "Moons, rings, spirals, blobs of many shapes, and curved classes in up to 50 columns.",
    ),
    Task(
        "Clusters, number not given: shapes",
        "adjusted Rand index",
        "clusters",
        "vicinal SpectralClustering on disjoint trees",
        _clusters("ari", "shapes"),
        "Shapes in the plane and in space, some of them in noise. "
        "[How the number is chosen](guides/number-of-clusters.md).",
    ),
    Task(
        "Clusters, number not given: real data",
        "adjusted Rand index",
        "clusters",
        "vicinal SpectralClustering on disjoint trees",
        _clusters("ari", "real"),
        "Six UCI tables, digits, MNIST and faces. Classes are not always clusters.",
    ),
    Task(
        "Noise",
        "F1 of the noise label",
        "noise",
        "vicinal PerceptualClustering",
        _noise,
        "Shapes, generated clusters and two surfaces in noise. [How noise is found](guides/noise.md).",
    ),
    Task(
        "Outliers",
        "area under the ROC curve",
        "outliers",
        "vicinal OutlierDetector",
        _outliers,
        "Tables, and embeddings of images and texts, from ADBench; columns scaled to [0, 1].",
    ),
    Task(
        "Few labels",
        "accuracy",
        "labels",
        "vicinal harmonic (default)",
        _labels,
        "1, 2, 5 and 10 labels per class; a set counts once per number of labels. "
        "[Few labels](guides/few-labels.md).",
    ),
    Task(
        "Retrieval",
        "average precision",
        "rerank",
        "vicinal Reranker",
        _rerank,
        "The first 100 results for rows of a gallery of images, silhouettes, faces, table rows or texts, and "
        "for queries apart from it. The peers follow their references literally. "
        "[Retrieval](guides/retrieval.md).",
    ),
    Task(
        "Maps",
        "trustworthiness",
        "map",
        "NeighborMap",
        _maps,
        "Neighbours on the map that are neighbours in the data.",
    ),
]
