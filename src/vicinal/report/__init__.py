"""Full analysis of a table in one call, with an HTML report.

- `perceive`: run the whole analysis; returns a `Perception` with every table and array
- `audit`: check a data set for near-duplicates, outliers, doubtful labels and leakage; returns an `Audit`
- `explore`: the page of a result in the browser, served on this computer only
- `PerceptionModel`: the clusters of an analysis, saved and loaded, to which new rows can be assigned
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
