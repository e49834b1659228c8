"""
Unrolling a sheet: nearest neighbours or disjoint trees?
========================================================

Isomap measures distances along a graph. A single shortcut between two turns of a rolled sheet is enough to
distort the embedding. The number of neighbours that avoids shortcuts is not known beforehand; the number of
disjoint spanning trees matters much less.
"""

import matplotlib.pyplot as plt

import vicinal

X, sheet = vicinal.datasets.make_swiss_roll(1500, noise=0.5, random_state=0)
graphs = {
    "knn, k = 6": vicinal.graphs.knn(X, n_neighbors=6),
    "knn, k = 15": vicinal.graphs.knn(X, n_neighbors=15),
    "disjoint trees, 4": vicinal.graphs.disjoint_mst(X, n_trees=4),
    "disjoint trees, 8": vicinal.graphs.disjoint_mst(X, n_trees=8),
}

# %%
# Colour shows the position along the roll. In a good embedding it changes evenly.

figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
for ax, (name, graph) in zip(axes, graphs.items(), strict=True):
    isomap = vicinal.Isomap(n_components=2).fit(graph)
    ax.scatter(*isomap.embedding_.T, c=sheet[:, 0], s=4, cmap="viridis")
    ax.set_title(f"{name}\n{graph.n_edges:,} edges", fontsize=10)
    ax.set_aspect("equal")
    ax.set_axis_off()
plt.show()

# %%
# Path lengths confirm this, because the true distances on the sheet are known here. The
# :doc:`study </proximity-graphs-study>` does the same for whole ranges of parameters.

from scipy.spatial.distance import pdist, squareform  # noqa: E402

truth = squareform(pdist(sheet))
for name, graph in graphs.items():
    paths = vicinal.operators.shortest_paths(graph.connect())
    print(f"{name:18} mean error {vicinal.metrics.geodesic_error(truth, paths):.2f}")
