"""Grids equal their definition, cell by cell."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.feature_extraction.image import grid_to_graph
from test_graph import as_dict

from vicinal.graphs import grid

REACH = {4: 1, 8: 2, 6: 1, 26: 3}
SHAPES = [(1, 1), (1, 5), (5, 1), (2, 2), (3, 4), (1, 1, 1), (1, 3, 1), (2, 1, 3), (2, 3, 4)]


def grid_oracle(shape, connectivity, image=None):
    """Entries by the definition, over all pairs of cells."""
    cells = list(itertools.product(*map(range, shape)))
    entries = {}
    for (i, a), (j, b) in itertools.permutations(enumerate(cells), 2):
        step = np.abs(np.subtract(a, b))
        if step.max() == 1 and step.sum() <= REACH[connectivity]:
            between = step if image is None else np.subtract(image[a], image[b], dtype=float)
            entries[i, j] = np.sqrt(np.sum(np.square(between)))
    return entries


def lengths_of(graph):
    return {pair: values[0] for pair, values in as_dict(graph).items()}


def both_connectivities(shape):
    return (4, 8) if len(shape) == 2 else (6, 26)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_grid_connects_the_cells_around_each_cell(shape):
    for connectivity in both_connectivities(shape):
        graph = grid(shape, connectivity=connectivity)
        expected = grid_oracle(shape, connectivity)
        assert lengths_of(graph) == expected
        assert list(as_dict(graph)) == sorted(expected)
        assert (graph.strengths == 1).all()
        assert not graph.directed


@pytest.mark.parametrize("channels", [(), (1,), (3,)])
@pytest.mark.parametrize("shape", SHAPES)
def test_lengths_are_differences_of_an_image(shape, channels):
    image = np.random.default_rng(1).integers(0, 256, (*shape, *channels)).astype(np.uint8)
    kept = image.copy()
    for connectivity in both_connectivities(shape):
        expected = grid_oracle(shape, connectivity, image)
        assert lengths_of(grid(shape, connectivity=connectivity, image=image)) == pytest.approx(
            expected
        )
    assert (image == kept).all()


def test_the_larger_connectivity_is_the_default():
    assert grid((4, 5)) == grid((4, 5), connectivity=8)
    assert grid((3, 4, 5)) == grid((3, 4, 5), connectivity=26)


@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 5)])
def test_the_edges_are_those_of_scikit_learn(shape):
    peer = grid_to_graph(*shape).toarray().astype(bool)
    np.fill_diagonal(peer, False)
    assert (
        grid(shape, connectivity=both_connectivities(shape)[0]).to_scipy().toarray() > 0
    ).tolist() == peer.tolist()


def test_the_shape_is_inferred_from_the_image():
    image = np.random.default_rng(2).random((4, 5, 3))
    assert grid(image=image) == grid((4, 5), connectivity=8, image=image)
    assert grid(image=image, connectivity=4) == grid((4, 5), connectivity=4, image=image)
    assert grid(image=image, connectivity=6) == grid((4, 5, 3), connectivity=6, image=image)
    assert grid((4, 5, 3), image=image) == grid((4, 5, 3), connectivity=26, image=image)
    assert grid(image=image[..., 0]) == grid((4, 5), connectivity=8, image=image[..., 0])
    assert grid(image=image[..., None]) == grid((4, 5, 3), connectivity=26, image=image)


@settings(max_examples=30, deadline=None)
@given(
    hnp.arrays(
        float,
        st.tuples(st.integers(1, 4), st.integers(1, 4), st.just(2)),
        elements=st.sampled_from([0.0, 1.0, -3.0, 0.1]),
    ),
    st.sampled_from([1e-200, 1e-9, 1e9, 1e200]),
)
def test_differences_scale_with_the_image(image, factor):
    plain, scaled = grid(image=image), grid(image=image * factor)
    assert scaled.lengths / factor == pytest.approx(plain.lengths, rel=1e-12)


def test_read_only_strided_boolean_and_nested_images_are_accepted():
    image = np.random.default_rng(3).random((8, 10))[::2, ::-2]
    image.flags.writeable = False
    assert (
        grid(image=image) == grid(image=image.tolist()) == grid(image=np.ascontiguousarray(image))
    )
    assert grid(image=image > 0.5) == grid(image=(image > 0.5).astype(float))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "shape=None and image=None"),
        ({"shape": (3,)}, r"shape=\(3,\)"),
        ({"shape": 5}, "shape=5"),
        ({"shape": (3, 0)}, r"shape\[1\]=0"),
        ({"shape": (3, 3), "connectivity": 6}, "connectivity=6.*4 or 8"),
        ({"shape": (3, 3, 3), "connectivity": 8}, "connectivity=8.*6 or 26"),
        ({"shape": (3, 3), "connectivity": "all"}, "connectivity='all'"),
        ({"shape": (3, 3), "image": np.zeros((3, 4))}, r"\(3, 4\).*\(3, 3\)"),
        ({"shape": (3, 3), "image": np.zeros((3, 3, 3, 3))}, "does not match"),
        ({"image": np.zeros(5)}, r"image has shape \(5,\)"),
        ({"image": np.array([[0, np.nan]])}, "image.*NaN"),
        ({"image": np.zeros((0, 3))}, "image"),
    ],
)
def test_errors_name_the_invalid_argument(arguments, message):
    with pytest.raises(ValueError, match=message):
        grid(**arguments)


@pytest.mark.parametrize("arguments", [{"shape": (3, 2.5)}, {"image": [["a", "b"]]}])
def test_invalid_types_are_rejected(arguments):
    with pytest.raises(TypeError, match=r"shape\[1\]|image"):
        grid(**arguments)
