"""
A photograph in six parts
=========================

Pixels are nodes, joined with the eight around them; the normalised cut separates the graph where little
affinity crosses. The photograph comes with scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import vicinal

image = load_sample_image("flower.jpg")[::2, ::2]
labels = vicinal.segment(image, 6, random_state=0)
sizes = sorted(np.bincount(labels.ravel()).tolist())
print(f"{image.shape[0]} x {image.shape[1]} pixels, segments of {sizes}")

# %%
# The boundaries over the image, and each segment in its mean colour.

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
vicinal.plot.segments(image, labels, ax=axes[0])
vicinal.plot.segments(image, labels, mean_colors=True, line_width=0, ax=axes[1])
plt.show()
