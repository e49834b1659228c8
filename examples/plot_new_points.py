"""
Predictions for new points
==========================

Spectral clustering labels the points it was fitted on, and ``predict`` extends the labels to new points.
Here it is evaluated on the whole plane: predictions follow the moons between the fitted points, and far
away they are those of the nearest point.
"""

import matplotlib.pyplot as plt
import numpy as np

import vicinal

X, moon = vicinal.datasets.make_two_moons(300, noise=0.07, random_state=0)
clustering = vicinal.SpectralClustering(2, graph="disjoint_mst", random_state=0).fit(X)
eigenmaps = vicinal.LaplacianEigenmaps(n_components=1, graph="disjoint_mst").fit(X)

low, high = X.min(axis=0) - 0.6, X.max(axis=0) + 0.6
grid_x, grid_y = np.meshgrid(np.linspace(low[0], high[0], 240), np.linspace(low[1], high[1], 160))
plane = np.column_stack([grid_x.ravel(), grid_y.ravel()])

# %%
# Left: labels by ``predict``. Right: the first coordinate of Laplacian eigenmaps by ``transform``, which
# increases along one moon and then along the other.

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
predictions = {
    "SpectralClustering.predict": clustering.predict(plane),
    "LaplacianEigenmaps.transform": eigenmaps.transform(plane)[:, 0],
}
for ax, (name, values) in zip(axes, predictions.items(), strict=True):
    ax.pcolormesh(grid_x, grid_y, values.reshape(grid_x.shape), cmap="viridis", alpha=0.55)
    ax.scatter(*X.T, c="black", s=5)
    ax.set_title(name)
    ax.set_aspect("equal")
    ax.set_axis_off()
plt.show()

# %%
# For the fitted points, the predictions are the fitted labels.

assert np.array_equal(clustering.predict(X), clustering.labels_)
