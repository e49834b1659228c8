"""Everything at once: what is in a table, found, measured and shown on one page.

- `perceive`: the whole road on a table, as a `Perception` that holds every table and array
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__, {"pipeline": ["perceive"], "result": ["Perception"]}
)
