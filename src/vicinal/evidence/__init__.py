"""Evidence for the number of clusters, layers and noise of points.

- `decision`: what the measurements say together
- `gaps`: gaps of the spectrum of the neighbour graph
- `borders`: valleys of the density along the borders of groups
- `communities`: more edges within groups than one cluster has
- `noise`, `mixture`: clusters and background by the densities of points
- `constants`: every number that decides, with its origin
"""
