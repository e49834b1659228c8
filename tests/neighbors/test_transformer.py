"""`KNNTransformer` against scikit-learn's."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.manifold import Isomap as PeerIsomap
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline

from vicinal import KNNTransformer


@pytest.fixture
def points():
    return np.random.default_rng(0).random((60, 4))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_distances_are_those_of_scikit_learn(points, metric):
    ours = KNNTransformer(7, metric=metric)
    peer = KNeighborsTransformer(n_neighbors=7, metric=metric)
    X, new = points[:40], points[40:]
    for result, expected in [
        (ours.fit_transform(X), peer.fit_transform(X)),
        (ours.transform(X), peer.transform(X)),
        (ours.transform(new), peer.transform(new)),
    ]:
        assert result.shape == expected.shape
        assert result.nnz == expected.nnz == 8 * result.shape[0]
        np.testing.assert_allclose(result.toarray(), expected.toarray(), atol=1e-7)


def test_each_row_stores_the_point_itself_then_the_nearest_in_order(points):
    X = np.repeat(points[:20], 2, axis=0)
    embedding = KNNTransformer(5).fit_transform(X)
    assert isinstance(embedding, sparse.csr_matrix)
    assert (np.diff(embedding.indptr) == 6).all()
    np.testing.assert_array_equal(embedding.indices.reshape(40, 6)[:, 0], np.arange(40))
    distances = embedding.data.reshape(40, 6)
    assert (distances[:, :2] == 0).all()
    assert (np.diff(distances, axis=1) >= 0).all()


def test_column_names_and_pickling(points):
    ours = KNNTransformer(5).fit(points[:30])
    assert list(ours.get_feature_names_out())[:2] == ["knntransformer0", "knntransformer1"]
    again = pickle.loads(pickle.dumps(ours))
    assert (again.transform(points) != ours.transform(points)).nnz == 0


def test_distances_as_input(points):
    expected = KNNTransformer(5).fit_transform(points).toarray()
    given = KNNTransformer(5, metric="precomputed").fit_transform(cdist(points, points))
    np.testing.assert_allclose(given.toarray(), expected, atol=1e-12)


def test_it_replaces_the_transformer_of_scikit_learn_in_a_pipeline(points):
    ours = make_pipeline(KNNTransformer(8), PeerIsomap(n_neighbors=8, metric="precomputed"))
    peer = make_pipeline(
        KNeighborsTransformer(n_neighbors=8), PeerIsomap(n_neighbors=8, metric="precomputed")
    )
    expected = peer.fit_transform(points)
    embedding = ours.fit_transform(points)
    np.testing.assert_allclose(abs(embedding), abs(expected), atol=1e-6)
    np.testing.assert_allclose(
        abs(ours.transform(points[:9] + 0.01)), abs(peer.transform(points[:9] + 0.01)), atol=1e-6
    )


def test_more_neighbours_than_points_raise_an_error(points):
    with pytest.raises(ValueError, match="n_neighbors=60, but an integer from 1 to 59"):
        KNNTransformer(60).fit(points)


def test_scanpy_uses_it_as_its_own_search(points):
    scanpy = pytest.importorskip("scanpy")
    from anndata import AnnData

    ours, theirs = AnnData(points), AnnData(points)
    scanpy.pp.neighbors(ours, n_neighbors=10, use_rep="X", transformer=KNNTransformer(10))
    scanpy.pp.neighbors(theirs, n_neighbors=10, use_rep="X")
    np.testing.assert_allclose(
        ours.obsp["connectivities"].toarray(), theirs.obsp["connectivities"].toarray(), atol=1e-4
    )
