"""
Which edges can you trust?
==========================

A graph of noisy points always contains accidental edges, which would not exist if the points were measured
again. Perturbed spanning trees simulate repeated measurements: the strength of an edge is the fraction of
perturbed data sets whose tree contains it.
"""

import matplotlib.pyplot as plt
import numpy as np

import vicinal

X = vicinal.datasets.load_noisy_spiral()
graph = vicinal.graphs.perturbed_mst(X, n_trees=40, noise=0.4, random_state=0)
print(graph)

# %%
# Dark edges are in most trees, light ones in few. Without the weakest edges, the spiral is still
# connected, and most of the edges between its windings are gone.

is_reliable = graph.strengths > 0.1
rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
selected = is_reliable & (rows < graph.indices)
backbone = vicinal.Graph.from_edges(
    graph.n_nodes,
    np.column_stack([rows[selected], graph.indices[selected]]),
    graph.lengths[selected],
    graph.strengths[selected],
    points=X,
)
print(backbone)

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, plotted, title in zip(
    axes, [graph, backbone], ["all edges of 40 trees", "edges in more than 4 trees"], strict=True
):
    vicinal.plot.graph(plotted, ax=ax)
    ax.set_title(title)
    ax.set_axis_off()
plt.show()
