"""
Maps that keep clusters apart
=============================

Two spirals, wound into each other. Principal components leave them as they are, and Isomap unrolls what
its graph joins, both spirals in one. Cluster preserving embedding asks only which points a dense path
connects: the first axis tells the spirals apart, the second what gaps are left within one. Laplacian
eigenmaps agree here; they need a graph for it, and the path-based similarity none.
"""

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA

import vicinal

X, arm = vicinal.datasets.make_spirals(1500, noise=0.015, random_state=0)
maps = {
    "PCA": PCA(2),
    "Isomap": vicinal.Isomap(n_components=2),
    "eigenmaps": vicinal.LaplacianEigenmaps(n_components=2),
    "cluster preserving, MDS": vicinal.ClusterPreservingEmbedding(method="mds"),
    "cluster preserving, Laplacian": vicinal.ClusterPreservingEmbedding(method="laplacian"),
}

figure, axes = plt.subplots(1, 5, figsize=(14, 3), layout="constrained")
for ax, (name, estimator) in zip(axes, maps.items(), strict=True):
    vicinal.plot.embedding(estimator.fit_transform(X), arm, ax=ax, legend=False)
    ax.set_title(name, fontsize=10)
    ax.set_aspect("auto")
    ax.set_xticks([])
    ax.set_yticks([])
plt.show()

# %%
# Behind it is a similarity: two points are as similar as the worst step of the best path between them.
# It holds one tree instead of all pairs, and tells the path.

similarity = vicinal.path_similarity(X)
start, end = (arm == 0).nonzero()[0][[0, -1]]
path = similarity.path(start, end)
figure, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
vicinal.plot.embedding(X, arm, ax=ax, legend=False)
ax.plot(*X[path].T, color="black", linewidth=1)
ax.set_title(f"the best path has {len(path) - 1} steps")
ax.set_axis_off()
plt.show()
