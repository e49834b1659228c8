"""The Swiss roll: exact distances on the sheet, checked against the length of the rolled curve."""

import numpy as np
import pytest
from scipy.integrate import quad

from vicinal.datasets import make_swiss_roll


def test_points_lie_on_the_rolled_sheet():
    X, sheet = make_swiss_roll(500, random_state=0)
    angle = np.hypot(X[:, 0], X[:, 2])
    np.testing.assert_allclose(angle * np.cos(angle), X[:, 0], atol=1e-9)
    np.testing.assert_allclose(angle * np.sin(angle), X[:, 2], atol=1e-9)
    np.testing.assert_array_equal(sheet[:, 1], X[:, 1])


def test_positions_on_the_sheet_are_arc_lengths():
    X, sheet = make_swiss_roll(50, random_state=0)
    angle = np.hypot(X[:, 0], X[:, 2])
    # The spiral radius = angle moves by hypot(1, angle) a radian.
    expected = [quad(lambda t: np.hypot(1.0, t), 1.5 * np.pi, a)[0] for a in angle]
    np.testing.assert_allclose(sheet[:, 0], expected, rtol=1e-9)


def test_geodesics_are_euclidean_on_the_sheet():
    _, sheet, geodesics = make_swiss_roll(60, noise=0.5, random_state=0, return_geodesics=True)
    expected = np.sqrt(((sheet[:, None] - sheet[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(geodesics, expected, rtol=1e-12)


def test_a_fine_chain_on_the_roll_is_as_long_as_the_geodesic():
    """Straight steps between close points of a geodesic add up to its length."""
    X, sheet, geodesics = make_swiss_roll(2, random_state=3, return_geodesics=True)
    steps = np.linspace(0.0, 1.0, 20_001)[:, None]
    along = sheet[0] + steps * (sheet[1] - sheet[0])
    angles = np.linspace(1.5 * np.pi, 4.5 * np.pi, 200_001)
    lengths = np.concatenate(
        [[0.0], np.cumsum(np.hypot(*np.diff([angles * np.cos(angles), angles * np.sin(angles)])))]
    )
    angle = np.interp(along[:, 0], lengths, angles)
    chain = np.column_stack([angle * np.cos(angle), along[:, 1], angle * np.sin(angle)])
    np.testing.assert_allclose(chain[[0, -1]], X, atol=1e-3)
    length = np.linalg.norm(np.diff(chain, axis=0), axis=1).sum()
    np.testing.assert_allclose(length, geodesics[0, 1], rtol=1e-5)


def test_points_are_even_over_the_sheet():
    _, sheet = make_swiss_roll(20_000, random_state=0)
    counts, *_ = np.histogram2d(*sheet.T, bins=5)
    assert abs(counts - 800).max() < 5 * np.sqrt(800)


def test_noise_moves_points_but_not_their_positions_on_the_sheet():
    clean, sheet = make_swiss_roll(4000, random_state=0)
    noisy, same = make_swiss_roll(4000, noise=0.5, random_state=0)
    np.testing.assert_array_equal(sheet, same)
    np.testing.assert_allclose((noisy - clean).std(axis=0), 0.5, rtol=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"), [({"n_points": 0}, "n_points=0"), ({"noise": -1.0}, "noise=-1.0")]
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_swiss_roll(**arguments)
