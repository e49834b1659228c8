"""Full analysis of a table in one call, with an HTML report.

- `perceive`: run the whole analysis; returns a `Perception` with every table and array
- `audit`: check a data set for near-duplicates, outliers, doubtful labels and leakage; returns an `Audit`
- `explore`: the page of a result in the browser, served on this computer only
- `widget`: the same page as a notebook widget, whose selection Python can read and set
- `PerceptionModel`: the clusters of an analysis, saved and loaded, to which new rows can be assigned
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "pipeline": ["perceive"],
        "result": ["Perception"],
        "_audit.pipeline": ["audit"],
        "audit_result": ["Audit"],
        "model": ["PerceptionModel"],
        "assignment": ["Assignment"],
        "_explorer": ["Explorer", "explore"],
        "_widget": ["widget"],
    },
)
