"""Spanning trees from the definition, and point sets that are difficult in different ways."""

import numpy as np

DIMENSIONS = [1, 2, 3, 5, 20]
LAYOUTS = ["random", "grid", "duplicates", "collinear", "clustered"]


def make_points(layout, n, d, seed):
    rng = np.random.default_rng(seed)
    if layout == "grid":
        return rng.integers(0, 4, (n, d)).astype(float)
    if layout == "duplicates":
        return rng.standard_normal((max(1, n // 3), d))[rng.integers(0, max(1, n // 3), n)]
    if layout == "collinear":
        return np.outer(rng.integers(-50, 50, n), np.arange(1, d + 1)).astype(float)
    if layout == "clustered":
        centres = 100 * rng.standard_normal((3, d))
        return centres[rng.integers(0, 3, n)] + rng.standard_normal((n, d))
    return rng.standard_normal((n, d))


def squares_between(X):
    """Squared distances as plain sums in the order of the features."""
    total = np.zeros((len(X), len(X)))
    for column in X.T:
        total += (column[:, None] - column) ** 2
    return total


def kruskal(costs, n_trees=1):
    """Disjoint trees: sort all edges by (cost, i, j), run Kruskal's method without replacement."""
    n = len(costs)
    i, j = np.triu_indices(n, 1)
    edges = [(int(i[e]), int(j[e])) for e in np.lexsort((j, i, costs[i, j]))]
    trees = []
    for _ in range(n_trees):
        parent = list(range(n))

        def root(a, parent=parent):
            while parent[a] != a:
                a = parent[a]
            return a

        tree = []
        for a, b in edges:
            if root(a) != root(b):
                parent[root(a)] = root(b)
                tree.append((a, b))
        edges = [edge for edge in edges if edge not in set(tree)]
        trees.append(tree)
    return trees


def edge_set(graph):
    return {tuple(edge) for edge in graph.edges().tolist()}
