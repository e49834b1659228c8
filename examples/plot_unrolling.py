"""
Unrolling a sheet: nearest neighbours against disjoint trees
============================================================

Isomap measures distances along a graph. One shortcut between two turns of a rolled sheet is enough to
fold the map. How many neighbours are too many is not known beforehand; how many disjoint spanning
trees are too many matters much less.
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
# The colour is the position along the roll. A good map shows it as an even ramp.

figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
for ax, (name, graph) in zip(axes, graphs.items(), strict=True):
    isomap = vicinal.Isomap(n_components=2).fit(graph)
    ax.scatter(*isomap.embedding_.T, c=sheet[:, 0], s=4, cmap="viridis")
    ax.set_title(f"{name}\n{graph.n_edges:,} edges", fontsize=10)
    ax.set_aspect("equal")
    ax.set_axis_off()
plt.show()

# %%
# Lengths of paths tell the same in numbers: the true distances on the sheet are known here. The
# :doc:`study </proximity-graphs-study>` does this for whole ranges of parameters.

from scipy.spatial.distance import pdist, squareform  # noqa: E402

truth = squareform(pdist(sheet))
for name, graph in graphs.items():
    paths = vicinal.operators.shortest_paths(graph.connect())
    print(f"{name:18} mean error {vicinal.metrics.geodesic_error(truth, paths):.2f}")
