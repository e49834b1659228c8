"""Measurements of vicinal beside its peers: ``python -m benchmarks graphs``, ``tasks`` or ``shapes``.

- `cases`: what is measured, and the target of each case
- `contenders`: how each library is called, and how its answer is checked
- `tasks`: the same for clusters, embeddings, labels and segments
- `data`: what they are measured on
- `suites`: all of them together
- `worker`: one contender on one case, alone in its process
- `runner`: all contenders of a case, each in a fresh process
- `report`: ratios, targets, and the tables that are written
- `shapes`: accuracy, not time, on small sets with shapes that are hard to cluster
"""
