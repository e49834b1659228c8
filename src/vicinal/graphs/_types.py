"""Type aliases of signatures that take graphs. Import them under ``TYPE_CHECKING``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from vicinal.graphs.graph import Graph

# The name of a graph builder, a builder, or a graph.
GraphLike: TypeAlias = str | Callable[..., Graph] | Graph
