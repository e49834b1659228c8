"""Clustering, embedding, classification and segmentation, including the graph: cases and contenders.

A result has a ``score`` (higher is better), because libraries do not give identical labels; where they
should (Isomap), a ``sketch`` of the result is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.contenders import Contender
from benchmarks.data import N_CLASSES, N_SEGMENTS, classes, photo_segments, sheet

K = 10
LABELS_PER_CLASS = 10
LANDMARKS = 300
SOLVERS = ("scikit-learn lobpcg", "scikit-learn amg")
GIGABYTE = 1e9

TASKS = [
    Case(
        "spectral clustering",
        "spectral_clustering",
        100_000,
        16,
        None,
        SOLVERS,
        max_ratio=1 / 2,
        points="blobs",
        measure="normalised mutual information",
    ),
    Case(
        "isomap",
        "isomap",
        10_000,
        3,
        None,
        ("scikit-learn",),
        max_ratio=1 / 3,
        points="roll",
        measure="variance explained",
    ),
    Case(
        "isomap with landmarks",
        "landmark_isomap",
        100_000,
        3,
        None,
        (),
        points="roll",
        max_bytes=4 * GIGABYTE,
        measure="variance explained",
    ),
    Case(
        "graph classifier",
        "classifier",
        100_000,
        16,
        None,
        ("scikit-learn LabelSpreading",),
        max_ratio=1 / 1.5,
        points="blobs",
        measure="accuracy",
    ),
    Case(
        "graph classifier, second labelling",
        "classifier_again",
        100_000,
        16,
        None,
        ("scikit-learn LabelSpreading",),
        max_ratio=1 / 10,
        points="blobs",
        measure="accuracy",
    ),
    Case(
        "image 481 x 321",
        "segment",
        481 * 321,
        3,
        None,
        ("scikit-learn amg",),
        max_ratio=1.0,
        max_bytes=2 * GIGABYTE,
        points="photo",
        measure="accuracy",
    ),
    Case(
        "image of 1 megapixel",
        "segment",
        1_000_000,
        3,
        None,
        ("scikit-learn amg",),
        max_seconds=10.0,
        max_bytes=4 * GIGABYTE,
        points="photo",
        measure="accuracy",
    ),
]


# Facts about results


def cluster_facts(labels: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Mutual information with the true clusters."""
    from vicinal.metrics import normalized_mutual_info

    return {"score": normalized_mutual_info(classes(len(X)), labels)}


