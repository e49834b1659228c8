"""Density modes: the edges along which they are merged."""

import numpy as np
import pytest

from vicinal.cluster._density_modes import density_modes
from vicinal.neighbors import NeighborSearch

GRID = np.stack(np.meshgrid(range(12), range(9)), axis=-1).reshape(-1, 2).astype(float)
NORMAL = np.random.default_rng(0).normal(size=(300, 3))


@pytest.mark.parametrize("X", [GRID, NORMAL], ids=["tied distances", "normal"])
@pytest.mark.parametrize("k", [2, 8])
def test_every_pair_of_neighbours_is_an_edge_and_mutual_ones_only_once(X, k):
    indices, distances = NeighborSearch(X).nearest(k)
    modes = density_modes(X, indices, distances, k)
    sources, targets, radii = modes.edges

    listed = {frozenset((i, j)) for i, row in enumerate(indices) for j in row[1 : k + 1].tolist()}
    merged = [frozenset(pair) for pair in zip(sources.tolist(), targets.tolist(), strict=True)]
    assert listed <= set(merged)
    lengths = np.linalg.norm(X[sources] - X[targets], axis=1)
    is_mutual = lengths * (1 + 1e-9) < np.minimum(radii[sources], radii[targets])
    mutual = [pair for pair, inside in zip(merged, is_mutual, strict=True) if inside]
    assert len(mutual) == len(set(mutual))
