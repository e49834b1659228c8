import numpy as np
import pytest

from vicinal.datasets import load_noisy_spiral, make_helices, make_spirals, make_two_moons


def test_shipped_spiral_is_what_its_generator_makes():
    X, _ = make_spirals(300, n_arms=1, turns=2, noise=0.05, random_state=2)
    np.testing.assert_allclose(load_noisy_spiral(), X, atol=1e-6)


@pytest.mark.parametrize("make", [make_spirals, make_helices, make_two_moons])
def test_a_seed_gives_the_same_points_and_another_seed_others(make):
    X, y = make(50, random_state=3)
    again, labels = make(50, random_state=3)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, labels)
    assert not np.array_equal(X, make(50, random_state=4)[0])


@pytest.mark.parametrize(("n_points", "n_arms"), [(1, 1), (7, 3), (100, 4), (2, 5)])
def test_arms_share_the_points_evenly(n_points, n_arms):
    X, y = make_spirals(n_points, n_arms=n_arms, random_state=0)
    counts = np.bincount(y, minlength=n_arms)
    assert len(X) == n_points
    assert counts.max() - counts.min() <= 1


def test_without_noise_an_arm_is_one_curve_that_grows_with_its_angle():
    X, y = make_spirals(300, n_arms=2, turns=1.5, noise=0.0, random_state=0)
    for arm in (0, 1):
        radius = np.hypot(*X[y == arm].T)
        angle = np.unwrap(np.arctan2(X[y == arm, 1], X[y == arm, 0]))
        assert np.all(np.diff(radius) > 0)
        assert radius[0] >= 0.15
        assert radius[-1] <= 1.0
        growth = np.polyfit(angle, radius, 1)[0]
        assert growth == pytest.approx(0.85 / (2 * np.pi * 1.5), rel=1e-6)


def test_points_lie_evenly_along_a_spiral():
    X, _ = make_spirals(20_000, n_arms=1, turns=3, noise=0.0, random_state=0)
    steps = np.linalg.norm(np.diff(X, axis=0), axis=1)
    inner, outer = steps[:5000].sum(), steps[-5000:].sum()
    assert inner == pytest.approx(outer, rel=0.1)


def test_without_noise_moons_are_half_circles():
    X, y = make_two_moons(101, noise=0.0, random_state=0)
    assert np.bincount(y).tolist() == [51, 50]
    np.testing.assert_allclose(np.hypot(*X[y == 0].T), 1.0)
    np.testing.assert_allclose(np.hypot(*(X[y == 1] - [1.0, 0.5]).T), 1.0)
    assert X[y == 0, 1].min() >= 0
    assert X[y == 1, 1].max() <= 0.5


@pytest.mark.parametrize(
    ("make", "argument", "value"),
    [
        (make_spirals, "n_points", 0),
        (make_spirals, "n_arms", 1.5),
        (make_spirals, "turns", 0.0),
        (make_spirals, "noise", -1.0),
        (make_two_moons, "n_points", -3),
        (make_two_moons, "noise", float("nan")),
    ],
)
def test_a_bad_argument_is_named(make, argument, value):
    with pytest.raises((TypeError, ValueError), match=argument):
        make(**{argument: value})


@pytest.mark.parametrize(("n_points", "n_curves"), [(1, 1), (7, 3), (100, 4), (2, 5)])
def test_helices_lie_on_a_cylinder_and_share_the_points_evenly(n_points, n_curves):
    X, y = make_helices(n_points, n_curves=n_curves, noise=0.0, random_state=0)
    np.testing.assert_allclose(np.hypot(X[:, 0], X[:, 1]), 1.0)
    assert (X[:, 2] >= 0).all()
    assert (X[:, 2] <= 6).all()
    assert np.ptp(np.bincount(y, minlength=n_curves)) <= 1


def test_no_gap_of_a_helix_is_wider_than_two_parts():
    X, y = make_helices(300, turns=2.0, height=4.0, noise=0.0, random_state=0)
    steps = np.linalg.norm(np.diff(X, axis=0), axis=1)[np.diff(y) == 0]
    assert steps.max() < 2 * np.hypot(4 * np.pi, 4.0) / 100
