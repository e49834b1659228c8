"""Does self-smoothing improve a similarity? Retrieval, clusters, segments, classification.

1. The example of three items (section 3.2).
2. Retrieval of shapes (table 1, figures 2 and 3), compared with diffusion maps and rankings.
3. Clusters by kernel k-means and affinity propagation (figures 6 and 7).
4. Segments by the normalised cut (table 2), in `smoothing_segments`.
5. Leave-one-out classification with fractional steps (figure 9).
6. Steps chosen without labels, compared with the best in hindsight.

After [2] Jiang, Wang and Tu, "Unsupervised metric learning by self-smoothing operator", ICCV 2011.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from studies.experiments import progress_bar
from studies.smoothing_data import Items, digits, faces, shapes
from vicinal import KernelKMeans, ManifoldRanking, SelfSmoothing
from vicinal.embed.diffusion import diffusion_spectrum
from vicinal.metrics import bulls_eye, normalized_mutual_info
from vicinal.operators import stationary_distribution
from vicinal.semi_supervised import SimilarityVoteClassifier
from vicinal.similarity import self_smooth, smoothing_kernel
from vicinal.similarity.smoothing.operator import project_psd

SHAPE_NEIGHBORS, FACE_NEIGHBORS = 30, 15
WINDOW = 15
# Number of steps of the retrieval in figure 3 and the matrix in figure 7.
RETRIEVAL_STEPS, BLOCK_STEPS = 500, 200
# Smaller similarities are negligible and not used by the rankings.
MIN_SIMILARITY = 1e-6
# Damping of PageRank. 0.9 is worse, as alpha = 0.9 is for manifold ranking.
DAMPING = 0.99
# Similarities above this are visible in the figure.
LINK_THRESHOLD = 0.1


class Setting(NamedTuple):
    """Sizes and parameter grids of the experiments."""

    max_items: int | None
    steps: tuple[float, ...]
    cluster_steps: tuple[float, ...]
    propagation_steps: tuple[float, ...]
    fractions: tuple[float, ...]
    n_trials: int
    n_photographs: int
    cut_steps: tuple[int, ...]
    label_steps: tuple[int, ...]
    data: Path | None = None


FULL = Setting(
    max_items=None,
    steps=(0, 1, 5, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000),
    cluster_steps=(0, 1, 5, 20, 50, 100, 200, 500, 1000, 3000, 10000, 30000),
    propagation_steps=(0, 50, 500),
    fractions=(0, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 30, 100, 300, 1000),
    n_trials=5,
    n_photographs=50,
    cut_steps=(5, 10, 20, 50, 100),
    label_steps=(10, 100, 500),
)
QUICK = FULL._replace(
    max_items=150,
    steps=(0, 5, 50, 500, 5000),
    cluster_steps=(0, 20, 200),
    propagation_steps=(0, 20),
    fractions=(0, 0.5, 2, 10),
    n_trials=2,
    n_photographs=2,
    cut_steps=(5, 10),
    label_steps=(10, 100),
)


class Outcome(NamedTuple):
    """All measurements, and the arrays shown in the figure."""

    rows: list[dict[str, Any]]
    figure_data: dict[str, Any]


def three_items(setting: Setting, verbose: int = 0) -> Outcome:
    """Section 3.2: a similarity with one missing pair, and the error after smoothing."""
    truth = np.full((3, 3), 0.9) + 0.1 * np.eye(3)
    incomplete = truth.copy()
    incomplete[0, 2] = incomplete[2, 0] = 0.0
    rows = []
    for t in range(11):
        unnormalized = self_smooth(incomplete, t, normalize=False)
        rows.append(
            {
                "t": t,
                "missing_pair": unnormalized[0, 2],
                "error": np.linalg.norm(self_smooth(incomplete, t) - truth),
                "error_without_normalization": np.linalg.norm(unnormalized - truth),
            }
        )
    return Outcome(rows, {})


def retrieval(setting: Setting, verbose: int = 0) -> Outcome:
    """Table 1 and figure 2: bull's eye score of each source, of their mean, and after diffusion."""
    items = shapes(setting.data, setting.max_items)
    y, names = items.classes, list(items.distances)
    rows: list[dict[str, Any]] = []
    for name in names:
        score = bulls_eye(kernel_of(items, [name]), y)
        rows.append({"source": name, "method": "input", "t": 0, "score": score})
    for sources in (names[:2], names):
        source, W = "+".join(sources), kernel_of(items, sources)
        for method, t, similarity in _diffusions(W, setting.steps, verbose):
            rows.append(
                {"source": source, "method": method, "t": t, "score": bulls_eye(similarity, y)}
            )
        model = SelfSmoothing(metric="similarity").fit(W)
        score = bulls_eye(model.similarity_, y)
        rows.append({"source": source, "method": "SSO auto", "t": model.t_, "score": score})
        for method, t, ranking in _rankings(W, setting.label_steps):
            rows.append(
                {"source": source, "method": method, "t": t, "score": bulls_eye(ranking, y)}
            )
    return Outcome(rows, {"name": items.name, "n": len(y)})


