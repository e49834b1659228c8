"""Results do not depend on the number of threads of matrix products, which differs within a dask worker."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from vicinal import (
    ClusterPreservingEmbedding,
    GraphClassifier,
    LaplacianEigenmaps,
    OutlierDetector,
    PerceptualClustering,
    PerceptualRanking,
    SpectralClustering,
    path_similarity,
)
from vicinal.datasets import make_half_cylinders

# From 10,000 entries on, threads share even the product of two vectors.
X, groups = make_half_cylinders(7000, 3500, random_state=0)
labels = np.full(len(X), -1)
labels[::1000] = groups[::1000]


def fitted(model, *results):
    model.fit(X)
    return [getattr(model, name) for name in results]


@pytest.mark.parametrize(
    "compute",
    [
        lambda: [path_similarity(X).sigma],
        lambda: fitted(ClusterPreservingEmbedding(random_state=0), "embedding_", "eigenvalues_"),
        lambda: (
            ClusterPreservingEmbedding(sigma=0.1, random_state=0)
            .fit(X[:4000])
            .transform(X[4000:4010])
        ),
        lambda: [PerceptualClustering(2, random_state=0).fit(X[:3000]).labels_],
        lambda: fitted(SpectralClustering(2, random_state=0), "labels_", "eigenvalues_"),
        lambda: [LaplacianEigenmaps(random_state=0).fit(X[:4000]).embedding_],
        lambda: GraphClassifier().fit(X, labels).predict_proba(X[:10]),
        lambda: [OutlierDetector().fit(X).outlier_score_],
        lambda: PerceptualRanking(alpha=0.9).fit(X[:4000]).rank([0, 3], 12),
        lambda: PerceptualRanking().fit(X[:600]).alpha_curve_,
    ],
    ids=[
        "sigma",
        "embedding",
        "new points",
        "perceptual",
        "spectral",
        "eigenmaps",
        "classifier",
        "outliers",
        "ranking",
        "alpha",
    ],
)
def test_threads_of_matrix_products_change_no_bit(compute):
    with threadpool_limits(1, user_api="blas"):
        expected = compute()
    with threadpool_limits(3, user_api="blas"):
        result = compute()
    for a, b in zip(result, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_warnings_of_such_fits_point_to_their_caller():
    apart = np.concatenate([X[:30], X[:30] + 1000])
    with pytest.warns(UserWarning, match="not fully connected") as caught:
        SpectralClustering(2).fit(apart)
    assert caught[0].filename == __file__
