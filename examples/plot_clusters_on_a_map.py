"""
Embeddings that separate clusters
=================================

Two intertwined spirals. PCA does not separate them, and Isomap unrolls its graph, which connects both
spirals. Cluster preserving embedding depends only on which points are connected by dense paths: the first
axis separates the spirals, the second shows gaps within a spiral. Laplacian eigenmaps also separate them,
but need a graph; the path-based similarity does not.
"""

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA

import vicinal

X, arm = vicinal.datasets.make_spirals(1500, noise=0.015, random_state=0)
embeddings = {
    "PCA": PCA(2),
    "Isomap": vicinal.Isomap(n_components=2),
    "eigenmaps": vicinal.LaplacianEigenmaps(n_components=2),
    "cluster preserving, MDS": vicinal.ClusterPreservingEmbedding(method="mds"),
    "cluster preserving, Laplacian": vicinal.ClusterPreservingEmbedding(method="laplacian"),
}

figure, axes = plt.subplots(1, 5, figsize=(14, 3), layout="constrained")
for ax, (name, estimator) in zip(axes, embeddings.items(), strict=True):
    vicinal.plot.embedding(estimator.fit_transform(X), arm, ax=ax, legend=False)
    ax.set_title(name, fontsize=10)
    ax.set_aspect("auto")
    ax.set_xticks([])
    ax.set_yticks([])
plt.show()

# %%
# The embedding is based on a similarity: two points are as similar as the weakest edge of the best path
# between them. It stores one tree instead of all pairs, and can return the path.

similarity = vicinal.path_similarity(X)
start, end = (arm == 0).nonzero()[0][[0, -1]]
path = similarity.path(start, end)
figure, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
vicinal.plot.embedding(X, arm, ax=ax, legend=False)
ax.plot(*X[path].T, color="black", linewidth=1)
ax.set_title(f"best path ({len(path) - 1} edges)")
ax.set_axis_off()
plt.show()
