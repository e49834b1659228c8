"""Tools of scanpy on the results of `vicinal.tl`, where scanpy is installed."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from vicinal import tl


@pytest.mark.slow
def test_tools_of_scanpy_run_on_our_graph():
    sc = pytest.importorskip("scanpy")
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    classes = np.arange(300) % 3
    X = (6 * rng.normal(size=(3, 20))[classes] + rng.normal(size=(300, 20))).astype(np.float32)
    adata = anndata.AnnData(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sc.pp.pca(adata, n_comps=10)
        # Connected, which PAGA needs.
        tl.neighbors(adata, kind="disjoint_mst")
        tl.cluster(adata, 3, random_state=0)
        assert adjusted_rand_score(classes, adata.obs["vicinal"]) == 1.0
        sc.tl.diffmap(adata)
        assert np.isfinite(adata.obsm["X_diffmap"]).all()
        sc.tl.umap(adata, init_pos="random")
        assert np.isfinite(adata.obsm["X_umap"]).all()
        pytest.importorskip("igraph")
        sc.tl.leiden(adata, resolution=0.1, flavor="igraph", n_iterations=2, directed=False)
        sc.tl.paga(adata, groups="vicinal")
        assert adata.uns["paga"]["connectivities"].shape == (3, 3)
    # Clusters of the graph do not mix the classes.
    labels = adata.obs["leiden"].to_numpy()
    assert all(len(set(classes[labels == label])) == 1 for label in set(labels))
