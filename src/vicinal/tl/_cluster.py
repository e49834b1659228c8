"""`cluster`: clusters of the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from vicinal._core.options import entry
from vicinal._core.scalar_checks import check_choice
from vicinal.exceptions import InvalidValueError
from vicinal.tl._objects import Data, check_key, check_keys, check_object, graph_or_points, remember

if TYPE_CHECKING:
    from vicinal._core.types import NJobs, RandomStateLike

METHODS = ("spectral", "perceptual")


@entry
def cluster(
    adata: Data,
    n_clusters: int | Literal["auto"] = "auto",
    *,
    method: Literal["spectral", "perceptual"] = "spectral",
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    key_added: str = "vicinal",
    random_state: RandomStateLike = None,
    n_jobs: NJobs = -1,
    copy: bool = False,
) -> Data | None:
    """Cluster the cells of an AnnData object, like ``scanpy.tl.leiden``.

    ``adata.obs[key_added]`` gets the labels as a categorical column of strings; noise is "-1".
    ``adata.uns[key_added]`` gets the parameters.

    Parameters
    ----------
    adata : anndata.AnnData
        Object with one observation per cell.
    n_clusters : int or "auto", default="auto"
        Number of clusters; "auto" reads it off the data.
    method : {"spectral", "perceptual"}, default="spectral"
        `vicinal.SpectralClustering`, or `vicinal.PerceptualClustering`, which also finds noise such as
        debris; its scores are written to ``adata.obs[f"{key_added}_noise_score"]``.
    use_rep : str, optional
        Key of ``adata.obsm``, or "X". By default "X_pca" if it is there, otherwise "X".
    neighbors_key : str, optional
        Key of ``adata.uns`` of a graph to cluster instead of coordinates, for instance "neighbors"; only
        with "spectral".
    key_added : str, default="vicinal"
        Name of the column.
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
    >>> counts = np.random.default_rng(0).normal(size=(100, 5))
    >>> counts[50:] += 6
    >>> adata = anndata.AnnData(counts)
    >>> tl.cluster(adata)
    >>> adata.obs["vicinal"].value_counts().tolist()
    [50, 50]
    """
    import pandas as pd

    from vicinal import PerceptualClustering, SpectralClustering

    check_choice(method, "method", METHODS)
    if method == "perceptual" and neighbors_key is not None:
        raise InvalidValueError(
            f"neighbors_key={neighbors_key!r} with method='perceptual', which needs coordinates; pass "
            "use_rep, or use method='spectral'."
        )
    check_keys(use_rep=use_rep, neighbors_key=neighbors_key)
    check_key(key_added, "key_added")
    target = check_object(adata, copy)
    data = graph_or_points(target, use_rep, neighbors_key)
    estimator = SpectralClustering if method == "spectral" else PerceptualClustering
    model: Any = estimator(n_clusters, random_state=random_state, n_jobs=n_jobs).fit(data)
    labels = np.asarray(model.labels_)
    categories = [str(label) for label in np.unique(labels)]
    target.obs[key_added] = pd.Categorical([str(label) for label in labels], categories)
    if method == "perceptual":
        target.obs[f"{key_added}_noise_score"] = np.asarray(model.noise_score_)
    params = {"method": method, "n_clusters": str(n_clusters), "use_rep": use_rep}
    remember(target, key_added, {**params, "neighbors_key": neighbors_key})
    return target if copy else None
