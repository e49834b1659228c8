"""Graphs to and from AnnData objects, in the layout of scanpy: methods of `Graph`.

Node i is the i-th observation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal.exceptions import InvalidValueError
from vicinal.graphs._entries import first_asymmetric, merge, rows_of

if TYPE_CHECKING:
    from vicinal.graphs.graph import Graph
from vicinal.graphs._conversion import from_scipy, to_scipy


def to_anndata(self: Graph, adata: Any, key: str = "vicinal") -> None:
    """Write the graph into an AnnData object, in the layout of scanpy's neighbours.

    ``adata.obsp[f"{key}_distances"]`` gets the lengths, ``adata.obsp[f"{key}_connectivities"]`` the
    strengths and ``adata.uns[key]`` the names of both, so that scanpy's tools find the graph with
    ``neighbors_key=key``. Replace the strengths by `affinity` to weight edges by length.

    Parameters
    ----------
    adata : anndata.AnnData
        Object with one observation per node; it is modified in place.
    key : str, default="vicinal"
        Key in ``adata.uns``.
    """
    if adata.n_obs != self.n_nodes:
        raise InvalidValueError(
            f"adata has {adata.n_obs} observations, but the graph has {self.n_nodes} nodes."
        )
    names = {"distances_key": f"{key}_distances", "connectivities_key": f"{key}_connectivities"}
    # scanpy and older versions of anndata do not support sparse arrays.
    adata.obsp[names["distances_key"]] = sparse.csr_matrix(to_scipy(self, "lengths"))
    adata.obsp[names["connectivities_key"]] = sparse.csr_matrix(to_scipy(self, "strengths"))
    params = {"method": "vicinal", "metric": str(self.metric), "directed": self.directed}
    adata.uns[key] = {**names, "params": params}


def from_anndata(cls: type[Graph], adata: Any, key: str = "vicinal") -> Graph:
    """Read a graph that `to_anndata` or scanpy wrote into an AnnData object.

    Parameters
    ----------
    adata : anndata.AnnData
        Object to read.
    key : str, default="vicinal"
        Key in ``adata.uns``; ``scanpy.pp.neighbors`` uses "neighbors". scanpy stores the distance of
        an edge in one direction, its weight in both, and may omit zeros. So if weights are
        symmetric, the shorter of two lengths is used for both directions; a weight without a length
        gets length 0 (duplicates), and a length without a weight gets strength 0.

    Returns
    -------
    Graph
        One node per observation.
    """
    if key not in adata.uns:
        raise KeyError(
            f"key={key!r} is not in adata.uns, which has {sorted(adata.uns)}; write a graph with "
            "to_anndata, or pass key='neighbors' for a graph from scanpy."
        )
    layout = adata.uns[key]
    distances = adata.obsp[layout.get("distances_key", f"{key}_distances")]
    connectivities = adata.obsp[layout.get("connectivities_key", f"{key}_connectivities")]
    by_length = from_scipy(cls, distances, "lengths", directed=True)
    by_strength = from_scipy(cls, connectivities, "strengths", directed=True)
    directed = layout.get("params", {}).get("directed")
    if directed is None:
        directed = first_asymmetric(by_strength._csr) is not None
    if not directed:
        by_length, by_strength = by_length.symmetrize("union"), by_strength.symmetrize("union")
    rows = rows_of(by_length.indptr, np.int64), rows_of(by_strength.indptr, np.int64)
    # Any known length replaces infinity, any known strength replaces 0.
    entries, _ = merge(
        np.concatenate(rows),
        np.concatenate([by_length.indices, by_strength.indices]),
        np.concatenate([by_length.lengths, np.full(len(by_strength.lengths), np.inf)]),
        np.concatenate([np.zeros(len(by_length.lengths)), by_strength.strengths]),
        by_length.n_nodes,
    )
    entries.lengths[np.isinf(entries.lengths)] = 0.0
    return cls._of_entries(entries, bool(directed))
