"""Cells cover all points, are balanced, and their bounds never exclude a neighbour."""

from itertools import pairwise

import numpy as np
import pytest

from vicinal.scale._cell_kernels import digest_rows
from vicinal.scale._cells import build_tree

RNG = np.random.default_rng(0)
GRID = np.stack(np.meshgrid(np.arange(30.0), np.arange(30.0)), -1).reshape(-1, 2)
INPUTS = {
    "normal": RNG.normal(size=(3000, 5)),
    "clusters": RNG.normal(size=(3000, 3)) + 50 * RNG.integers(0, 9, (3000, 1)),
    "heavy tails": RNG.standard_cauchy((3000, 4)),
    "grid": GRID,
    "two places": np.repeat([[0.0, 1.0], [2.0, 3.0]], 700, axis=0),
    "one place": np.ones((1000, 3)),
    "line": np.linspace(0, 1, 2000)[:, None],
    "one far": np.concatenate([RNG.normal(size=(999, 2)), [[1e100, 0.0]]]),
}


@pytest.mark.parametrize("X", INPUTS.values(), ids=INPUTS)
@pytest.mark.parametrize("n_cells", [1, 2, 7, 30])
def test_the_largest_cell_has_at_most_twice_the_mean(X, n_cells):
    tree = build_tree(X, np.arange(len(X)), n_cells)
    sizes = np.bincount(tree.cells_of(X, 0), minlength=n_cells)
    assert tree.n_cells == n_cells
    assert sizes.sum() == len(X)
    assert sizes.max() <= 2 * sizes.mean()


def test_the_cell_of_a_point_does_not_depend_on_its_chunk():
    X = INPUTS["normal"].astype(np.float32)
    tree = build_tree(X.astype(float), np.arange(len(X)), 12)
    parts = [tree.cells_of(X[a : a + 7], a) for a in range(0, len(X), 7)]
    np.testing.assert_array_equal(np.concatenate(parts), tree.cells_of(X, 0))


def test_a_path_leads_from_the_root_to_each_cell():
    X = INPUTS["clusters"]
    tree = build_tree(X, np.arange(len(X)), 9)
    paths = tree.paths()
    assert (paths[:, 0] == 0).all()
    for cell, path in enumerate(paths):
        nodes = path[path >= 0]
        assert -1 - cell in tree.children[nodes[-1]]
        for above, below in pairwise(nodes.tolist()):
            assert below in tree.children[above]


def test_the_digest_depends_on_values_and_rows_but_not_on_chunks():
    bits = INPUTS["normal"].view(np.uint64)
    whole = digest_rows(bits, 0)
    parts = [int(digest_rows(bits[a : a + 11], a)) for a in range(0, len(bits), 11)]
    assert sum(parts) % 2**64 == int(whole)
    swapped, changed = bits.copy(), bits.copy()
    swapped[[3, 4]] = swapped[[4, 3]]
    changed[5, 1] ^= np.uint64(1)
    assert len({int(whole), int(digest_rows(swapped, 0)), int(digest_rows(changed, 0))}) == 3
