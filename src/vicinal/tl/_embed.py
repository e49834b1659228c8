"""`embed`: coordinates of the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal.tl._objects import Data, check_keys, check_object, graph_or_points, remember

if TYPE_CHECKING:
    from vicinal._core.types import NJobs, RandomStateLike

METHODS = ("map", "diffusion", "eigenmaps")


@entry
def embed(
    adata: Data,
    n_components: int = 2,
    *,
    method: Literal["map", "diffusion", "eigenmaps"] = "map",
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    key_added: str | None = None,
    random_state: RandomStateLike = None,
    n_jobs: NJobs = -1,
    copy: bool = False,
) -> Data | None:
    """Embed the cells of an AnnData object, like ``scanpy.tl.umap`` and ``scanpy.tl.diffmap``.

    The coordinates are written to ``adata.obsm``, so ``scanpy.pl.embedding(adata, basis)`` draws them; the
    parameters are written to ``adata.uns``.

    Parameters
    ----------
    adata : anndata.AnnData
        Object with one observation per cell.
    n_components : int, default=2
        Number of coordinates.
    method : {"map", "diffusion", "eigenmaps"}, default="map"
        `vicinal.NeighborMap` (two coordinates), `vicinal.DiffusionMaps` or `vicinal.LaplacianEigenmaps`.
    use_rep : str, optional
        Key of ``adata.obsm``, or "X". By default "X_pca" if it is there, otherwise "X".
    neighbors_key : str, optional
        Key of ``adata.uns`` of a graph to embed instead of coordinates, for instance "neighbors".
    key_added : str, optional
        Key of ``adata.obsm``, by default "X_map", "X_diffusion" or "X_eigenmaps".
    random_state : int, RandomState or None, default=None
        Seed, as for the estimators.
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
    >>> tl.embed(adata, method="diffusion")
    >>> adata.obsm["X_diffusion"].shape
    (100, 2)
    """
    from vicinal import DiffusionMaps, LaplacianEigenmaps, NeighborMap

    check_choice(method, "method", METHODS)
    n_components = check_count(n_components, "n_components")
    check_keys(use_rep=use_rep, neighbors_key=neighbors_key, key_added=key_added)
    target = check_object(adata, copy)
    data = graph_or_points(target, use_rep, neighbors_key)
    estimators = {"map": NeighborMap, "diffusion": DiffusionMaps, "eigenmaps": LaplacianEigenmaps}
    model: Any = estimators[method](n_components, random_state=random_state, n_jobs=n_jobs)
    key = key_added or f"X_{method}"
    target.obsm[key] = np.asarray(model.fit(data).embedding_)
    params = {"method": method, "n_components": n_components, "use_rep": use_rep}
    remember(target, key.removeprefix("X_"), {**params, "neighbors_key": neighbors_key})
    return target if copy else None
