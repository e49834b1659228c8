"""Tables of other libraries: the same results as their arrays, or a clear error at once."""

import numpy as np
import pytest

from vicinal import (
    GraphClassifier,
    LaplacianEigenmaps,
    PerceptualClustering,
    SelfSmoothing,
    graphs,
    perceive,
)
from vicinal.neighbors import NeighborSearch

X = np.random.default_rng(0).normal(size=(40, 3))
NAMES = ["width", "height", "depth"]


def pyarrow_table():
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table(dict(zip(NAMES, X.T, strict=True)))


def polars_frame():
    polars = pytest.importorskip("polars")
    return polars.DataFrame(dict(zip(NAMES, X.T, strict=True)))


@pytest.mark.parametrize("make", [pyarrow_table, polars_frame])
def test_tables_of_other_libraries_give_what_their_arrays_give(make):
    table = make()
    graph = graphs.knn(table, 5)
    assert (graph.edges() == graphs.knn(X, 5).edges()).all()
    np.testing.assert_array_equal(graph.points, X)
    assert (graphs.mst(table).edges() == graphs.mst(X).edges()).all()
    result = NeighborSearch(table).nearest(3, queries=table)
    np.testing.assert_array_equal(result[0], NeighborSearch(X).nearest(3, queries=X)[0])
    model = LaplacianEigenmaps(2, random_state=0).fit(table)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.transform(table), model.transform(table.to_pandas()))
    similarity = SelfSmoothing(2).fit(table).similarity_
    np.testing.assert_array_equal(similarity, SelfSmoothing(2).fit(X).similarity_)
    y = np.where(np.arange(40) % 4 == 0, np.arange(40) % 8 // 4, -1)
    classes = GraphClassifier().fit(table, y).transduction_
    assert (classes == GraphClassifier().fit(X, y).transduction_).all()


@pytest.mark.parametrize("make", [pyarrow_table, polars_frame])
def test_perceive_reads_tables_of_other_libraries_with_the_names_of_their_columns(make):
    from vicinal.report._preprocessing import prepare, raw_table

    source = prepare(raw_table(make(), "depth", None, None), "none")
    assert source.names == NAMES[:2]
    np.testing.assert_array_equal(source.points, X[:, :2])
    assert len(set(source.labels)) == len(np.unique(X[:, 2]))


@pytest.mark.parametrize(
    "call",
    [
        graphs.knn,
        graphs.mst,
        NeighborSearch,
        lambda X: PerceptualClustering(2).fit(X),
        lambda X: GraphClassifier().fit(X, np.arange(40) % 2),
        lambda X: SelfSmoothing().fit(X),
        perceive,
    ],
)
def test_an_anndata_object_is_rejected_with_what_to_give_instead(call):
    anndata = pytest.importorskip("anndata")
    with pytest.raises(TypeError, match=r"X is an AnnData object.*X\.X or X\.obsm\['X_pca'\]"):
        call(anndata.AnnData(X))
