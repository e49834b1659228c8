"""Links that join components, against a literal union-find."""

import numpy as np
import pytest

from vicinal.graphs._build import kruskal
from vicinal.graphs._build.kruskal import spanning_subset


def literal(ends, n):
    component, needed = list(range(n)), []
    for at, (a, b) in enumerate(ends):
        one, two = component[a], component[b]
        if one != two:
            needed.append(at)
            component = [one if c == two else c for c in component]
    return needed, component


@pytest.mark.parametrize("seed", range(10))
def test_spanning_subsets_agree_with_union_find(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    ends = rng.integers(0, n, (int(rng.integers(0, 60)), 2))
    needed, joined = spanning_subset(ends, n)
    expected, component = literal(ends, n)
    np.testing.assert_array_equal(needed, expected)
    same = np.equal.outer(component, component)
    np.testing.assert_array_equal(np.equal.outer(joined, joined), same)


def test_scipy_gets_32_bit_indices(monkeypatch):
    """Others end in "Buffer dtype mismatch" before scipy 1.17."""
    tree_of = kruskal.minimum_spanning_tree

    def checked(links):
        assert links.indices.dtype == links.indptr.dtype == np.int32
        return tree_of(links)

    monkeypatch.setattr(kruskal, "minimum_spanning_tree", checked)
    ends = np.array([[0, 1], [1, 2]], dtype=np.int64)
    np.testing.assert_array_equal(spanning_subset(ends, 3)[0], [0, 1])
