"""Clusters, embeddings and neighbours in an AnnData object."""

from types import SimpleNamespace

import numpy as np

from vicinal import tl

from .. import inputs
from ..call import call
from ..expect import array, error, every, groups

FIELDS = ("obs", "obsm", "obsp", "uns")


def _cells():
    X = inputs.dense.make()
    return SimpleNamespace(
        X=X.astype(np.float32), obs={}, obsm={"X_pca": X}, obsp={}, uns={}, n_obs=len(X)
    )


def written(tool, n_jobs=None, **options):
    """What a tool writes into an object, and what it returns."""
    cells = _cells()
    returned = tool(cells, n_jobs=n_jobs, **options)
    return {"returned": returned} | {name: dict(getattr(cells, name)) for name in FIELDS}


def on_graph(tool, n_jobs=None, **options):
    """The same after `tl.neighbors`."""
    cells = _cells()
    tl.neighbors(cells, 60, n_jobs=n_jobs)
    tool(cells, neighbors_key="neighbors", n_jobs=n_jobs, random_state=0, **options)
    return {name: dict(getattr(cells, name)) for name in FIELDS}


def _three(key="vicinal"):
    return every({"obs": lambda obs: groups()(obs[key].codes)})


def _neighbors(prefix=""):
    square = array(90, 90)
    names = [f"{prefix}distances", f"{prefix}connectivities"]
    return every({"obsp": every(dict.fromkeys(names, square))})


def _map(method):
    return every({"obsm": every({f"X_{method}": array(90, 2)})})


TREES = {"kind": "disjoint_mst", "use_rep": "X", "key_added": "trees"}
CALLS = [
    call(written, tl.neighbors, expect=_neighbors()),
    call(written, tl.neighbors, **TREES, expect=_neighbors("trees_")),
    call(written, tl.neighbors, metric="cosine", n_neighbors=8, expect=_neighbors()),
    call(written, tl.cluster, n_clusters=3, random_state=0, expect=_three()),
    call(written, tl.cluster, random_state=0, key_added="own", expect=_three("own")),
    call(written, tl.cluster, n_clusters=3, method="perceptual", random_state=0, expect=_three()),
    *(
        call(written, tl.embed, method=method, random_state=0, expect=_map(method))
        for method in ("map", "diffusion", "eigenmaps")
    ),
    call(on_graph, tl.cluster, n_clusters=3, expect=_three()),
    call(on_graph, tl.embed, method="eigenmaps", expect=_map("eigenmaps")),
    call(tl.cluster, 3, expect=error("AnnData")),
    call(written, tl.neighbors, use_rep="nothing", expect=error("nothing")),
]
