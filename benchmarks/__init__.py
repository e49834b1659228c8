"""Measurements of vicinal beside its peers: ``python -m benchmarks graphs``, or another suite.

- `cases`: what is measured, and the target of each case
- `contenders`: how each library is called, and how its answer is checked
- `tasks`: the same for clusters, embeddings, labels and segments
- `perception`: the same for contextual distances, clusters in noise and ranking
- `smoothing`: the same for self-smoothing
- `data`: what they are measured on
- `codes`: the same for graphs of sparse codes
- `suites`: all of them together
- `worker`: one contender on one case, alone in its process
- `runner`: all contenders of a case, each in a fresh process
- `report`: ratios, targets, and the tables that are written
- `shapes`: accuracy, not time, on small sets with shapes that are hard to cluster
- `steps`: the number of smoothing steps that is chosen without labels, beside the best in hindsight
"""
