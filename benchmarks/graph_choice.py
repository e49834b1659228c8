"""Does `graph_score`, which sees no labels, prefer the graphs on which tasks succeed?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata, spearmanr
from sklearn.metrics import adjusted_rand_score

from benchmarks.labeled_sets import real, shapes
from benchmarks.report import write_results

N_REPEATS = 4
# Rows of larger sets are sampled.
MAX_ROWS = 1000
# The size of the perturbation was chosen on shapes of at most so many rows, on these sets, and on the first
# two repetitions of images and rolls.
LOOKED_AT_ROWS = 1000
LOOKED_AT = ("uci/breast_tissue", "uci/wine", "uci/glass", "digits")


class Problem(NamedTuple):
    """Points, and how good a graph of them is by the truth; higher is better."""

    name: str
    looked_at: bool
    points: np.ndarray
    quality: Callable[[Any], float]


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, one perturbed copy, nothing written."""
    warnings.simplefilter("ignore")
    records: dict[str, dict[str, Any]] = {}
    for problem in problems():
        if only and only not in problem.name:
            continue
        records[problem.name] = compare(problem, 1 if quick else 5)
        print(problem.name, records[problem.name], flush=True)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("graph_choice", records, page)


def kinds(n_features: int) -> dict[str, Callable[[np.ndarray], Any]]:
    """Graphs with a range of parameters; those of empty regions only in few dimensions."""
    from vicinal import graphs

    perturbed = partial(graphs.perturbed_mst, random_state=0)
    result: dict[str, Callable[[np.ndarray], Any]] = {
        "mutual 10 neighbours": partial(graphs.knn, n_neighbors=10, mutual=True),
        "mst": graphs.mst,
    }
    result |= {f"{k} neighbours": partial(graphs.knn, n_neighbors=k) for k in (3, 5, 10, 20, 40)}
    result |= {f"{t} trees": partial(graphs.disjoint_mst, n_trees=t) for t in (2, 4, 8)}
    result |= {f"perturbed trees, r = {r}": partial(perturbed, noise=r) for r in (0.2, 0.4, 0.8)}
    if n_features <= 3:
        result |= {
            "gabriel": graphs.gabriel,
            "relative_neighborhood": graphs.relative_neighborhood,
            "delaunay": graphs.delaunay,
        }
    return result


def compare(problem: Problem, n_replicates: int) -> dict[str, Any]:
    """Rank correlation of score and truth over all graphs, and how the graph with the best score does."""
    from vicinal.metrics import graph_score

    builders = kinds(problem.points.shape[1])
    quality = np.array([problem.quality(build(problem.points)) for build in builders.values()])
    scores = np.array(
        [
            graph_score(build, problem.points, n_replicates=n_replicates, random_state=0)
            for build in builders.values()
        ]
    )
    ranks = (rankdata(quality) - 1) / (len(quality) - 1)
    names, best = list(builders), int(scores.argmax())
    return {
        "looked_at": problem.looked_at,
        "correlation": float(spearmanr(quality, scores)[0]) if np.ptp(quality) > 0 else None,
        "chosen": names[best],
        "quality": float(quality[best]),
        "best": float(quality.max()),
        "rank": float(ranks[best]),
        "ranks": dict(zip(names, ranks.tolist(), strict=True)),
    }


def problems() -> Iterator[Problem]:
    """Segments and rolls of the study of proximity graphs, shapes, tables and images."""
    from studies.proximity_graphs import IMAGE_NOISE, ROLL_NOISE, make_segments
    from vicinal.datasets import make_swiss_roll

    for repeat in range(N_REPEATS):
        for noise, std in IMAGE_NOISE.items():
            image, truth = make_segments((20, 25), std, repeat)
            pixels = image.reshape(-1, image.shape[-1])
            yield Problem(f"image, {noise} noise, {repeat}", repeat < 2, pixels, _agreement(truth))
        for noise, std in ROLL_NOISE.items():
            X, _, geodesics = make_swiss_roll(
                800, noise=std, random_state=repeat, return_geodesics=True
            )
            yield Problem(f"roll, {noise} noise, {repeat}", repeat < 2, X, _accuracy(geodesics))
    for item in (*shapes(), *real()):
        truth = item.truths[0]
        rows = np.flatnonzero(truth >= 0)
        looked_at = item.name in LOOKED_AT or (
            item.points.shape[1] <= 3 and len(truth) <= LOOKED_AT_ROWS
        )
        if len(rows) > MAX_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(rows, MAX_ROWS, replace=False))
        yield Problem(item.name, looked_at, item.points[rows], _agreement(truth[rows]))


def _agreement(truth: np.ndarray) -> Callable[[Any], float]:
    """Agreement of spectral clusters with the true ones."""
    from vicinal.cluster import spectral_labels

    n_clusters = len(np.unique(truth))
    return lambda graph: float(
        adjusted_rand_score(
            truth, spectral_labels(graph.affinity(scale=np.inf), n_clusters, random_state=0)
        )
    )


def _accuracy(geodesics: np.ndarray) -> Callable[[Any], float]:
    """Negative error of geodesic distances; a disconnected graph has none."""
    from vicinal import Isomap
    from vicinal.metrics import geodesic_error

    return lambda graph: (
        -float(geodesic_error(Isomap(2).fit(graph).geodesics_, geodesics))
        if graph.n_components == 1
        else -np.inf
    )


def markdown(records: dict[str, dict[str, Any]]) -> str:
    """Sets as rows, and means over both groups."""
    lines = [
        "# Benchmark: choosing a graph without labels",
        "",
        "Made by `python -m benchmarks graph_choice`: 13 to 16 graphs of each set, scored by `graph_score` "
        "without labels, and by the truth: the adjusted Rand index of spectral clusters with the true "
        "number, or, on rolls, the error of geodesic distances, negated. Correlation is that of the ranks of "
        "both. Rank is the fraction of graphs that are worse by the truth than the one with the best score.",
        "",
        "| set | looked at | correlation | graph with the best score | truth | best truth | rank |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: |",
    ]
    for name, record in records.items():
        known = "yes" if record["looked_at"] else "no"
        correlation = "" if record["correlation"] is None else f"{record['correlation']:.2f}"
        lines.append(
            f"| {name} | {known} | {correlation} | {record['chosen']} | {record['quality']:.2f} "
            f"| {record['best']:.2f} | {record['rank']:.2f} |"
        )
    for looked_at in (True, False):
        group = [record for record in records.values() if record["looked_at"] == looked_at]
        if group:
            lines += ["", *_means("looked at" if looked_at else "not looked at", group)]
    return "\n".join([*lines, ""])


def _means(title: str, group: list[dict[str, Any]]) -> list[str]:
    correlations = [r["correlation"] for r in group if r["correlation"] is not None]
    always = [name for name in group[0]["ranks"] if all(name in r["ranks"] for r in group)]
    ranks = {name: float(np.mean([r["ranks"][name] for r in group])) for name in always}
    return [
        f"{len(group)} sets {title}: mean correlation {np.mean(correlations):.2f}, above 0 on "
        f"{sum(c > 0 for c in correlations)} of {len(correlations)}. Mean rank of the graph with the best "
        f"score: {np.mean([r['rank'] for r in group]):.2f}; of one graph for all sets: "
        + ", ".join(f"{name} {ranks[name]:.2f}" for name in sorted(ranks, key=lambda n: -ranks[n]))
        + "."
    ]
