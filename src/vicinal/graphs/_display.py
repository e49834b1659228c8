"""Representations of a `Graph`: one line of text, and a small table in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vicinal.graphs.graph import Graph


def as_text(graph: Graph) -> str:
    counts = [
        _count(graph.n_nodes, "node"),
        _count(graph.n_edges, "edge"),
        "directed" if graph.directed else "undirected",
        _count(graph.n_components, "component"),
        _count(graph.n_isolates, "isolate"),
    ]
    return f"Graph({', '.join(counts)})"


def as_html(graph: Graph) -> str:
    degrees = graph.degrees
    rows = {
        "nodes": f"{graph.n_nodes:,}",
        "edges": f"{graph.n_edges:,}, {'directed' if graph.directed else 'undirected'}",
        "components": f"{graph.n_components:,}",
        "isolates": f"{graph.n_isolates:,}",
    }
    if graph.n_nodes:
        rows["degree"] = f"{degrees.min()} to {degrees.max()}, median {np.median(degrees):g}"
    if len(graph.lengths):
        rows["length"] = _range(graph.lengths)
        rows["strength"] = _range(graph.strengths)
    body = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows.items())
    return f"<table><caption>Graph</caption><tbody>{body}</tbody></table>"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _range(values: np.ndarray) -> str:
    return f"{values.min():.4g} to {values.max():.4g}, median {np.median(values):.4g}"
