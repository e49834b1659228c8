"""Spectral clustering on perturbed and on disjoint trees of real sets, with the true number of clusters."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.labeled_sets import mnist_samples, real
from benchmarks.report import write_results

ALIGNED = "perturbed_mst, aligned"
GRAPHS = ("disjoint_mst", "perturbed_mst", ALIGNED)
# Scores of perturbed trees are averaged over this many seeds.
N_SEEDS = 3
# Scores of the same graph differ by 0.2 between samples of MNIST.
MNIST, ALL = "MNIST, mean of 5 samples", "mean of sets"
N_QUICK = 1000


def run(only: str | None, quick: bool) -> None:
    """Measure, print, and write Markdown and JSON; with ``quick``, one seed, at most 1000 rows, no files."""
    warnings.simplefilter("ignore")
    records: dict[str, dict[str, float]] = {}
    for item in (*real(), *mnist_samples()):
        if only and only not in item.name:
            continue
        X, truth = item.points, item.truths[0]
        if quick:
            rows = np.random.default_rng(0).permutation(len(X))[:N_QUICK]
            X, truth = X[rows], truth[rows]
        records[item.name] = {
            graph: float(np.mean([_score(X, truth, graph, seed) for seed in range(seeds)]))
            for graph, seeds in zip(GRAPHS, (1, *(1 if quick else N_SEEDS,) * 2), strict=True)
        }
        print(item.name, records[item.name], flush=True)
    records |= summaries(records)
    page = markdown(records)
    print(page)
    if not quick and not only:
        write_results("trees", records, page)


def _score(X: np.ndarray, truth: np.ndarray, graph: str, seed: int) -> float:
    from vicinal import SpectralClustering

    options = {"noise_model": "aligned"} if graph == ALIGNED else None
    model = SpectralClustering(
        len(np.unique(truth)), graph=graph.split(",")[0], graph_params=options, random_state=seed
    )
    return float(adjusted_rand_score(truth, model.fit_predict(X)))


def summaries(records: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Means over all samples of MNIST, and over the sets."""
    members = {
        MNIST: [r for name, r in records.items() if name.startswith("mnist")],
        ALL: [r for name, r in records.items() if not name.startswith("mnist_")],
    }
    return {
        name: {graph: float(np.mean([r[graph] for r in group])) for graph in GRAPHS}
        for name, group in members.items()
        if group
    }


def markdown(records: dict[str, dict[str, float]]) -> str:
    """Sets as rows, and means."""
    lines = [
        "# Benchmark: trees",
        "",
        "Measured by `python -m benchmarks trees`: adjusted Rand index of `SpectralClustering` with the true "
        f"number of clusters; for perturbed trees, the mean of {N_SEEDS} seeds. The mean over sets counts "
        "one sample of MNIST, mnist5000.",
        "",
        f"| set | {' | '.join(GRAPHS)} |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, record in records.items():
        lines.append(f"| {name} | {' | '.join(f'{record[graph]:.3f}' for graph in GRAPHS)} |")
    return "\n".join([*lines, ""])
