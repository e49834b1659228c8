"""
Which edges can you trust?
==========================

A graph of noisy points always has accidents: edges that would not be there had the points been measured
again. Perturbed spanning trees measure again, twenty times or more, and count. An edge that every
jittered copy of the data agrees on has strength 1; one that a single copy needed has 1 / 20.
"""

import matplotlib.pyplot as plt
import numpy as np

import vicinal

X = vicinal.datasets.load_noisy_spiral()
graph = vicinal.graphs.perturbed_mst(X, n_trees=40, noise=0.4, random_state=0)
print(graph)

# %%
# Dark edges are in most trees, light ones in few. Without the weakest, the spiral is still in one
# piece, and most of the links between its windings are gone.

trusted = graph.strengths > 0.1
rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
once = trusted & (rows < graph.indices)
backbone = vicinal.Graph.from_edges(
    graph.n_nodes,
    np.column_stack([rows[once], graph.indices[once]]),
    graph.lengths[once],
    graph.strengths[once],
    points=X,
)
print(backbone)

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, drawn, title in zip(
    axes, [graph, backbone], ["all edges of 40 trees", "in more than 4 of them"], strict=True
):
    vicinal.plot.graph(drawn, ax=ax)
    ax.set_title(title)
    ax.set_axis_off()
plt.show()
