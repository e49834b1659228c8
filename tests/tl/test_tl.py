"""Helpers for AnnData objects: keys and values as users of scanpy expect, without a need for anndata."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from vicinal import DiffusionMaps, Graph, SpectralClustering, graphs, tl
from vicinal.exceptions import InvalidTypeError, InvalidValueError


def cells(n=80, with_pca=True):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 12)).astype(np.float32)
    X[n // 2 :] += 5
    adata = SimpleNamespace(X=X, obs={}, obsm={}, obsp={}, uns={}, n_obs=n)
    if with_pca:
        adata.obsm["X_pca"] = X[:, :4].astype(np.float64)
    return adata


@pytest.fixture
def adata():
    return cells()


def test_neighbors_have_the_keys_and_values_of_scanpy(adata):
    assert tl.neighbors(adata, 8) is None
    expected = graphs.knn(adata.obsm["X_pca"], 7)
    assert adata.uns["neighbors"]["distances_key"] == "distances"
    np.testing.assert_array_equal(
        adata.obsp["distances"].toarray(), expected.to_scipy("lengths").toarray()
    )
    weights = adata.obsp["connectivities"]
    assert isinstance(weights, sparse.csr_matrix)
    np.testing.assert_allclose(weights.toarray(), expected.affinity(scale="local").toarray())
    tl.neighbors(adata, kind="disjoint_mst", use_rep="X", key_added="trees")
    assert set(adata.obsp) == {
        "distances",
        "connectivities",
        "trees_distances",
        "trees_connectivities",
    }
    graph = Graph.from_anndata(adata, key="trees")
    assert graph.n_edges == graphs.disjoint_mst(adata.X).n_edges


def test_clusters_are_a_categorical_column(adata):
    tl.cluster(adata, 2, random_state=0)
    expected = SpectralClustering(2, random_state=0).fit(adata.obsm["X_pca"]).labels_
    column = adata.obs["vicinal"]
    assert list(column.categories) == ["0", "1"]
    assert list(column) == [str(label) for label in expected]
    assert adata.uns["vicinal"]["params"] == {"method": "spectral", "n_clusters": "2"}


def test_graphs_under_a_key_are_clustered_and_embedded(adata):
    tl.neighbors(adata, 60)
    tl.cluster(adata, 2, neighbors_key="neighbors", key_added="by_graph")
    halves = np.asarray(adata.obs["by_graph"]).reshape(2, -1)
    assert all(len(set(half)) == 1 for half in halves.tolist())
    tl.embed(adata, neighbors_key="neighbors", method="eigenmaps", key_added="X_mine")
    assert adata.obsm["X_mine"].shape == (80, 2)
    assert adata.uns["mine"]["params"]["neighbors_key"] == "neighbors"


def test_perceptual_clusters_have_noise_scores(adata):
    tl.cluster(adata, 2, method="perceptual", random_state=0)
    assert adata.obs["vicinal_noise_score"].shape == (80,)


def test_coordinates_are_those_of_the_estimator(adata):
    tl.embed(adata, 3, method="diffusion", random_state=0)
    expected = DiffusionMaps(3, random_state=0).fit(adata.obsm["X_pca"]).embedding_
    np.testing.assert_array_equal(adata.obsm["X_diffusion"], expected)


def test_without_principal_components_the_counts_are_used():
    adata = cells(with_pca=False)
    tl.embed(adata, method="diffusion", random_state=0)
    expected = DiffusionMaps(2, random_state=0).fit(adata.X).embedding_
    np.testing.assert_allclose(adata.obsm["X_diffusion"], expected)


def test_an_anndata_object_keeps_the_results_in_a_file(tmp_path):
    anndata = pytest.importorskip("anndata")
    original = anndata.AnnData(cells().X)
    adata = tl.neighbors(original, copy=True)
    assert "neighbors" not in original.uns
    tl.cluster(adata, 2, random_state=0)
    tl.embed(adata, method="diffusion", random_state=0)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert (again.obs["vicinal"] == adata.obs["vicinal"]).all()
    assert again.uns["neighbors"]["params"]["n_neighbors"] == 15
    assert (again.obsp["distances"] != adata.obsp["distances"]).nnz == 0


def test_wrong_objects_and_keys_are_named(adata):
    with pytest.raises(InvalidTypeError, match="ndarray, but an AnnData object"):
        tl.neighbors(adata.X)
    with pytest.raises(InvalidValueError, match=r"use_rep='X_umap'.*X_pca"):
        tl.cluster(adata, use_rep="X_umap")
    with pytest.raises(InvalidValueError, match="both given"):
        tl.embed(adata, use_rep="X", neighbors_key="neighbors")
    with pytest.raises(InvalidValueError, match="perceptual"):
        tl.cluster(adata, method="perceptual", neighbors_key="neighbors")
    with pytest.raises(InvalidValueError, match="neighbors_key='neighbors' is not a graph"):
        tl.cluster(adata, neighbors_key="neighbors")
    with pytest.raises(InvalidValueError, match="n_neighbors"):
        tl.neighbors(adata, 1)
    with pytest.raises(InvalidValueError, match="method"):
        tl.embed(adata, method="umap")
