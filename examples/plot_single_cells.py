"""
Cell types in single-cell counts
================================

Counts of genes per cell, normalised and reduced as usual, then clustered without a resolution to tune. The
counts are generated: five cell types, one of them rare, and a tenth of the droplets are doublets.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

import vicinal

rng = np.random.default_rng(0)
n_genes, sizes = 400, [400, 300, 250, 120, 40]
programs = rng.gamma(0.3, 1.0, (len(sizes), n_genes)) + 0.05
cell_type = np.repeat(np.arange(len(sizes)), sizes)
depth = rng.lognormal(7.5, 0.3, len(cell_type))
rates = programs[cell_type] / programs.sum(axis=1)[cell_type, None] * depth[:, None]
counts = rng.poisson(rates)
first, second = rng.choice(len(counts), (2, len(counts) // 10))
counts = np.vstack([counts, counts[first] + counts[second]])
is_doublet = np.arange(len(counts)) >= len(cell_type)

normalised = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
cells = PCA(20, random_state=0).fit_transform(normalised)

# %%
# The number of clusters comes from the data, together with the evidence for it. Doublets of two types lie
# between them and may form clusters of their own.

model = vicinal.SpectralClustering(graph="disjoint_mst", random_state=0).fit(cells)
print(f"{model.n_clusters_} clusters; candidates: {model.n_clusters_candidates_[:3]}")
singlets = model.labels_[~is_doublet]
print(f"accuracy on single cells: {vicinal.metrics.clustering_accuracy(cell_type, singlets):.3f}")

# %%
# `OutlierDetector` ranks doublets before single cells.

scores = -vicinal.OutlierDetector().fit(cells).score_samples(cells)
order = np.argsort(-scores)[: is_doublet.sum()]
print(f"doublets among the first {len(order)} outliers: {is_doublet[order].mean():.0%}")

embedding = vicinal.LaplacianEigenmaps(
    n_components=2, graph="disjoint_mst", random_state=0
).fit_transform(cells)
ax = vicinal.plot.embedding(embedding, labels=model.labels_)
ax.set_title("cells by cluster")
plt.show()

# %%
# With AnnData, ``KNNTransformer`` computes the neighbours of ``scanpy.pp.neighbors``.
