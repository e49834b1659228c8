"""
Two surfaces in noise
=====================

Half of the points below are noise. k-means cuts the space into three regions, and chains of noise points
mislead spectral clustering. Contextual distances measure how much each point contributes to the structure
of its neighbourhood; noise contributes little.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import vicinal

X, truth = vicinal.datasets.make_half_cylinders(n_points=800, n_noise=1600, random_state=0)
model = vicinal.PerceptualClustering(n_clusters=2, random_state=0).fit(X)
clusterings = {
    "truth": truth,
    "k-means": KMeans(3, random_state=0).fit_predict(X),
    "spectral": vicinal.SpectralClustering(3, random_state=0).fit_predict(X),
    "perceptual": model.labels_,
}

# %%
# The score is the accuracy over all points, with noise as the third group.

figure = plt.figure(figsize=(13, 3.8), layout="constrained")
for i, (name, labels) in enumerate(clusterings.items()):
    ax = figure.add_subplot(1, 4, i + 1, projection="3d")
    vicinal.plot.embedding(X, labels, ax=ax, legend=False)
    score = vicinal.metrics.clustering_accuracy(truth, labels)
    ax.set_title(f"{name}: {score:.2f}")
    ax.view_init(74, -82)
    ax.set_box_aspect(np.ptp(X, axis=0), zoom=1.5)
    ax.set_axis_off()
plt.show()

# %%
# Noise is found by its density: a mixture of clusters and a background is fitted to the sparsities, the
# negative log densities of the points. The dashed line is the threshold.

noise_fraction, true_fraction = (model.labels_ == -1).mean(), (truth == -1).mean()
print(f"noise: {noise_fraction:.2f} of all points (true fraction: {true_fraction:.2f})")
evidence = model.cluster_evidence_.noise
print(f"evidence for noise: {evidence.gain:.0f} (required: 3)")
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
groups = [evidence.sparsity[truth >= 0], evidence.sparsity[truth < 0]]
ax.hist(groups, bins=60, label=["surfaces", "noise"])
ax.axvline(evidence.threshold, color="black", linestyle="--")
ax.set_xlabel("sparsity relative to the cluster")
ax.legend()
plt.show()
