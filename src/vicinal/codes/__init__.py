"""Sparse codes: each point as a sparse combination of others, and the resulting graphs.

- `l1`: over all other points
- `structure_aware_l1`: over dictionaries that follow the structure of the data
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
