"""Similarity learned from the neighbourhood structure of data.

One road leads through the package, and each room of it can be entered directly:

- :mod:`vicinal.neighbors`: who is near,
- :mod:`vicinal.graphs`: which of them are connected (every function returns a :class:`Graph`),
- :mod:`vicinal.similarity`: how strongly,
- :mod:`vicinal.plot`: pictures of it; :mod:`vicinal.datasets`: points to try it on.
"""

from vicinal._lazy import attach

__version__ = "0.1.0.dev0"

__getattr__, __dir__, __all__ = attach(
    __name__,
    {"graphs.graph": ["Graph"]},
    submodules=["datasets", "graphs", "neighbors", "plot", "similarity"],
)
