"""Rows that do not fit the rest.

- `OutlierDetector`: outlier scores, labels and a threshold, for training and new points
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
