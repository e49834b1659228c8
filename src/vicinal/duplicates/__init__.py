"""Rows that are almost equal.

- `near_duplicates`: all pairs of rows within a distance that is read off the data, and their groups
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
