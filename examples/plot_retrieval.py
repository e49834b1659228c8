"""
Retrieval before and after smoothing
====================================

The most similar images of handwritten digits. Before smoothing, the first results are correct, and later
ones drift to other digits with similar pixels. After smoothing, similarity follows chains of images:
results may look less like the query and still be the same digit.
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
# The most similar images of the queries that improve most. Green frames mark the digit of the query, red
# frames other digits.

rates = [vicinal.metrics.retrieval_rate(similarity, digit, 100) for similarity in (before, after)]
print(f"retrieval rate of the first 100: {rates[0]:.3f} before, {rates[1]:.3f} after")

top_after = model.kneighbors(n_neighbors=12)[1]
top_before = (-before).argsort(axis=1, kind="stable")[:, 1:13]
hits = [(digit[top] == digit[:, None]).sum(axis=1) for top in (top_before, top_after)]
queries = (hits[0] - hits[1]).argsort(kind="stable")[[0, 1, 2, 3]]
vicinal.plot.retrieval(queries, before, after, labels=digit, images=images, k=12)
plt.show()

# %%
# How many steps? The score rises, stays flat, and falls. The dotted line is the choice of ``t="auto"``,
# which does not use labels.

steps = [0, 1, 3, 10, 30, 100, 300, 1000, 3000]
scores = [
    vicinal.metrics.retrieval_rate(similarity, digit, 100) for _, similarity in model.sweep(steps)
]
ax = vicinal.plot.dynamics(
    {"self-smoothing": (steps, scores)},
    baseline=rates[0],
    score="retrieval rate of the first 100",
)
ax.axvline(model.t_, color="grey", linestyle=":")
plt.show()
