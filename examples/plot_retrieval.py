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
# The queries that improve most, in blue, and their most similar images. Green frames mark the digit of the
# query, red frames other digits.

rates = [vicinal.metrics.retrieval_rate(similarity, digit, 100) for similarity in (before, after)]
print(f"retrieval rate of the first 100: {rates[0]:.3f} before, {rates[1]:.3f} after")

top_after = model.kneighbors(n_neighbors=12)[1]
top_before = (-before).argsort(axis=1, kind="stable")[:, 1:13]
hits = [(digit[top] == digit[:, None]).sum(axis=1) for top in (top_before, top_after)]
queries = (hits[0] - hits[1]).argsort(kind="stable")[[0, 1, 2, 3]]
figure, axes = plt.subplots(8, 13, figsize=(11, 7), layout="constrained")
for row, query in enumerate(queries.repeat(2)):
    results = (top_before, top_after)[row % 2][query]
    for ax, item in zip(axes[row], [query, *results], strict=True):
        color = "tab:green" if digit[item] == digit[query] else "tab:red"
        ax.imshow(images[item], cmap="gray")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set(color="tab:blue" if item == query else color, linewidth=2.2)
    axes[row, 0].set_ylabel(("before", "after")[row % 2])
plt.show()

# %%
# How many steps? The score rises, stays flat, and falls. The dotted line is the choice of ``t="auto"``,
# which does not use labels.

steps = [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000]
scores = [
    vicinal.metrics.retrieval_rate(similarity, digit, 100) for _, similarity in model.sweep(steps)
]
_, ax = plt.subplots(layout="constrained")
ax.plot(steps, scores, "o-")
ax.axhline(rates[0], color="grey", linestyle="--", label="before smoothing")
ax.axvline(model.t_, color="grey", linestyle=":", label='t="auto"')
ax.set_xscale("symlog", linthresh=1)  # so that 0 steps are on the axis
ax.set(xlabel="steps t", ylabel="retrieval rate of the first 100", xlim=(0, 200_000))
ax.legend()
plt.show()
