"""Measurements of vicinal beside its peers: ``python -m benchmarks graphs``.

- `cases`: what is measured, and the target of each case
- `contenders`: how each library is called, and how its answer is checked
- `worker`: one contender on one case, alone in its process
- `runner`: all contenders of a case, each in a fresh process
- `report`: ratios, targets, and the tables that are written
"""
