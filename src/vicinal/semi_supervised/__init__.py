"""Semi-supervised learning: labels of a few nodes spread along the edges of a graph.

- `prior_values`: values that fit the labelled nodes and vary little along edges
- `class_probabilities`: the same for classes
- `propagate_labels`: label propagation with clamped labels
- `GraphRegressor`, `GraphClassifier`, `LabelPropagation`: the corresponding estimators
- `SimilarityVoteClassifier`: majority vote of the most similar items
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
