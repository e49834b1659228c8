import io
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles

import vicinal
from vicinal.graphs import grid
from vicinal.metrics import clustering_accuracy, global_consistency_error, rand_index
from vicinal.segmentation._pixels import (
    MIN_AFFINITY,
    as_colors,
    comparable,
    grid_offsets,
    pixel_affinity,
    radius_offsets,
)
from vicinal.segmentation.normalized_cut import cut_vectors

BERKELEY = Path(os.environ.get("VICINAL_DATA", "")) / "bsds_half.npz"


def shapes(height=40, width=50, noise=0.1, seed=0):
    """A disk and a bar on a ground, with noise, and the true label map."""
    y, x = np.mgrid[:height, :width]
    truth = np.zeros((height, width), dtype=int)
    truth[(y - height * 0.4) ** 2 + (x - width * 0.3) ** 2 < (height / 4) ** 2] = 1
    truth[:, int(0.75 * width) :] = 2
    levels = np.array([0.2, 0.8, 0.5])
    rng = np.random.default_rng(seed)
    return levels[truth] + noise * rng.standard_normal(truth.shape), truth


def same_partition(a, b):
    return rand_index(np.ravel(a), np.ravel(b)) == 1.0


# The result


def test_regions_of_constant_value_are_found_exactly():
    image, truth = shapes(noise=0.0)
    assert same_partition(vicinal.segment(image, 3, smoothing=0), truth)


@pytest.mark.parametrize("graph", ["grid", "radius"])
def test_regions_are_found_under_noise(graph):
    image, truth = shapes(120, 150, noise=0.08)
    labels = vicinal.segment(image, 3, graph=graph)
    assert clustering_accuracy(truth.ravel(), labels.ravel()) > 0.97


def test_colours_of_the_same_lightness_are_separated():
    image = np.empty((20, 30, 3), dtype=np.uint8)
    image[:, :12] = [200, 90, 90]
    image[:, 12:] = [40, 138, 140]
    lightness = comparable(image)[0][..., 0]
    assert np.ptp(lightness) < 1.5
    labels = vicinal.segment(image, 2, smoothing=0)
    assert same_partition(labels, np.tile(np.arange(30) >= 12, (20, 1)))


def test_labels_are_numbered_in_reading_order():
    labels = vicinal.segment(shapes()[0], 4).ravel()
    used, first = np.unique(labels, return_index=True)
    np.testing.assert_array_equal(used, np.arange(len(used)))
    assert np.all(np.diff(first) > 0)


def test_one_segment_is_the_whole_image():
    assert not vicinal.segment(shapes()[0], 1).any()


def test_as_many_segments_as_pixels():
    labels = vicinal.segment(np.arange(6.0).reshape(2, 3), 6)
    assert labels.shape == (2, 3)
    assert labels.max() <= 5


def test_a_constant_image_is_split_into_compact_segments_of_equal_size():
    labels = vicinal.segment(np.full((30, 60), 7), 2)
    np.testing.assert_array_equal(np.bincount(labels.ravel()), [900, 900])
    assert same_partition(labels, np.tile(np.arange(60) >= 30, (30, 1)))


