"""Sorting kernel of smoothed similarities and ranked lists, compared with numpy."""

import numpy as np
import pytest

from vicinal.similarity.smoothing._selection_kernels import sort_descending


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 64, 257])
@pytest.mark.parametrize("n_levels", [1, 3, 1000])
def test_values_descend_with_their_items_and_equal_values_by_item(n, n_levels):
    rng = np.random.default_rng([n, n_levels])
    values = rng.integers(n_levels, size=n + 2) / n_levels
    items = rng.permutation(n + 2)
    order = np.lexsort((items[:n], -values[:n]))
    expected = values[:n][order], items[:n][order]
    beyond = values[n:].copy(), items[n:].copy()
    sort_descending(values, items, n)
    np.testing.assert_array_equal(values[:n], expected[0])
    np.testing.assert_array_equal(items[:n], expected[1])
    np.testing.assert_array_equal(values[n:], beyond[0])
    np.testing.assert_array_equal(items[n:], beyond[1])
