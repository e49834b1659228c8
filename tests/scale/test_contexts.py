"""Contextual distances of dask arrays have the same bits as those of arrays in memory."""

import numpy as np
import pytest

from vicinal import contextual_distance, graphs, scale

da = pytest.importorskip("dask.array")
from inputs import HARD  # noqa: E402

NAMES = ["normal", "curved", "float32", "grid", "duplicates", "tiny", "far from the origin"]


def spread(points):
    """Standard deviations of the columns of a context."""
    return points.std(axis=0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("descriptor", ["coding_length", "centroid"])
def test_contextual_distances_have_the_same_bits_as_in_memory(name, descriptor):
    X = HARD[name]
    array = da.from_array(X, chunks=(220, 1))
    with scale.config(cell_size=90):
        indices, distances = contextual_distance(array, 6, descriptor=descriptor)
        digraph = graphs.contextual(array, 6, descriptor=descriptor)
    assert distances.chunks == (array.chunks[0], (7,))
    known = contextual_distance(X, 6, descriptor=descriptor)
    np.testing.assert_array_equal(indices.compute(), known[0])
    np.testing.assert_array_equal(distances.compute(), known[1])
    expected = graphs.contextual(X, 6, descriptor=descriptor)
    assert digraph == expected
    assert digraph.metadata["sigma"] == expected.metadata["sigma"]


def test_descriptors_may_be_functions_and_are_not_confused(tmp_path):
    X = HARD["normal"][:60]
    array = da.from_array(X, chunks=25)
    with scale.config(cell_size=20, store=tmp_path):
        for descriptor in (spread, np.ptp, spread):
            lists = contextual_distance(array, 4, descriptor=descriptor)
            expected = contextual_distance(X, 4, descriptor=descriptor)
            np.testing.assert_array_equal(lists[1].compute(), expected[1])


def test_what_needs_all_points_is_rejected():
    X = da.zeros((20, 2), chunks=5)
    with pytest.raises(TypeError, match="X is a dask Array"):
        contextual_distance(X, 3, neighbors=np.zeros((20, 3), int))
    with pytest.raises(TypeError, match="X is a dask Array"):
        contextual_distance(X, metric="gram", descriptor="centroid")
    with pytest.raises(ValueError, match="n_neighbors=20"):
        contextual_distance(X, 20)
