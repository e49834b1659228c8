"""
Ten labels for 1,797 digits
===========================

One labelled image per digit, all others unlabelled. The nearest labelled image is often wrong. Labels
propagated along the graph of all images are more accurate, because unlabelled images connect them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import vicinal

X, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
counts = [1, 2, 3, 5, 10, 20]
scores = {"nearest labelled": [], "graph prior": []}
for count in counts:
    nearest_scores, graph_scores = [], []
    for _ in range(5):
        labelled = np.concatenate(
            [rng.choice(np.flatnonzero(digit == d), count, replace=False) for d in range(10)]
        )
        y = np.full(len(X), -1)
        y[labelled] = digit[labelled]
        unlabelled = y == -1
        nearest_scores.append(
            KNeighborsClassifier(1)
            .fit(X[labelled], digit[labelled])
            .score(X[unlabelled], digit[unlabelled])
        )
        model = vicinal.GraphClassifier().fit(X, y)
        graph_scores.append((model.transduction_ == digit)[unlabelled].mean())
    scores["nearest labelled"].append(np.mean(nearest_scores))
    scores["graph prior"].append(np.mean(graph_scores))

# %%
# Mean accuracy on the unlabelled images, over five random choices of the labelled ones.

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, values in scores.items():
    ax.plot(counts, values, marker="o", label=name)
    print(f"{name:18}", " ".join(f"{value:.3f}" for value in values))
ax.set_xscale("log")
ax.set_xticks(counts, labels=counts)
ax.set_xlabel("labels per class")
ax.set_ylabel("accuracy")
ax.legend()
plt.show()
