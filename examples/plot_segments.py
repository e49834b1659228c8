"""
Segments of a photograph
========================

Each pixel is connected with its eight neighbours, and the normalised cut separates the graph where
affinities are small. The photograph comes with scikit-learn.
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
# Segment boundaries, and each segment in its mean colour.

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
vicinal.plot.segments(image, labels, ax=axes[0])
vicinal.plot.segments(image, labels, mean_colors=True, line_width=0, ax=axes[1])
plt.show()
