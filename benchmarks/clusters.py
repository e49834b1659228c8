"""Clustering without a given number of clusters: shapes, real, generated and structureless sets.

The score is the adjusted Rand index on the points that are not noise in the truth, the best over the
true labellings of a set.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from benchmarks import labeled_sets
from benchmarks.labeled_sets import LabeledSet
from benchmarks.report import RESULTS, write_results

Method = Callable[[np.ndarray], np.ndarray]
GROUPS: dict[str, Callable[[], Iterator[LabeledSet]]] = {
    "shapes": labeled_sets.shapes,
    "real": labeled_sets.real,
    "mnist": labeled_sets.mnist_samples,
    "generated": labeled_sets.clusters,
    "varied": labeled_sets.varied_clusters,
    "structureless": labeled_sets.structureless,
}
N_COMPONENTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)


def run(only: str | None, quick: bool) -> None:
    """Measure and print; write Markdown and JSON after each set, with ``quick`` small sets and no files.

    Scores of other libraries do not change with this one, so they are kept from earlier runs.
    """
    warnings.simplefilter("ignore")
    path = RESULTS / "clusters.json"
    records: list[dict[str, Any]] = []
    for group, sets in GROUPS.items():
        if only and only != group:
            continue
        for item in sets():
            if quick:
                records += [_measure(group, item, {})] if len(item.points) <= 500 else []
                continue
            # Read again for each set: groups can be measured in parallel.
            records = json.loads(path.read_text()) if path.exists() else []
            same = [r for r in records if (r["group"], r["set"]) == (group, item.name)]
            record = _measure(group, item, same[0]["methods"] if same else {})
            records = [r for r in records if r not in same] + [record]
            records.sort(key=lambda r: list(GROUPS).index(r["group"]))
            write_results("clusters", records, markdown(records))
    print(markdown(records))


def _measure(group: str, item: LabeledSet, earlier: dict[str, Any]) -> dict[str, Any]:
    is_peer = {name: not name.startswith("vicinal") for name in METHODS}
    record: dict[str, Any] = {
        "group": group,
        "set": item.name,
        "half": "development" if item.development else "report",
        "true": [len(np.unique(t[t >= 0])) for t in item.truths],
        "methods": {
            name: earlier[name] if is_peer[name] and name in earlier else _score(method, item)
            for name, method in METHODS.items()
            if name not in PEERS_OF or group in PEERS_OF[name]
        },
    }
    print(group, item.name, record["true"], record["methods"], flush=True)
    return record


def _score(method: Method, item: LabeledSet) -> dict[str, float]:
    start = time.process_time()
    labels = method(item.points)
    seconds = time.process_time() - start
    scores = [adjusted_rand_score(t[t >= 0], labels[t >= 0]) for t in item.truths]
    n_clusters = len(np.unique(labels[labels >= 0]))
    nmi = max(normalized_mutual_info_score(t[t >= 0], labels[t >= 0]) for t in item.truths)
    return {
        "n_clusters": n_clusters,
        "ari": float(max(scores)),
        "nmi": float(nmi),
        "seconds": seconds,
    }


def _evidence(X: np.ndarray) -> np.ndarray:
    from vicinal.cluster import estimate_clusters

    return estimate_clusters(X).labels


def _default(X: np.ndarray) -> np.ndarray:
    from vicinal import SpectralClustering

    return SpectralClustering(random_state=0).fit_predict(X)


def _spectral(X: np.ndarray) -> np.ndarray:
    from vicinal import SpectralClustering

    return SpectralClustering(graph="disjoint_mst", random_state=0).fit_predict(X)


def _perceptual(X: np.ndarray) -> np.ndarray:
    from vicinal import PerceptualClustering

    return PerceptualClustering(random_state=0).fit_predict(X)


def _perceive(X: np.ndarray) -> np.ndarray:
    """Clusters of `perceive`, without the steps that do not change them (maps, stability, explanations)."""
    from vicinal.report._preprocessing import prepare, raw_table
    from vicinal.report._shared_inputs import SharedInputs
    from vicinal.report._steps.clusters import find_clusters

    data = prepare(raw_table(X, None, None, None), "none")
    inputs = SharedInputs(data.points, 50, 0, -1, 0)
    inputs.n_clusters = inputs.evidence.n_clusters
    return find_clusters(inputs, data, inputs.n_clusters).labels


def _hdbscan(X: np.ndarray) -> np.ndarray:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=max(5, len(X) // 100), copy=True).fit_predict(X)


def _plscan(X: np.ndarray) -> np.ndarray:
    from fast_plscan import PLSCAN

    return PLSCAN().fit(X).labels_


def _leiden(X: np.ndarray) -> np.ndarray:
    import igraph
    import leidenalg

    from vicinal.graphs import knn

    edges = knn(X, min(15, len(X) - 1)).edges()
    graph = igraph.Graph(n=len(X), edges=edges.tolist())
    kind = leidenalg.ModularityVertexPartition
    return np.array(leidenalg.find_partition(graph, kind, seed=0).membership)


def _mixture(X: np.ndarray) -> np.ndarray:
    """The Gaussian mixture with the best BIC, on at most 20 principal components."""
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    if X.shape[1] > 20:
        X = PCA(20, random_state=0).fit_transform(X)
    models = (
        GaussianMixture(n_components, random_state=0, max_iter=50).fit(X)
        for n_components in N_COMPONENTS
        if n_components <= len(X) // 5
    )
    return min(models, key=lambda model: model.bic(X)).predict(X)


METHODS: dict[str, Method] = {
    "vicinal estimate_clusters": _evidence,
    "vicinal SpectralClustering": _default,
    "vicinal SpectralClustering on disjoint trees": _spectral,
    "vicinal PerceptualClustering": _perceptual,
    "vicinal perceive": _perceive,
    "scikit-learn HDBSCAN (1 %)": _hdbscan,
    **({"PLSCAN": _plscan} if find_spec("fast_plscan") else {}),
    **({"Leiden, 15 neighbours": _leiden} if find_spec("leidenalg") else {}),
    "Gaussian mixture, BIC": _mixture,
}
# Groups in which slow peers are measured.
PEERS_OF = {
    "scikit-learn HDBSCAN (1 %)": ("shapes", "real", "generated", "varied", "structureless"),
    "PLSCAN": ("shapes", "real", "generated", "varied", "structureless"),
    "Gaussian mixture, BIC": ("shapes", "real", "mnist"),
}


def markdown(records: list[dict[str, Any]]) -> str:
    """What must hold, and means per group and half."""
    lines = [
        "# Benchmark: clusters",
        "",
        "Measured by `python -m benchmarks clusters`: the number of clusters is not given, and all methods "
        "use defaults. Mean adjusted Rand index, fraction of sets with the correct number of clusters, and "
        "fraction of sets with more than one cluster. Rules were chosen on the development half (sets "
        "whose name has an even CRC-32), but most shapes and real sets of the other half had been seen "
        "before; of the group `varied`, one rule was compared on the curved classes.",
        "",
        "| goal | method | measured |",
        "| --- | --- | ---: |",
        *(f"| {goal} | {name} | {value} |" for goal, name, value in sorted(goals(records))),
        "",
        "| group | half | sets | method | ARI | correct number | above 1 | seconds |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for group in dict.fromkeys(r["group"] for r in records):
        for half in ("development", "report"):
            selected = [r for r in records if r["group"] == group and r["half"] == half]
            for name in selected[0]["methods"] if selected else []:
                ari, correct, above, seconds = means(selected, name)
                lines.append(
                    f"| {group} | {half} | {len(selected)} | {name} | {ari:.3f} | {correct:.2f} "
                    f"| {above:.2f} | {seconds:.2f} |"
                )
    return "\n".join([*lines, ""])


def means(records: list[dict[str, Any]], method: str) -> tuple[float, float, float, float]:
    """Mean ARI, fraction with a correct number and with more than one cluster, and mean seconds."""
    results = [(r["methods"][method], r["true"]) for r in records]
    return (
        float(np.mean([m["ari"] for m, _ in results])),
        float(np.mean([m["n_clusters"] in true for m, true in results])),
        float(np.mean([m["n_clusters"] > 1 for m, _ in results])),
        float(np.mean([m["seconds"] for m, _ in results])),
    )


def goals(records: list[dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """Goals over all sets of a group: description, method and measured value."""
    by_group = {g: [r for r in records if r["group"] == g] for g in GROUPS}
    samples = [r for r in records if r["set"].startswith("mnist")]
    for name in METHODS:
        is_ours = name.startswith("vicinal")
        if _has(by_group["shapes"], name) and is_ours:
            ari, correct, _, _ = means(by_group["shapes"], name)
            goal = "shapes: ARI at least 0.76, number right on 70 %"
            yield goal, name, f"{ari:.3f}, {correct:.0%}"
        if _has(by_group["real"], name):
            goal = "real sets: ARI at least that of Leiden and of mixtures"
            yield goal, name, f"{means(by_group['real'], name)[0]:.3f}"
        if _has(samples, name) and is_ours:
            found = [r["methods"][name] for r in samples]
            counts, scores = sorted(m["n_clusters"] for m in found), sorted(m["ari"] for m in found)
            value = f"{counts[0]} to {counts[-1]}, {scores[0]:.2f} to {scores[-1]:.2f}"
            yield "5,000 MNIST digits: 9 to 12 clusters, ARI at least 0.70", name, value
        for record in (r for r in records if r["set"] == "digits" and is_ours):
            if name in record["methods"]:
                found_in_digits = record["methods"][name]
                value = f"{found_in_digits['n_clusters']}, {found_in_digits['nmi']:.2f}"
                yield "digits: 9 to 12 clusters, NMI at least 0.85", name, value
        if _has(by_group["structureless"], name):
            above = means(by_group["structureless"], name)[2]
            yield "structureless: at most 5 % above one cluster", name, f"{above:.1%}"


def _has(records: list[dict[str, Any]], method: str) -> bool:
    """Whether a method was measured on all of some sets."""
    return bool(records) and all(method in r["methods"] for r in records)