@pytest.mark.parametrize("shape", [(1, 40), (40, 1), (1, 1), (1, 2), (700, 1)])
def test_images_of_one_line(shape):
    n = shape[0] * shape[1]
    image = (np.arange(n).reshape(shape) >= n // 2).astype(float)
    n_segments = min(2, n)
    labels = vicinal.segment(image, n_segments, smoothing=0)
    assert labels.shape == shape
    if n_segments == 2:
        assert same_partition(labels, image)


# What must not matter


def test_threads_and_seeds_do_not_change_the_labels():
    image = shapes(90, 80)[0]
    one = vicinal.segment(image, 3, n_jobs=1, random_state=5)
    np.testing.assert_array_equal(one, vicinal.segment(image, 3, n_jobs=3, random_state=5))
    np.testing.assert_array_equal(one, vicinal.segment(image, 3, random_state=5))


@pytest.mark.parametrize("factor", [1e-300, 1e-9, 1e9, 1e200])
def test_units_do_not_matter(factor):
    image = shapes()[0]
    expected = vicinal.segment(image, 3)
    assert np.mean(vicinal.segment(image * factor, 3) == expected) > 0.999


@pytest.mark.parametrize("extreme", [1e-320, 1e-9, 1e9, 1e300])
def test_extreme_scales_still_give_a_partition(extreme):
    image = shapes()[0]
    for keywords in ({"scale": extreme}, {"graph": "radius", "spatial_scale": extreme}):
        labels = vicinal.segment(image, 3, **keywords)
        assert set(np.unique(labels)) == {0, 1, 2}


def test_a_radius_beyond_the_image_connects_all_pixels():
    image = shapes(12, 14)[0]
    expected = vicinal.segment(image, 3, graph="radius", radius=19, spatial_scale=5)
    far = vicinal.segment(image, 3, graph="radius", radius=1e9, spatial_scale=5)
    np.testing.assert_array_equal(far, expected)


def test_dtypes_of_the_same_colours_give_the_same_labels():
    grey = (shapes()[0].clip(0, 1) * 255).astype(np.uint8)
    colors = np.stack([grey, 255 - grey, grey // 2], axis=-1)
    opaque = np.concatenate([colors, np.full_like(colors[..., :1], 255)], axis=-1)
    expected = vicinal.segment(colors, 3)
    for other in (colors / 255, colors.astype(np.int64), colors.astype(np.uint16) * 257, opaque):
        np.testing.assert_array_equal(vicinal.segment(other, 3), expected)


def test_the_colour_of_transparent_pixels_does_not_matter():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (10, 10, 4), dtype=np.uint8)
    image[..., 3] = 0
    assert np.ptp(as_colors(image)) == 0


def test_memory_layout_does_not_matter_and_the_image_is_not_changed():
    image = shapes()[0]
    expected = vicinal.segment(image, 3)
    frozen = image.copy()
    frozen.setflags(write=False)
    wide = np.zeros((*image.shape, 2))
    wide[..., 0] = image
    for same in (frozen, np.asfortranarray(image), wide[..., 0], image.tolist(), image[..., None]):
        np.testing.assert_array_equal(vicinal.segment(same, 3), expected)
    np.testing.assert_array_equal(frozen, image)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.uint16, np.float32])
def test_grey_images_of_any_dtype(dtype):
    image = np.zeros((12, 14), dtype=dtype)
    image[:, 9:] = 1
    assert same_partition(vicinal.segment(image, 2, smoothing=0), image)


# The graph and its eigenvectors


@pytest.mark.parametrize("reach", [None, 2.9])
def test_affinity_follows_its_definition(reach):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((5, 6, 2))
    offsets, nearness = grid_offsets() if reach is None else radius_offsets(reach, 1.3)
    result = pixel_affinity(values, offsets, nearness, 0.8).toarray()
    expected = np.zeros((30, 30))
    for i in range(30):
        for j in range(30):
            (y, x), (v, u) = divmod(i, 6), divmod(j, 6)
            square = (y - v) ** 2 + (x - u) ** 2
            if i == j or square > (2 if reach is None else reach**2):
                continue
            difference = np.linalg.norm(values[y, x] - values[v, u])
            expected[i, j] = max(MIN_AFFINITY, np.exp(-((difference / 0.8) ** 2) / 2))
            if reach is not None:
                expected[i, j] *= np.exp(-(square - 1) / (2 * 1.3**2))
    np.testing.assert_allclose(result, expected, rtol=1e-13)
    np.testing.assert_array_equal(result, result.T)


def test_grid_is_the_grid_graph():
    image = np.random.default_rng(0).random((7, 5))
    result = pixel_affinity(image[..., None], *grid_offsets(), 0.4)
    expected = grid(image=image).affinity(0.4)
    np.testing.assert_array_equal(result.indices, expected.indices)
    np.testing.assert_allclose(result.data, expected.data, rtol=1e-13)


