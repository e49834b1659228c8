"""What the helpers read from an AnnData object and write into it."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.graphs.graph import Graph

ATTRIBUTES = ("X", "obs", "obsm", "obsp", "uns")


class AnnotatedData(Protocol):
    """What the helpers need of an AnnData object, whose package may be missing."""

    @property
    def X(self) -> Any: ...
    @property
    def obs(self) -> Any: ...
    @property
    def obsm(self) -> Any: ...
    @property
    def obsp(self) -> Any: ...
    @property
    def uns(self) -> Any: ...


Data = TypeVar("Data", bound=AnnotatedData)


def check_object(adata: Any, copy: bool) -> Any:
    """The object to change: the one that is given, or a copy."""
    missing = [name for name in ATTRIBUTES if not hasattr(adata, name)]
    if missing:
        raise InvalidTypeError(
            f"adata is a {type(adata).__name__}, but an AnnData object is needed, which has "
            f"{', '.join(ATTRIBUTES)}; wrap a table by anndata.AnnData(X)."
        )
    return adata.copy() if copy else adata


def check_key(key: Any, name: str) -> None:
    """Raise unless a key is a text that is not empty."""
    if not isinstance(key, str) or key == "":
        raise InvalidTypeError(f"{name}={key!r}, but a name is needed.")


def check_keys(**keys: Any) -> None:
    """`check_key` of those that are not None."""
    for name, key in keys.items():
        if key is not None:
            check_key(key, name)


def representation(adata: Any, use_rep: str | None) -> Any:
    """Coordinates of the cells: an entry of obsm, or X.

    By default principal components, if there are any, otherwise X.
    """
    if use_rep is None:
        use_rep = "X_pca" if "X_pca" in adata.obsm else "X"
    if use_rep == "X":
        return adata.X if sparse.issparse(adata.X) else np.asarray(adata.X)
    if use_rep not in adata.obsm:
        raise InvalidValueError(
            f"use_rep={use_rep!r} is not in adata.obsm, which has {sorted(adata.obsm)}; use one of these, or "
            "'X'."
        )
    return np.asarray(adata.obsm[use_rep])


def graph_or_points(adata: Any, use_rep: str | None, neighbors_key: str | None) -> Any:
    """The graph under a key, or the coordinates of the cells."""
    if neighbors_key is None:
        return representation(adata, use_rep)
    if use_rep is not None:
        raise InvalidValueError(
            f"use_rep={use_rep!r} and neighbors_key={neighbors_key!r} were both given; the graph under "
            "neighbors_key needs no coordinates, so pass one of them."
        )
    try:
        return Graph.from_anndata(adata, key=neighbors_key)
    except KeyError as error:
        raise InvalidValueError(
            f"neighbors_key={neighbors_key!r} is not a graph in adata: {error.args[0]!r} is missing. Write "
            "one with vicinal.tl.neighbors or scanpy.pp.neighbors."
        ) from error


def remember(adata: Any, key: str, params: dict[str, Any]) -> None:
    """Store the parameters of a result, as scanpy does. None cannot be written to a file and is left out."""
    known = {name: value for name, value in params.items() if value is not None}
    adata.uns[key] = {"params": known}
