"""
Ten labels for 1,797 digits
===========================

One labelled image of each digit, all others unlabelled. The nearest labelled image is a poor guide;
labels that flow along the graph of all images do better, because unlabelled images connect.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import vicinal

X, digit = load_digits(return_X_y=True)
chance = np.random.default_rng(0)
counts = [1, 2, 3, 5, 10, 20]
scores = {"nearest labelled": [], "graph prior": []}
for count in counts:
    nearest, graph = [], []
    for _ in range(5):
        known = np.concatenate(
            [chance.choice(np.flatnonzero(digit == d), count, replace=False) for d in range(10)]
        )
        y = np.full(len(X), -1)
        y[known] = digit[known]
        rest = y == -1
        nearest.append(
            KNeighborsClassifier(1).fit(X[known], digit[known]).score(X[rest], digit[rest])
        )
        model = vicinal.GraphClassifier().fit(X, y)
        graph.append((model.transduction_ == digit)[rest].mean())
    scores["nearest labelled"].append(np.mean(nearest))
    scores["graph prior"].append(np.mean(graph))

# %%
# Mean accuracy on the unlabelled images, over five draws of the labelled ones.

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, values in scores.items():
    ax.plot(counts, values, marker="o", label=name)
    print(f"{name:18}", " ".join(f"{value:.3f}" for value in values))
ax.set_xscale("log")
ax.set_xticks(counts, labels=counts)
ax.set_xlabel("labels a class")
ax.set_ylabel("accuracy")
ax.legend()
plt.show()
