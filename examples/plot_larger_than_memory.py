"""
Larger than memory
==================

A dask array is clustered by cells of its points on disk. The labels are those of the same array in memory.
"""

import tempfile

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

import vicinal
from vicinal.datasets import make_spirals
from vicinal.scale import config

points, arm = make_spirals(4000, random_state=0)
chunked = da.from_array(points, chunks=(500, 2))
print(chunked)

# %%
# Intermediate results go to a store. If the process ends early, the same call continues from it. On a
# cluster, pass ``client=``; the store then is a folder that all workers see.

with tempfile.TemporaryDirectory() as folder, config(store=folder):
    model = vicinal.SpectralClustering(2, random_state=0).fit(chunked)
    print(model.labels_)
    labels = model.labels_.compute()

# %%
# The same labels as in memory, bit for bit.

in_memory = vicinal.SpectralClustering(2, random_state=0).fit_predict(points)
print("equal:", np.array_equal(labels, in_memory))

ax = vicinal.plot.embedding(points, labels=labels)
ax.set_title("4,000 points in 8 chunks")
plt.show()
