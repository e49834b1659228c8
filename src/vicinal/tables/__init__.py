"""Tables of any columns as points: numbers, categories, dates and missing values in one distance.

- `TableEncoder`: kinds of columns, their weights, and points whose distances compare all of them
- `fill_missing`: missing numbers from the nearest rows
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
