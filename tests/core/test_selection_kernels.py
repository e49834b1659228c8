"""Ranks of a few values, and what is sorted by them."""

import numpy as np
import pytest

from vicinal import Graph
from vicinal._core._selection_kernels import MAX_COUNTED, rank_by_counting
from vicinal.graphs import edge_scale


@pytest.mark.parametrize("n", [0, 1, 2, 9, MAX_COUNTED])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_ranks_are_positions_in_a_stable_sort(n, dtype):
    values = np.random.default_rng(n).integers(0, 6, n).astype(dtype)
    ranks = np.empty(n, np.int64)
    rank_by_counting(values, n, ranks)
    np.testing.assert_array_equal(np.argsort(ranks), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("k", [MAX_COUNTED - 1, MAX_COUNTED, MAX_COUNTED + 1])
def test_lists_and_scales_do_not_depend_on_the_way_of_sorting(k):
    rng = np.random.default_rng(k)
    others = np.arange(40) + np.arange(1, 40)[:, None]
    indices = rng.permuted((others % 40).T, axis=1)[:, :k]
    distances = rng.random((40, k))
    graph = Graph.from_kneighbors(indices, distances, directed=True)
    order = np.argsort(indices, axis=1)
    np.testing.assert_array_equal(
        graph.indices.reshape(40, k), np.take_along_axis(indices, order, axis=1)
    )
    np.testing.assert_array_equal(
        graph.lengths.reshape(40, k), np.take_along_axis(distances, order, axis=1)
    )
    expected = np.sort(distances, axis=1)[:, :10].mean(axis=1)
    np.testing.assert_allclose(edge_scale(graph, "local"), expected, rtol=1e-14)