def class_facts(labels: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Fraction of the unlabelled points with the correct class."""
    truth = classes(len(X))
    hidden = partial_labels(len(X)) < 0
    return {"score": float(np.mean(labels[hidden] == truth[hidden]))}


def embedding_facts(embedding: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Variance of the true distances that is explained by those of the embedding, on a sample."""
    first, second = np.random.default_rng(2).integers(0, len(X), (2, 5000))
    flat = sheet(len(X))
    true_distances = np.linalg.norm(flat[first] - flat[second], axis=1)
    embedded_distances = np.linalg.norm(embedding[first] - embedding[second], axis=1)
    # Distances do not depend on the rotation of an embedding.
    return {
        "score": float(np.corrcoef(true_distances, embedded_distances)[0, 1] ** 2),
        "sketch": embedded_distances[:200].tolist(),
    }


def segment_facts(labels: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Fraction of the pixels in the correct segment."""
    from vicinal.metrics import clustering_accuracy

    truth = photo_segments(*X.shape[:2])
    return {"score": clustering_accuracy(truth.ravel(), labels.ravel())}


def partial_labels(n: int, seed: int = 3) -> np.ndarray:
    """A few labels of each class of `blobs`, -1 elsewhere."""
    truth = classes(n)
    rng = np.random.default_rng(seed)
    labels = np.full(n, -1)
    for c in range(N_CLASSES):
        labelled = rng.choice(np.flatnonzero(truth == c), LABELS_PER_CLASS, replace=False)
        labels[labelled] = c
    return labels


# vicinal


def _cluster(X: np.ndarray) -> np.ndarray:
    from vicinal import SpectralClustering

    return SpectralClustering(
        N_CLASSES, graph_params={"n_neighbors": K}, random_state=0
    ).fit_predict(X)


def _isomap(n_landmarks: int | None) -> Callable[[np.ndarray], np.ndarray]:
    def run(X: np.ndarray) -> np.ndarray:
        from vicinal import Isomap

        model = Isomap(2, n_landmarks=n_landmarks, graph_params={"n_neighbors": K})
        return model.fit(X).embedding_

    return run


def _classify(X: np.ndarray) -> np.ndarray:
    from vicinal import GraphClassifier

    model = GraphClassifier(graph_params={"n_neighbors": K})
    return model.fit(X, partial_labels(len(X))).transduction_


def _graph_of(X: np.ndarray) -> Any:
    from vicinal import graphs

    return graphs.knn(X, K)


def _classify_graph(graph: Any) -> np.ndarray:
    from vicinal import GraphClassifier

    model = GraphClassifier(graph="precomputed")
    return model.fit(graph, partial_labels(graph.n_nodes)).transduction_


def _segment(image: np.ndarray) -> np.ndarray:
    from vicinal import segment

    return segment(image, N_SEGMENTS, random_state=0)


# scikit-learn


def _sklearn_cluster(solver: str) -> Callable[[np.ndarray], np.ndarray]:
    def run(X: np.ndarray) -> np.ndarray:
        from sklearn.cluster import SpectralClustering

        model = SpectralClustering(
            N_CLASSES,
            affinity="nearest_neighbors",
            n_neighbors=K,
            eigen_solver=solver,
            random_state=0,
            n_jobs=-1,
        )
        return model.fit_predict(X)

    return run


def _sklearn_isomap(X: np.ndarray) -> np.ndarray:
    from sklearn.manifold import Isomap

    return Isomap(n_neighbors=K, n_components=2, n_jobs=-1).fit_transform(X)


def _sklearn_spreading(X: np.ndarray) -> np.ndarray:
    from sklearn.semi_supervised import LabelSpreading

    model = LabelSpreading(kernel="knn", n_neighbors=K, n_jobs=-1)
    return model.fit(X, partial_labels(len(X))).transduction_


def _sklearn_segment(image: np.ndarray) -> np.ndarray:
    from sklearn.cluster import spectral_clustering
    from sklearn.feature_extraction.image import img_to_graph

    # As in its documentation: grid edges weighted by grey level differences, with a manual scale.
    edges = img_to_graph(image.mean(axis=2))
    edges.data = np.exp(-edges.data / edges.data.std()) + 1e-6
    return spectral_clustering(
        edges,
        n_clusters=N_SEGMENTS,
        eigen_solver="amg",
        assign_labels="discretize",
        random_state=0,
    )


CONTENDERS: dict[str, dict[str, Contender]] = {
    "spectral_clustering": {
        "vicinal": Contender("vicinal", _cluster, cluster_facts),
        "scikit-learn lobpcg": Contender("sklearn", _sklearn_cluster("lobpcg"), cluster_facts),
        "scikit-learn amg": Contender("pyamg", _sklearn_cluster("amg"), cluster_facts),
    },
    "isomap": {
        "vicinal": Contender("vicinal", _isomap(None), embedding_facts),
        "scikit-learn": Contender("sklearn", _sklearn_isomap, embedding_facts),
    },
    "landmark_isomap": {"vicinal": Contender("vicinal", _isomap(LANDMARKS), embedding_facts)},
    "classifier": {
        "vicinal": Contender("vicinal", _classify, class_facts),
        "scikit-learn LabelSpreading": Contender("sklearn", _sklearn_spreading, class_facts),
    },
    # scikit-learn cannot reuse the graph: a second labelling is a second fit.
    "classifier_again": {
        "vicinal": Contender("vicinal", _classify_graph, class_facts, prepare=_graph_of),
        "scikit-learn LabelSpreading": Contender("sklearn", _sklearn_spreading, class_facts),
    },
    "segment": {
        "vicinal": Contender("vicinal", _segment, segment_facts),
        "scikit-learn amg": Contender("pyamg", _sklearn_segment, segment_facts),
    },
}
