"""The figure on the front page: two surfaces in noise, clustered by three methods."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from vicinal import PerceptualClustering, SpectralClustering
from vicinal.datasets import make_half_cylinders
from vicinal.metrics import clustering_accuracy

COLORS = np.array(["#b8bec4", "#d1495b", "#00798c", "#edae49"])

X, truth = make_half_cylinders(n_points=800, n_noise=1600, random_state=0)
clusterings = {
    "the data: half of it is noise": np.full(len(X), -1),
    "k-means": KMeans(3, random_state=0).fit_predict(X),
    "spectral clustering": SpectralClustering(3, random_state=0).fit_predict(X),
    "vicinal": PerceptualClustering(2, random_state=0).fit_predict(X),
}
figure = plt.figure(figsize=(13, 3.4))
for i, (name, labels) in enumerate(clusterings.items()):
    ax = figure.add_axes((i / 4, -0.04, 1 / 4, 0.98), projection="3d")
    ax.scatter(*X.T, c=COLORS[labels + 1], s=3, linewidths=0, depthshade=False)
    accuracy = f": accuracy {clustering_accuracy(truth, labels):.2f}" if i else ""
    ax.set_title(name + accuracy, fontsize=11, y=1.0)
    ax.view_init(74, -82)
    ax.set_axis_off()
    ax.set_box_aspect(np.ptp(X, axis=0), zoom=1.3)
figure.savefig(Path(__file__).with_suffix(".png"), dpi=100)
