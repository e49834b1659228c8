"""
A similarity matrix before and after smoothing
==============================================

Wines of three growers, described by thirteen measurements. At first, only very close wines are similar.
After smoothing, the growers appear as blocks, although no labels were used.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import vicinal

X, grower = load_wine(return_X_y=True)
X = scale(X)
model = vicinal.SelfSmoothing(random_state=0).fit(X)
axes = vicinal.plot.similarity(model.at(0), model.similarity_, labels=grower)
for ax, title in zip(axes, ["before", f"after {model.t_:g} steps"], strict=True):
    ax.set_title(title)
plt.show()

# %%
# The smoothed similarity, projected to a kernel, can be clustered.

kernel = vicinal.self_smooth(model.affinity_, model.t_, psd=True)
labels = vicinal.SpectralClustering(3, graph="precomputed", random_state=0).fit_predict(
    kernel.clip(min=0)
)
print(f"accuracy of three clusters: {vicinal.metrics.clustering_accuracy(grower, labels):.3f}")
