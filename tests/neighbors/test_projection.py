"""Leading axes: the recall estimated on a sample equals that of a full ranking along them."""

import numpy as np
import pytest

from vicinal.neighbors._projection import (
    AXES_STEP,
    draw_sample,
    fraction_listed,
    is_listed,
    leading_axes,
)

K, LENGTH = 6, 14


@pytest.fixture(scope="module")
def cloud():
    rng = np.random.default_rng(0)
    spread = np.geomspace(1, 0.02, 40)
    points = (rng.normal(size=(1500, 40)) * spread).astype(np.float32)
    return points, (np.square(points).sum(axis=1) / 2).astype(np.float32)


def test_a_sample_contains_the_nearest_points_in_order(cloud):
    points, half = cloud
    rows, near = draw_sample(points, half, 4 * LENGTH, np.random.default_rng(1))
    squares = np.square(points[rows, None].astype(float) - points.astype(float)).sum(axis=2)
    squares[np.arange(len(rows)), rows] = np.inf
    true = np.argsort(squares, axis=1)[:, : near.shape[1]]
    assert (near == true).mean() > 0.999
    assert (near != rows[:, None]).all()


def test_the_estimated_loss_is_that_of_a_full_ranking(cloud):
    points, half = cloud
    sample = draw_sample(points, half, 4 * LENGTH, np.random.default_rng(1))
    axes = np.linalg.svd(points, full_matrices=False)[2]
    kept = is_listed(axes, points, half, sample, K, LENGTH)
    assert kept.shape == (len(sample.rows), K, 40 // AXES_STEP)
    for r in range(kept.shape[2]):
        first = axes[: (r + 1) * AXES_STEP]
        keys = half - (points[sample.rows] @ first.T) @ (points @ first.T).T
        keys[np.arange(len(keys)), sample.rows] = np.inf
        listed = np.argsort(keys, axis=1)[:, :LENGTH]
        literal = (sample.near[:, :K, None] == listed[:, None, :]).any(axis=2)
        # Points outside the sample's lists may enter too; few do once axes suffice.
        assert (kept[:, :, r] != literal).mean() < (0.05 if r == 0 else 0.01)


def test_the_fewest_axes_within_the_loss_are_used(cloud):
    points, half = cloud
    sample = draw_sample(points, half, 4 * LENGTH, np.random.default_rng(1))

    def taken(allowed):
        return leading_axes(points, half, sample, K, LENGTH, allowed, np.random.default_rng(2))

    assert AXES_STEP <= len(taken(0.2)) < len(taken(0.001)) <= 28
    assert taken(-1.0) is None


def test_lists_are_compared_by_distance_so_ties_count(cloud):
    points, half = cloud
    copies = np.repeat(points[:50], 30, axis=0)
    sample = draw_sample(copies, np.repeat(half[:50], 30), 20, np.random.default_rng(0))
    # Any duplicates are correct, other points are not.
    alike = 30 * (sample.rows[:, None] // 30) + np.arange(LENGTH)
    shares = fraction_listed(copies, sample, np.where(alike == sample.rows[:, None], 0, alike), K)
    assert (shares == 1).all()
    others = (30 * (sample.rows[:, None] // 30 + 1) + np.arange(LENGTH)) % len(copies)
    assert (fraction_listed(copies, sample, others, K) == 0).all()
