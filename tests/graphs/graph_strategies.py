"""Graphs drawn by hypothesis, and the form in which two of them are compared."""

import numpy as np
from hypothesis import strategies as st

from vicinal import Graph


def path(n=4, **options):
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return Graph.from_edges(n, edges, np.arange(1.0, n), **options)


@st.composite
def graphs(draw, n_nodes=None, directed=None):
    """Small graphs with few distinct values, so that ties and zeros are common."""
    n = draw(st.integers(1, 7)) if n_nodes is None else n_nodes
    directed = draw(st.booleans()) if directed is None else directed
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])
    edges = draw(st.lists(pair, max_size=15)) if n > 1 else []
    lengths = draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=15, max_size=15))
    strengths = draw(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=15, max_size=15))
    m = len(edges)
    return Graph.from_edges(n, edges, lengths[:m], strengths[:m], directed=directed)


@st.composite
def graph_triples(draw):
    n, directed = draw(st.integers(1, 7)), draw(st.booleans())
    return tuple(draw(graphs(n_nodes=n, directed=directed)) for _ in range(3))


def as_dict(graph):
    """{(i, j): (length, strength)} of the stored entries, read off row by row."""
    result = {}
    for i in range(graph.n_nodes):
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            assert (i, int(graph.indices[e])) not in result
            result[i, int(graph.indices[e])] = (graph.lengths[e], graph.strengths[e])
    return result
