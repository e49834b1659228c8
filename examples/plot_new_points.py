"""
A map of the whole plane
========================

Spectral clustering gives labels to the points it was fitted on. What about all others? Here each
place in the plane is asked: the answer follows the moons, also between the fitted points, and far
away it is that of the nearest one.
"""

import matplotlib.pyplot as plt
import numpy as np

import vicinal

X, moon = vicinal.datasets.make_two_moons(300, noise=0.07, random_state=0)
clustering = vicinal.SpectralClustering(2, graph="disjoint_mst", random_state=0).fit(X)
maps = vicinal.LaplacianEigenmaps(n_components=1, graph="disjoint_mst").fit(X)

low, high = X.min(axis=0) - 0.6, X.max(axis=0) + 0.6
across, up = np.meshgrid(np.linspace(low[0], high[0], 240), np.linspace(low[1], high[1], 160))
everywhere = np.column_stack([across.ravel(), up.ravel()])

# %%
# On the left labels, by ``predict``; on the right the first coordinate of Laplacian eigenmaps, by
# ``transform``: it runs along one moon and on along the other.

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
answers = {
    "SpectralClustering.predict": clustering.predict(everywhere),
    "LaplacianEigenmaps.transform": maps.transform(everywhere)[:, 0],
}
for ax, (name, values) in zip(axes, answers.items(), strict=True):
    ax.pcolormesh(across, up, values.reshape(across.shape), cmap="viridis", alpha=0.55)
    ax.scatter(*X.T, c="black", s=5)
    ax.set_title(name)
    ax.set_aspect("equal")
    ax.set_axis_off()
plt.show()

# %%
# Fitted points keep what they were given.

assert np.array_equal(clustering.predict(X), clustering.labels_)