@pytest.mark.parametrize("reach", [None, 3.0])
def test_cut_vectors_are_the_generalised_eigenvectors(reach):
    image = shapes(45, 40, noise=0.15)[0][..., None]
    offsets, nearness = grid_offsets() if reach is None else radius_offsets(reach, 2.0)
    weights = pixel_affinity(image, offsets, nearness, 0.2)
    result = cut_vectors(weights, 5)
    dense = weights.toarray()
    degrees = dense.sum(axis=1)
    _, vectors = eigh(np.diag(degrees) - dense, np.diag(degrees), subset_by_index=(0, 4))
    roots = np.sqrt(degrees)[:, None]
    assert subspace_angles(result * roots, vectors * roots).max() < 0.02


def test_lab_of_known_colours():
    image = np.array([[[255, 255, 255], [0, 0, 0], [255, 0, 0], [0, 0, 255]]], dtype=np.uint8)
    known = [[100, 0, 0], [0, 0, 0], [53.24, 80.09, 67.20], [32.30, 79.19, -107.86]]
    np.testing.assert_allclose(comparable(image)[0][0], known, atol=0.02)


# Errors


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "words"),
    [
        ((np.zeros((0, 4)), 2), {}, ValueError, r"image has shape \(0, 4\)"),
        ((np.zeros(4), 2), {}, ValueError, r"image has shape \(4,\)"),
        ((np.zeros((2, 2, 2, 2)), 2), {}, ValueError, r"image has shape \(2, 2, 2, 2\)"),
        ((np.array([[0, np.nan]]), 2), {}, ValueError, r"NaN or infinity, the first at \[0, 1\]"),
        ((np.array([["a", "b"]]), 2), {}, TypeError, "image has dtype"),
        ((np.zeros((2, 2), dtype=complex), 2), {}, TypeError, "image has dtype complex"),
        ((np.eye(3), 10), {}, ValueError, "n_segments=10.*3 x 3 pixels"),
        ((np.eye(3), 0), {}, ValueError, "n_segments=0"),
        ((np.eye(3), 2.5), {}, TypeError, "n_segments=2.5"),
        ((np.eye(3), 2), {"graph": "knn"}, ValueError, "graph='knn'"),
        ((np.eye(3), 2), {"graph": "radius", "radius": 0.5}, ValueError, "radius=0.5"),
        ((np.eye(3), 2), {"scale": 0}, ValueError, "scale=0"),
        ((np.eye(3), 2), {"scale": "local"}, ValueError, "scale='local'"),
        ((np.eye(3), 2), {"spatial_scale": -1}, ValueError, "spatial_scale=-1"),
        ((np.eye(3), 2), {"smoothing": -1}, ValueError, "smoothing=-1"),
        ((np.eye(3), 2), {"colour": 1}, TypeError, "colour"),
        ((np.zeros((3000, 3000)), 2), {"graph": "radius", "radius": 900}, MemoryError, "smaller"),
    ],
)
def test_invalid_arguments_raise_with_a_remedy(arguments, keywords, error, words):
    with pytest.raises(error, match=words):
        vicinal.segment(*arguments, **keywords)


@pytest.mark.skipif(
    not BERKELEY.is_file(), reason="VICINAL_DATA names no folder with bsds_half.npz"
)
def test_photographs_are_segmented_more_like_human_labels_than_by_colour_and_position():
    Image = pytest.importorskip("PIL.Image")
    from sklearn.cluster import KMeans

    ours, trivial = [], []
    with np.load(io.BytesIO(BERKELEY.read_bytes())) as arrays:
        for name in [str(i) for i in arrays["ids"]][::10]:
            photo = Image.open(io.BytesIO(arrays[f"jpg_{name}"].tobytes())).convert("RGB")
            image = np.asarray(photo)[::2, ::2]
            maps = arrays[f"seg_{name}"][:, ::2, ::2]
            ours.append(global_consistency_error(vicinal.segment(image, 5), maps))
            height, width = image.shape[:2]
            place = np.mgrid[:height, :width].transpose(1, 2, 0) * 50 / max(height, width)
            rows = np.concatenate([comparable(image)[0], place], axis=-1).reshape(-1, 5)
            labels = KMeans(5, n_init=1, random_state=0).fit_predict(rows)
            trivial.append(global_consistency_error(labels.reshape(height, width), maps))
    assert np.mean(ours) < 0.75 * np.mean(trivial)