def first_retrieved(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 3: top ten before and after smoothing, for the queries that improve most."""
    items = shapes(setting.data, setting.max_items)
    y, W = items.classes, kernel_of(items, list(items.distances))
    model = SelfSmoothing(RETRIEVAL_STEPS, metric="similarity").fit(W)
    before = SelfSmoothing(0, metric="similarity").fit(W).kneighbors(n_neighbors=10)[1]
    after = model.kneighbors(n_neighbors=10)[1]
    correct = {
        name: y[retrieved] == y[:, None] for name, retrieved in (("W", before), ("W*", after))
    }
    gains = correct["W*"].sum(axis=1) - correct["W"].sum(axis=1)
    queries = np.argsort(-gains, kind="stable")[:5]
    rows = [
        {"query": int(q), "class": int(y[q]), "correct_before": int(correct["W"][q].sum()),
         "correct_after": int(correct["W*"][q].sum())}
        for q in range(len(y))
    ]  # fmt: skip
    scene = {"queries": queries, "before": before, "after": after, "correct": correct}
    return Outcome(rows, {**scene, "pixels": items.pixels, "name": items.name})


def clusters(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 6: agreement of clusters with classes by t, for shapes and for faces."""
    rows: list[dict[str, Any]] = []
    for items, neighbors in _datasets(setting)[:2]:
        y = items.classes
        W = kernel_of(items, list(items.distances), neighbors)
        n_classes = len(np.unique(y))
        diffusions = list(_diffusions(W, setting.cluster_steps, 0, coordinates=True))
        with progress_bar(len(diffusions), f"clusters of {items.name}", verbose) as bar:
            for method, t, matrix in diffusions:
                linear = method == "diffusion maps"
                kernel = matrix if linear else project_psd(matrix)
                for trial in range(setting.n_trials):
                    model = KernelKMeans(
                        n_classes,
                        kernel="linear" if linear else "precomputed",
                        n_init=1,
                        random_state=trial,
                    )
                    labels = model.fit_predict(kernel)
                    rows.append(_agreement(items.name, method, t, y, labels))
                if not linear and t in setting.propagation_steps:
                    labels = affinity_propagation(matrix)
                    rows.append(_agreement(items.name, "affinity propagation", t, y, labels))
                bar.update()
    return Outcome(rows, {})


def blocks_of_faces(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 7: the similarity of faces before and after smoothing."""
    items = faces(setting.data, setting.max_items)
    W = kernel_of(items, ["euclidean"], FACE_NEIGHBORS)
    order = np.argsort(items.classes, kind="stable")
    same = items.classes[:, None] == items.classes
    off_diagonal = ~np.eye(len(same), dtype=bool)
    panels, rows = {}, []
    for name, matrix in (("W", W), ("W*", self_smooth(W, BLOCK_STEPS, psd=True))):
        within, between = matrix[same & off_diagonal].mean(), matrix[~same].mean()
        linked = matrix > LINK_THRESHOLD
        rows.append(
            {"matrix": name, "within": within, "between": between,
             "linked_within": linked[same & off_diagonal].mean(), "linked_between": linked[~same].mean()}
        )  # fmt: skip
        panels[name] = matrix[np.ix_(order, order)]
    return Outcome(rows, {"panels": panels, "name": items.name})


def classification(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 9: leave-one-out accuracy by t; each source is smoothed, then they are averaged."""
    items = shapes(setting.data, setting.max_items)
    kernels = [kernel_of(items, [name]) for name in items.distances]
    spectra = [diffusion_spectrum(W) for W in kernels]
    model = SelfSmoothing(0).fuse(kernels, how="after")
    rows = []
    with progress_bar(len(setting.fractions), "classes", verbose) as bar:
        for t, similarity in model.sweep(setting.fractions):
            distances = np.mean([spectrum.distances(t) for spectrum in spectra], axis=0)
            similarity_by_distance = distances.max() - distances
            for method, matrix in (("SSO", similarity), ("diffusion maps", similarity_by_distance)):
                vote = SimilarityVoteClassifier(WINDOW, similarity="precomputed")
                # The real part of a fractional power may be negative, which is not a similarity.
                score = vote.fit(np.maximum(matrix, 0.0), items.classes).leave_one_out_score()
                rows.append({"method": method, "t": t, "accuracy": score})
            bar.update()
    return Outcome(rows, {"name": items.name})


def automatic_steps(setting: Setting, verbose: int = 0) -> Outcome:
    """Bull's eye score with t="auto" compared with the best t in hindsight."""
    rows = []
    for items, neighbors in _datasets(setting):
        W = kernel_of(items, list(items.distances), neighbors)
        model = SelfSmoothing(metric="similarity").fit(W)
        scores = {
            t: bulls_eye(similarity, items.classes) for t, similarity in model.sweep(setting.steps)
        }
        best = max(scores, key=scores.__getitem__)
        automatic = bulls_eye(model.similarity_, items.classes)
        rows.append(
            {"data": items.name, "input": scores[0], "best_t": best, "best": scores[best],
             "automatic_t": model.t_, "automatic": automatic, "shortfall": scores[best] - automatic}
        )  # fmt: skip
    return Outcome(rows, {})


def kernel_of(items: Items, names: list[str], neighbors: int = SHAPE_NEIGHBORS) -> np.ndarray:
    """Kernel (formula 1) of each source with k = 0.1, averaged."""
    return np.mean(
        [smoothing_kernel(items.distances[name], 0.1, n_neighbors=neighbors) for name in names], 0
    )


def affinity_propagation(similarity: np.ndarray) -> np.ndarray:
    """Clusters by scikit-learn's affinity propagation with defaults, which chooses their number."""
    import warnings

    from sklearn.cluster import AffinityPropagation
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = AffinityPropagation(affinity="precomputed", random_state=0).fit(similarity)
    return np.maximum(model.labels_, 0)


def _datasets(setting: Setting) -> list[tuple[Items, int]]:
    datasets = [
        (shapes(setting.data, setting.max_items), SHAPE_NEIGHBORS),
        (faces(setting.data, setting.max_items), FACE_NEIGHBORS),
    ]
    if datasets[0][0].name != "digits":
        datasets.append((digits(setting.max_items), SHAPE_NEIGHBORS))
    return datasets


def _diffusions(
    W: np.ndarray, steps: tuple[float, ...], verbose: int, coordinates: bool = False
) -> Iterator[tuple[str, float, np.ndarray]]:
    """W after each number of steps; then diffusion distances or diffusion maps at the same steps."""
    with progress_bar(2 * len(steps), "diffusion", verbose) as bar:
        for t, similarity in SelfSmoothing(0, metric="similarity").fit(W).sweep(steps):
            yield "SSO", t, similarity
            bar.update()
        spectrum = diffusion_spectrum(W)
        for t in steps:
            yield (
                "diffusion maps",
                t,
                spectrum.coordinates(t) if coordinates else -spectrum.distances(t),
            )
            bar.update()


def _rankings(W: np.ndarray, steps: tuple[int, ...]) -> Iterator[tuple[str, float, np.ndarray]]:
    """Scores of all items for every query, by methods that rank one query at a time."""
    affinity = sparse.csr_array(np.where(W > MIN_SIMILARITY, W, 0.0))
    all_items = np.arange(len(W))
    for alpha in (0.9, 0.99):
        model: Any = ManifoldRanking(alpha, graph="precomputed").fit(affinity)
        yield f"manifold ranking, alpha = {alpha:g}", 0, model.scores(all_items)
    walks = [stationary_distribution(affinity, DAMPING, landing=query) for query in np.eye(len(W))]
    yield f"PageRank, damping = {DAMPING:g}", 0, np.array(walks)
    for n_steps in steps:
        model = ManifoldRanking(n_steps=n_steps, graph="precomputed").fit(affinity)
        yield "label propagation", n_steps, model.scores(all_items)


def _agreement(
    data: str, method: str, t: float, y: np.ndarray, labels: np.ndarray
) -> dict[str, Any]:
    score = normalized_mutual_info(y, labels)
    return {"data": data, "method": method, "t": t, "nmi": score, "n_clusters": labels.max() + 1}
