"""Half-cylinders: where their points lie, and how the noise is spread."""

import numpy as np
import pytest

from vicinal.datasets import make_half_cylinders, two_clusters


def test_points_lie_on_two_half_cylinders_that_reach_into_each_other():
    X, labels = make_half_cylinders(500, 300, random_state=0)
    first, second = X[labels == 0], X[labels == 1]
    np.testing.assert_array_equal(labels, np.repeat([0, 1, -1], [500, 500, 300]))
    np.testing.assert_allclose(np.hypot(first[:, 0], first[:, 1]), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.hypot(second[:, 0] - 1.0, second[:, 1] - 0.5), 1.0, rtol=1e-12)
    assert first[:, 1].min() >= 0
    assert second[:, 1].max() <= 0.5
    for surface in (first, second):
        assert surface[:, 2].min() >= 0
        assert surface[:, 2].max() <= 3
        assert np.ptp(surface[:, 2]) > 2.9
    # Each reaches over the edge of the other.
    assert second[:, 0].min() < first[:, 0].max()
    assert first[:, 1].min() < second[:, 1].max()


def test_noise_fills_the_bounding_box_and_a_margin_evenly():
    X, labels = make_half_cylinders(500, 20_000, random_state=1)
    surfaces, noise = X[labels >= 0], X[labels == -1]
    low, high = surfaces.min(axis=0) - 0.3, surfaces.max(axis=0) + 0.3
    places = (noise - low) / (high - low)
    assert places.min() >= 0
    assert places.max() <= 1
    counts, _ = np.histogramdd(places, bins=3, range=[(0, 1)] * 3)
    assert abs(counts - 20_000 / 27).max() < 5 * np.sqrt(20_000 / 27)


def test_surfaces_are_covered_evenly():
    X, labels = make_half_cylinders(20_000, 0, random_state=2)
    first = X[labels == 0]
    angle = np.arctan2(first[:, 1], first[:, 0])
    counts, *_ = np.histogram2d(angle, first[:, 2], bins=4, range=[(0, np.pi), (0, 3)])
    assert abs(counts - 1250).max() < 5 * np.sqrt(1250)


def test_a_seed_gives_the_same_points_and_another_seed_others():
    X = make_half_cylinders(20, 10, random_state=3)[0]
    np.testing.assert_array_equal(X, make_half_cylinders(20, 10, random_state=3)[0])
    assert not np.array_equal(X, make_half_cylinders(20, 10, random_state=4)[0])


@pytest.mark.parametrize(
    ("argument", "value"), [("n_points", 0), ("n_noise", -1), ("n_noise", 1.5)]
)
def test_a_bad_argument_is_named(argument, value):
    with pytest.raises((TypeError, ValueError), match=f"{argument}={value}"):
        make_half_cylinders(**{argument: value})


def test_two_clusters_are_a_line_and_a_compact_group_near_its_end():
    X, labels = two_clusters()
    line, compact = X[labels == 0], X[labels == 1]
    assert (len(line), len(compact)) == (7, 3)
    assert np.ptp(line[:, 0]) == 0
    width = np.linalg.norm(compact[:, None] - compact[None], axis=-1).max()
    between = np.linalg.norm(compact[:, None] - line[None], axis=-1)
    assert width < 0.1 * between.min()
    assert between.min() < np.ptp(line[:, 1])


def test_two_clusters_cannot_be_changed_by_what_is_done_with_them():
    X, labels = two_clusters()
    X[:], labels[:] = 0, 0
    assert two_clusters()[0].any()
    assert two_clusters()[1].any()
