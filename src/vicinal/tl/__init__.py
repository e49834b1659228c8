"""Helpers for AnnData objects, with the keys that users of scanpy expect.

- `neighbors`: any graph of vicinal in place of ``scanpy.pp.neighbors``
- `cluster`: clusters of the cells in ``adata.obs``
- `embed`: coordinates of the cells in ``adata.obsm``

Each function changes the object that it is given, or a copy on request. They do not import anndata.
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
