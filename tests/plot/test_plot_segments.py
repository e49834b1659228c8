import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")

import vicinal  # noqa: E402
from vicinal.plot.boundaries import boundary_lines  # noqa: E402


def unit_steps(lines):
    """Boundary lines cut into sides of single pixels, each as a pair of corners."""
    steps = set()
    for (x0, y0), (x1, y1) in lines:
        for t in range(round(abs(x1 - x0) + abs(y1 - y0))):
            dx, dy = np.sign(x1 - x0), np.sign(y1 - y0)
            steps.add((x0 + t * dx, y0 + t * dy, x0 + (t + 1) * dx, y0 + (t + 1) * dy))
    return steps


def sides_by_pixels(labels):
    sides = set()
    height, width = labels.shape
    for y in range(height):
        for x in range(width):
            if x + 1 < width and labels[y, x] != labels[y, x + 1]:
                sides.add((x + 0.5, y - 0.5, x + 0.5, y + 0.5))
            if y + 1 < height and labels[y, x] != labels[y + 1, x]:
                sides.add((x - 0.5, y + 0.5, x + 0.5, y + 0.5))
    return sides


@pytest.mark.parametrize("shape", [(7, 9), (1, 6), (6, 1), (1, 1)])
def test_lines_are_the_sides_between_pixels_of_different_labels(shape):
    labels = np.random.default_rng(0).integers(0, 3, shape)
    assert unit_steps(boundary_lines(labels)) == sides_by_pixels(labels)


def test_a_straight_boundary_is_one_line():
    labels = np.zeros((50, 40), dtype=int)
    labels[:, 25:] = 1
    np.testing.assert_array_equal(boundary_lines(labels), [[[24.5, -0.5], [24.5, 49.5]]])


def test_mean_colors_fill_each_segment():
    rng = np.random.default_rng(0)
    image, labels = rng.integers(0, 256, (6, 7, 3), dtype=np.uint8), rng.integers(0, 3, (6, 7)) * 5
    shown = vicinal.plot.segments(image, labels, mean_colors=True).images[0].get_array()
    for label in (0, 5, 10):
        expected = image[labels == label].mean(axis=0) / 255
        np.testing.assert_allclose(
            shown[labels == label], np.tile(expected, (np.sum(labels == label), 1))
        )


@pytest.mark.parametrize(
    "image",
    [
        np.eye(5, dtype=bool),
        np.eye(5, dtype=np.uint16) * 40_000,
        np.eye(5) * 1e300,
        np.stack([np.eye(5)] * 4, axis=-1),
        np.stack([np.eye(5) - 7] * 6, axis=-1),
        np.zeros((5, 5)),
    ],
)
def test_every_kind_of_image_can_be_drawn(image):
    labels = np.eye(5, dtype=int)
    before = image.copy()
    ax = vicinal.plot.segments(image, labels)
    ax.figure.savefig("/dev/null", format="png")
    assert len(ax.collections) == 1
    shown = ax.images[0].get_array()
    assert 0 <= shown.min() <= shown.max() <= 1
    np.testing.assert_array_equal(image, before)


def test_pyplot_is_not_needed_and_given_axes_are_used():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert vicinal.plot.segments(np.eye(3), np.eye(3), ax=ax, line_width=0) is ax
    assert not ax.collections


def test_the_name_stays_a_function_after_its_first_use():
    vicinal.plot.segments(np.eye(3), np.eye(3))
    assert callable(vicinal.plot.segments)


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: vicinal.plot.segments(np.eye(3), np.eye(4)), r"labels has shape \(4, 4\)"),
        (lambda: vicinal.plot.segments(np.zeros(3), np.eye(4)), r"image has shape \(3,\)"),
        (lambda: vicinal.plot.segments(np.eye(3), np.eye(3), line_width=-1), "line_width=-1"),
    ],
)
def test_errors_name_the_remedy(draw, words):
    with pytest.raises(ValueError, match=words):
        draw()
