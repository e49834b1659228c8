"""Path-based similarities and cluster preserving embeddings: cases and contenders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from benchmarks.cases import Case
from benchmarks.contenders import Contender
from benchmarks.data import curves

K = 10
GIGABYTE = 1e9
MEASURE = "Rand index of k-means"
N_REFERENCE = 100_000
REFERENCE = "vicinal, 100,000 points"

PATHS = [
    *(
        # Literal formulas: Floyd-Warshall over all pairs, and all eigenvectors.
        Case(
            f"CPE-{name} n=3,000",
            f"cpe_{name}",
            3000,
            3,
            None,
            ("dense recipe",),
            ratio_to=("dense recipe", 1 / 100),
            points="helices",
            measure=MEASURE,
        )
        for name in ("lap", "mds")
    ),
    *(
        Case(
            f"CPE-{name} n=100,000",
            f"cpe_{name}",
            N_REFERENCE,
            3,
            None,
            (),
            max_seconds=15.0,
            points="helices",
            measure=MEASURE,
        )
        for name in ("lap", "mds")
    ),
    *(
        Case(
            f"CPE-{name} n=1,000,000",
            f"cpe_{name}",
            1_000_000,
            3,
            None,
            (REFERENCE,),
            max_seconds=240.0,
            ratio_to=(REFERENCE, 14.0),
            max_bytes=4 * GIGABYTE,
            points="helices",
            measure=MEASURE,
        )
        for name in ("lap", "mds")
    ),
    # The matrix of all pairs alone would take 3.2 GB.
    *(
        Case(
            f"CPE-lap n=20,000 D=784, {points}",
            "cpe_wide",
            20_000,
            784,
            None,
            (),
            max_seconds=180.0,
            max_bytes=2 * GIGABYTE,
            points=points,
            once=True,
        )
        for points in ("curved", "uniform")
    ),
]


def curve_facts(embedding: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Score of k-means in an embedding, and distances that are compared between embeddings."""
    from sklearn.cluster import KMeans

    from vicinal.metrics import rand_index

    truth = curves(len(X))[1][:: len(X) // len(embedding)]
    labels = KMeans(3, n_init=10, random_state=0).fit_predict(embedding)
    first, second = np.random.default_rng(2).integers(0, len(embedding), (2, 200))
    sketch = np.linalg.norm(embedding[first] - embedding[second], axis=1)
    return {"score": rand_index(truth, labels), "sketch": sketch.tolist()}


def score_facts(embedding: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Score of k-means on fewer points; their distances are in other units."""
    return {"score": curve_facts(embedding, X)["score"]}


def size_facts(embedding: np.ndarray, X: np.ndarray) -> dict[str, Any]:
    """Size of the result."""
    return {"output_bytes": embedding.nbytes}


def _every_tenth(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(X[:: max(1, len(X) // N_REFERENCE)])


def _vicinal(method: Literal["laplacian", "mds"]) -> Callable[[np.ndarray], np.ndarray]:
    def run(X: np.ndarray) -> np.ndarray:
        from vicinal import ClusterPreservingEmbedding

        return ClusterPreservingEmbedding(
            method=method, n_neighbors=K, random_state=0
        ).fit_transform(X)

    return run


def _with_sigma(X: np.ndarray) -> tuple[np.ndarray, float]:
    from vicinal import path_similarity

    # The paper does not say how to choose sigma, so the dense recipe uses that of vicinal.
    return X, path_similarity(X, n_neighbors=K).sigma


def _dense(method: str) -> Callable[[tuple[np.ndarray, float]], np.ndarray]:
    def run(inputs: tuple[np.ndarray, float]) -> np.ndarray:
        from scipy.linalg import eigh

        S = _all_pairs(*inputs)
        if method == "laplacian":
            roots = np.sqrt(S.sum(axis=1))
            vectors = eigh(S / np.outer(roots, roots))[1]
            return vectors[:, -2:-4:-1] / roots[:, None]
        dissimilarity = np.diag(S)[:, None] - 2 * S + np.diag(S)
        inner = -0.5 * (dissimilarity - dissimilarity.mean(axis=0))
        inner -= inner.mean(axis=1, keepdims=True)
        values, vectors = eigh(inner)
        return vectors[:, :-3:-1] * np.sqrt(values[:-3:-1])

    return run


def _all_pairs(X: np.ndarray, sigma: float) -> np.ndarray:
    """Literal formulas (1) to (4), relative to the largest similarity."""
    from scipy.spatial.distance import cdist

    squares = cdist(X, X, "sqeuclidean")
    w = np.exp(-squares / (2 * sigma**2))
    nearest = np.partition(squares, K, axis=1)[:, : K + 1]
    weights = np.exp(-nearest / (2 * sigma**2)).sum(axis=1) - 1.0  # without the point itself
    weights /= weights.max()
    w *= weights[:, None] * weights
    np.fill_diagonal(w, 0.0)
    for k in range(len(w)):
        np.maximum(w, np.minimum(w[:, k, None], w[None, k]), out=w)
    np.fill_diagonal(w, 0.0)
    w /= w.max()
    np.fill_diagonal(w, 1.0)
    return w


METHODS: dict[str, Literal["laplacian", "mds"]] = {"lap": "laplacian", "mds": "mds"}
CONTENDERS: dict[str, dict[str, Contender]] = {
    f"cpe_{name}": {
        "vicinal": Contender("vicinal", _vicinal(method), curve_facts),
        REFERENCE: Contender("vicinal", _vicinal(method), score_facts, prepare=_every_tenth),
        "dense recipe": Contender("scipy", _dense(method), curve_facts, prepare=_with_sigma),
    }
    for name, method in METHODS.items()
} | {"cpe_wide": {"vicinal": Contender("vicinal", _vicinal("laplacian"), size_facts)}}
