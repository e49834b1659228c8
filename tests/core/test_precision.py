"""float32 in, float32 out; and the same as float64 to single precision."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from vicinal import (
    ClusterPreservingEmbedding,
    DiffusionMaps,
    GraphClassifier,
    Isomap,
    LaplacianEigenmaps,
    NeighborMap,
    PerceptualEmbedding,
    SelfSmoothing,
    graphs,
)

X, y = make_blobs(60, n_features=3, centers=1, random_state=0)
SINGLE = X.astype(np.float32)
EMBEDDINGS = [
    ClusterPreservingEmbedding(random_state=0),
    ClusterPreservingEmbedding(method="mds", random_state=0),
    DiffusionMaps(2, random_state=0),
    Isomap(2),
    LaplacianEigenmaps(2, random_state=0),
    NeighborMap(2, n_iter=20, random_state=0),
    PerceptualEmbedding(2, random_state=0),
]


@pytest.mark.parametrize("model", EMBEDDINGS, ids=lambda m: type(m).__name__)
def test_embeddings_preserve_float32(model):
    pandas = pytest.importorskip("pandas")
    double = model.fit_transform(SINGLE.astype(np.float64)).copy()
    assert double.dtype == np.float64
    single = model.fit_transform(SINGLE)
    assert single.dtype == model.embedding_.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-5 * np.abs(double).max())
    assert model.transform(SINGLE[:5]).dtype == np.float32
    assert model.transform(SINGLE[:5].astype(np.float64)).dtype == np.float64
    frame = pandas.DataFrame(SINGLE)
    assert model.fit_transform(frame).dtype == np.float32


def test_similarities_preserve_float32():
    double = SelfSmoothing(3).fit(SINGLE.astype(np.float64))
    single = SelfSmoothing(3).fit(SINGLE)
    assert single.similarity_.dtype == single.transform(SINGLE[:4]).dtype == np.float32
    assert double.similarity_.dtype == double.transform(X[:4]).dtype == np.float64
    np.testing.assert_allclose(single.similarity_, double.similarity_, atol=1e-6)


def test_graphs_and_estimators_keep_float32_points():
    assert graphs.knn(SINGLE, 5).points.dtype == np.float32
    model = GraphClassifier().fit(SINGLE, np.where(np.arange(60) % 6 == 0, np.arange(60) % 2, -1))
    assert model.graph_.points.dtype == np.float32
