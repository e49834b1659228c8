"""Does context separate noise? Clustering and ranking by contextual distances, compared with peers.

1. Ten points: Euclidean and contextual distances (figure 3), spectral and perceptual embeddings
   (figure 4), and their digraph (figure 6).
2. Two half-cylinders in noise, in `contextual_noise`: clusters (figure 7), the embedding (figure 8),
   ranking (figure 11).
3. Handwritten digits 1, 2 and 3: clusters (figure 9), and digits near to and far from the origin
   (figure 10).
4. Faces: accuracy of ranking over alpha and K (figure 13).

After [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from studies.experiments import progress_bar
from studies.images import faces, handwritten
from vicinal import PerceptualClustering, PerceptualEmbedding, SpectralClustering, graphs
from vicinal.cluster import k_subspaces
from vicinal.datasets import two_clusters
from vicinal.graphs import contextual_distance
from vicinal.metrics import clustering_accuracy, normalized_mutual_info
from vicinal.neighbors import NeighborSearch
from vicinal.operators.eigenpairs import leading_eigenpairs, random_walk_eigenvectors
from vicinal.operators.laplacians import degrees
from vicinal.rank import ManifoldRanking, PerceptualRanking

SPECTRAL_METHODS: dict[str, Literal["njw", "ncut"]] = {"NJW": "njw", "normalised cut": "ncut"}
DESCRIPTORS: dict[str, Literal["coding_length", "centroid"]] = {
    "coding length": "coding_length",
    "centroid": "centroid",
}
# The point a of figure 3: the end of the line that is near the other cluster.
QUERY_POINT = 3
DIGIT_NEIGHBORS, FACE_NEIGHBORS = 15, 7
FACE_ALPHA, PEER_ALPHA = 0.9, 0.1
DIGITS = (1, 2, 3)


class Setting(NamedTuple):
    """Sizes and parameter grids of the experiments."""

    n_repeats: int
    n_points: int
    noise: tuple[int, ...]
    n_queries: int
    peer_alphas: tuple[float, ...]
    face_alphas: tuple[float, ...]
    face_neighbors: tuple[int, ...]
    max_images: int | None
    max_queries: int
    data: Path | None = None


FULL = Setting(
    n_repeats=5,
    n_points=800,
    noise=(400, 800, 1200, 1600),
    n_queries=50,
    peer_alphas=(0.1, 0.5, 0.9, 0.99, 0.999, 0.9999),
    face_alphas=(0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999),
    face_neighbors=(3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20),
    max_images=None,
    max_queries=500,
)
QUICK = FULL._replace(
    n_repeats=1,
    n_points=300,
    noise=(150, 300),
    n_queries=20,
    peer_alphas=(0.1, 0.9, 0.99),
    face_alphas=(0.1, 0.5, 0.9, 0.99),
    face_neighbors=(3, 5, 7, 10, 15),
    max_images=600,
    max_queries=100,
)


class Outcome(NamedTuple):
    """All measurements, and the arrays shown in the figure."""

    rows: list[dict[str, Any]]
    figure_data: dict[str, Any]


def distances_from_one(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 3: Euclidean and contextual distances from one point to all others."""
    X, labels = two_clusters()
    indices, distances = contextual_distance(X, len(X) - 1)
    contextual = np.empty(len(X))
    contextual[indices[QUERY_POINT]] = distances[QUERY_POINT]
    euclidean = np.linalg.norm(X - X[QUERY_POINT], axis=1)
    rows = [
        {
            "point": i,
            "cluster": "I" if labels[i] == 0 else "II",
            "euclidean": euclidean[i],
            "contextual": contextual[i],
        }
        for i in range(len(X))
        if i != QUERY_POINT
    ]
    return Outcome(rows, {"X": X, "labels": labels})


