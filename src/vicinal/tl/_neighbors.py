"""`neighbors`: a graph of the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from scipy import sparse

from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal.graphs.graph import Graph
from vicinal.tl._objects import Data, check_keys, check_object, representation

if TYPE_CHECKING:
    from vicinal._core.types import MetricLike, NJobs

KINDS = ("knn", "disjoint_mst", "perturbed_mst")


@entry
def neighbors(
    adata: Data,
    n_neighbors: int = 15,
    *,
    kind: Literal["knn", "disjoint_mst", "perturbed_mst"] = "knn",
    use_rep: str | None = None,
    metric: MetricLike = "euclidean",
    key_added: str | None = None,
    n_jobs: NJobs = -1,
    copy: bool = False,
) -> Data | None:
    """Write a graph of the cells into an AnnData object, like ``scanpy.pp.neighbors``.

    ``adata.obsp["distances"]`` gets the lengths of the edges, ``adata.obsp["connectivities"]`` Gaussian
    affinities with local scales, and ``adata.uns["neighbors"]`` the names of both, so that scanpy's tools use
    the graph.

    Parameters
    ----------
    adata : anndata.AnnData
        Object with one observation per cell.
    n_neighbors : int, default=15
        Number of neighbours of a cell, itself included as in scanpy. Ignored by trees.
    kind : {"knn", "disjoint_mst", "perturbed_mst"}, default="knn"
        The graph: nearest neighbours, or an ensemble of spanning trees.
    use_rep : str, optional
        Key of ``adata.obsm``, or "X". By default "X_pca" if it is there, otherwise "X".
    metric : str or callable, default="euclidean"
        Metric, as for `vicinal.graphs.knn`.
    key_added : str, optional
        Key of ``adata.uns`` and prefix of the keys of ``adata.obsp``, as in scanpy.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.
    copy : bool, default=False
        Whether to return a changed copy.

    Returns
    -------
    anndata.AnnData or None
        The copy; None if the object itself was changed.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from vicinal import tl
    >>> adata = anndata.AnnData(np.random.default_rng(0).normal(size=(100, 5)))
    >>> tl.neighbors(adata)
    >>> sorted(adata.obsp), adata.uns["neighbors"]["connectivities_key"]
    (['connectivities', 'distances'], 'connectivities')
    """
    from vicinal import graphs

    check_choice(kind, "kind", KINDS)
    n_neighbors = check_count(n_neighbors, "n_neighbors", low=2, remedy="The cell itself counts.")
    check_keys(use_rep=use_rep, key_added=key_added)
    target = check_object(adata, copy)
    points = representation(target, use_rep)
    graph: Graph
    if kind == "knn":
        graph = graphs.knn(points, n_neighbors - 1, metric=metric, n_jobs=n_jobs)
    else:
        graph = getattr(graphs, kind)(points, metric=metric, n_jobs=n_jobs)
    key = key_added or "neighbors"
    prefix = f"{key_added}_" if key_added else ""
    names = {"distances_key": f"{prefix}distances", "connectivities_key": f"{prefix}connectivities"}
    # scanpy and older versions of anndata do not support sparse arrays.
    target.obsp[names["distances_key"]] = sparse.csr_matrix(graph.to_scipy("lengths"))
    target.obsp[names["connectivities_key"]] = sparse.csr_matrix(graph.affinity(scale="local"))
    params = {"method": f"vicinal {kind}", "n_neighbors": n_neighbors, "metric": str(metric)}
    if use_rep is not None:
        params["use_rep"] = use_rep
    target.uns[key] = {**names, "params": {**params, "directed": False}}
    return target if copy else None
