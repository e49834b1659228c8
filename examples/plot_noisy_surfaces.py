"""
Two surfaces in noise
=====================

Half of what you see below is noise. k-means cuts space in three, spectral clustering is led
astray by chains of noise points; the contextual digraph asks each point how much it matters to the
structure of its neighbourhood, and noise matters to none.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import vicinal

X, truth = vicinal.datasets.make_half_cylinders(n_points=800, n_noise=1600, random_state=0)
model = vicinal.PerceptualClustering(n_clusters=2, random_state=0).fit(X)
answers = {
    "truth": truth,
    "k-means": KMeans(3, random_state=0).fit_predict(X),
    "spectral": vicinal.SpectralClustering(3, random_state=0).fit_predict(X),
    "perceptual": model.labels_,
}

# %%
# The score counts all points, with noise as the third group.

figure = plt.figure(figsize=(13, 3.8), layout="constrained")
for i, (name, labels) in enumerate(answers.items()):
    ax = figure.add_subplot(1, 4, i + 1, projection="3d")
    vicinal.plot.embedding(X, labels, ax=ax, legend=False)
    score = vicinal.metrics.clustering_accuracy(truth, labels)
    ax.set_title(f"{name}: {score:.2f}")
    ax.view_init(74, -82)
    ax.set_box_aspect(np.ptp(X, axis=0), zoom=1.5)
    ax.set_axis_off()
plt.show()

# %%
# Every point has a noise score, so a decision can be left to later. Here is where the line was
# drawn, and how clearly there were two groups of points.

found, true = (model.labels_ == -1).mean(), (truth == -1).mean()
print(f"noise found: {found:.2f} of all points (true: {true:.2f})")
print(f"two groups of norms rather than one: {model.noise_gain_:.2f} (believed from 0.1)")
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
groups = [model.norms_[truth >= 0], model.norms_[truth < 0]]
ax.hist(groups, bins=60, label=["surfaces", "noise"])
ax.axvline(model.noise_threshold_, color="black", linestyle="--")
ax.set_xlabel("distance from the origin of the perceptual embedding")
ax.legend()
plt.show()