def embeddings_of_ten(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 4: second and third eigenvector of each method, and how well they separate the clusters."""
    X, labels = two_clusters()
    embeddings = spectral_embeddings(graphs.gaussian(X), 2)
    for name, descriptor in DESCRIPTORS.items():
        model = PerceptualEmbedding(2, n_neighbors=3, descriptor=descriptor, random_state=0)
        embeddings[f"perceptual, {name}"] = model.fit_transform(X)
    rows = []
    for method, Y in embeddings.items():
        line, compact = Y[labels == 0], Y[labels == 1]
        between = np.linalg.norm(line[:, None] - compact[None], axis=-1)
        within = np.linalg.norm(compact[:, None] - compact[None], axis=-1)
        steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
        values = np.linalg.svd(line - line.mean(axis=0), compute_uv=False)
        rows.append(
            {
                "method": method,
                "gap": between.min() / steps.max(),
                "width_of_II": within.max() / between.min(),
                "I_on_a_line": values[0] ** 2 / (values**2).sum(),
            }
        )
    return Outcome(rows, {"embeddings": embeddings, "labels": labels})


def digraph_of_ten(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 6: the digraph of two neighbours per point, with its weights."""
    X, labels = two_clusters()
    graph = graphs.contextual(X, 2)
    rows = [
        {"source": int(i), "target": int(j), "distance": length, "weight": weight}
        for (i, j), length, weight in zip(
            graph.edges(), graph.lengths, graph.strengths, strict=True
        )
    ]
    return Outcome(rows, {"X": X, "labels": labels, "graph": graph})


def digit_clusters(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 9: clusters and embeddings of handwritten digits."""
    from sklearn.cluster import KMeans

    images = handwritten(setting.data, DIGITS, setting.max_images)
    X, truth, c = images.points, images.classes, len(DIGITS)
    affinity = graphs.knn(X, DIGIT_NEIGHBORS)
    embeddings = {"NJW": spectral_embeddings(affinity, 3)["NJW"]}
    clusterings = {}
    for name, descriptor in DESCRIPTORS.items():
        common: dict[str, Any] = {
            "n_neighbors": DIGIT_NEIGHBORS,
            "descriptor": descriptor,
            "random_state": 0,
        }
        Y = PerceptualEmbedding(c, **common).fit_transform(X)
        embeddings[f"perceptual, {name}"] = Y
        clusterings[f"perceptual, {name}"] = (
            PerceptualClustering(c, noise=0.0, **common).fit(X).labels_
        )
        # Literally step 2 of the paper: c eigenvectors after the first.
        clusterings[f"perceptual, {name}, lines of figure 9"] = k_subspaces(Y, c, random_state=0)[0]
    for name, method in SPECTRAL_METHODS.items():
        with threadpool_limits(limits=1):  # k-means on few rows is faster with one thread
            clusterings[name] = (
                SpectralClustering(c, method=method, random_state=0).fit(affinity).labels_
            )
    clusterings["k-means"] = KMeans(c, n_init=10, random_state=0).fit_predict(X)
    rows = [
        {
            "method": method,
            "nmi": normalized_mutual_info(truth, labels),
            "accuracy": clustering_accuracy(truth, labels),
        }
        for method, labels in clusterings.items()
    ]
    return Outcome(rows, {"embeddings": embeddings, "truth": truth, "source": images.source})


def digits_by_norm(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 10: digits farthest from and nearest to the origin, and what distinguishes them."""
    images = handwritten(setting.data, DIGITS, setting.max_images)
    nearest = NeighborSearch(images.points).nearest(DIGIT_NEIGHBORS)
    same_class = (images.classes[nearest[0][:, 1:]] == images.classes[:, None]).mean(axis=1)
    mean_distance = nearest[1][:, 1:].mean(axis=1)
    rows, panels = [], {}
    for name, descriptor in DESCRIPTORS.items():
        model = PerceptualEmbedding(
            len(DIGITS), n_neighbors=DIGIT_NEIGHBORS, descriptor=descriptor, random_state=0
        )
        norms = np.linalg.norm(model.fit_transform(images.points), axis=1)
        for digit in DIGITS:
            members = np.flatnonzero(images.classes == digit)
            order = members[np.argsort(norms[members])]
            tenth = max(1, len(order) // 10)
            for side, group in (("far", order[: -tenth - 1 : -1]), ("near", order[:tenth])):
                rows.append(
                    {
                        "descriptor": name,
                        "digit": digit,
                        "from_origin": side,
                        "neighbors_of_same_class": same_class[group].mean(),
                        "neighbor_distance": mean_distance[group].mean(),
                    }
                )
                panels[name, digit, side] = images.pixels[group[:30]]
    return Outcome(rows, {"panels": panels, "source": images.source})


def face_ranking(setting: Setting, verbose: int = 0) -> Outcome:
    """Figure 13: fraction of the first images that show the person of the query, by alpha and by K.

    The number of images is that of a person without the query, at most 50.
    """
    images = faces(setting.data, setting.max_images)
    X, truth = images.points, images.classes
    n_first = min(50, int(np.bincount(truth)[np.unique(truth)].min()) - 1)
    queries = np.sort(np.random.default_rng(0).permutation(len(X))[: setting.max_queries])
    rows = []
    alphas = [(FACE_NEIGHBORS, alpha) for alpha in setting.face_alphas]
    neighbors = [(k, FACE_ALPHA) for k in setting.face_neighbors if k != FACE_NEIGHBORS]
    parameters = [pair for pair in dict.fromkeys([*alphas, *neighbors]) if pair[0] < len(X)]
    with progress_bar(len(parameters), "faces", verbose) as bar:
        for k, alpha in parameters:
            models: dict[str, Any] = {
                f"perceptual, {name}": PerceptualRanking(k, alpha=alpha, descriptor=descriptor)
                for name, descriptor in DESCRIPTORS.items()
            }
            models["Zhou"] = ManifoldRanking(alpha, graph_params={"n_neighbors": k})
            for method, model in models.items():
                ranked = model.fit(X).rank(queries, n_first)[0]
                accuracy = float((truth[ranked] == truth[queries][:, None]).mean())
                rows.append({"method": method, "K": k, "alpha": alpha, "accuracy": accuracy})
            bar.update()
    ranked = NeighborSearch(X).nearest(n_first)[0][queries, 1:]
    accuracy = float((truth[ranked] == truth[queries][:, None]).mean())
    rows.append({"method": "nearest", "K": 0, "alpha": 0.0, "accuracy": accuracy})
    return Outcome(rows, {"source": images.source, "n_first": n_first, "n_queries": len(queries)})


def spectral_embeddings(graph: Any, n_components: int) -> dict[str, np.ndarray]:
    """Eigenvectors of the affinity after the first, as in NJW and in the normalised cut."""
    affinity = graph.affinity()
    vectors = leading_eigenpairs(affinity, n_components + 1, random_state=0).vectors[:, 1:]
    return {"NJW": vectors, "normalised cut": random_walk_eigenvectors(vectors, degrees(affinity))}
