"""Full analysis of a table in one call, with an HTML report.

- `perceive`: run the whole analysis; returns a `Perception` with every table and array
- `PerceptionModel`: the clusters of an analysis, saved and loaded, to which new rows can be assigned
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "pipeline": ["perceive"],
        "result": ["Perception"],
        "model": ["PerceptionModel"],
        "assignment": ["Assignment"],
    },
)
