"""
What a similarity finds, before and after smoothing
===================================================

Handwritten digits, asked for their most similar images. Before smoothing the first answers are right and
later ones drift to other digits of similar pixels. After it, similarity has flowed along chains of
images: what is found may look less like the query and yet be the same digit.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import vicinal

digits = load_digits()
images, digit = digits.images[:1000], digits.target[:1000]
model = vicinal.SelfSmoothing(random_state=0).fit(images.reshape(1000, -1))
before, after = model.at(0), model.similarity_
print(f"steps: {model.t_:g}")

# %%
# The most similar images of the queries that gain most. A green frame is the query's digit, a red one
# another.

gains = [vicinal.metrics.retrieval_rate(similarity, digit, 100) for similarity in (before, after)]
print(f"of each image's own digit among its first 100: {gains[0]:.3f} before, {gains[1]:.3f} after")

found = model.kneighbors(n_neighbors=12)[1]
first = (-before).argsort(axis=1, kind="stable")[:, 1:13]
hits = [(digit[ids] == digit[:, None]).sum(axis=1) for ids in (first, found)]
queries = (hits[0] - hits[1]).argsort(kind="stable")[[0, 1, 2, 3]]
vicinal.plot.retrieval(queries, before, after, labels=digit, images=images, k=12)
plt.show()

# %%
# How long to smooth? The score rises, stays, and falls. ``t="auto"`` saw no label.

steps = [0, 1, 3, 10, 30, 100, 300, 1000, 3000]
scores = [
    vicinal.metrics.retrieval_rate(similarity, digit, 100) for _, similarity in model.sweep(steps)
]
ax = vicinal.plot.dynamics(
    {"self-smoothing": (steps, scores)},
    baseline=gains[0],
    score="share of a digit among the first 100",
)
ax.axvline(model.t_, color="grey", linestyle=":")
plt.show()
