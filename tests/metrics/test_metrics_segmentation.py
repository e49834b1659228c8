import io
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vicinal.metrics import global_consistency_error, local_consistency_error

BERKELEY = Path(os.environ.get("VICINAL_DATA", "")) / "bsds_half.npz"

shapes = st.tuples(st.integers(1, 4), st.integers(1, 5))
map_pairs = shapes.flatmap(
    lambda shape: st.tuples(*(arrays(np.int64, shape, elements=st.integers(0, 3)) for _ in "ab"))
)


def errors_by_pixels(one, other):
    """The definition: regions as sets of pixels, a loop over pixels."""
    one, other = one.ravel(), other.ravel()
    forth, back = [], []
    for p in range(len(one)):
        a, b = set(np.flatnonzero(one == one[p])), set(np.flatnonzero(other == other[p]))
        forth.append(len(a - b) / len(a))
        back.append(len(b - a) / len(b))
    n = len(one)
    return min(sum(forth), sum(back)) / n, sum(map(min, forth, back)) / n


@given(map_pairs)
def test_errors_follow_their_definition_over_pixels(pair):
    segments, human = pair
    expected = errors_by_pixels(segments, human)
    assert global_consistency_error(segments, human) == pytest.approx(expected[0], abs=1e-12)
    assert local_consistency_error(segments, human) == pytest.approx(expected[1], abs=1e-12)


@given(map_pairs)
def test_local_error_is_at_most_the_global_one_and_both_are_symmetric(pair):
    segments, human = pair
    for error in (global_consistency_error, local_consistency_error):
        assert error(segments, human) == pytest.approx(error(human, segments), abs=1e-15)
    local, whole = (
        local_consistency_error(segments, human),
        global_consistency_error(segments, human),
    )
    assert 0 <= local <= whole + 1e-15 <= 1


def test_a_refinement_has_no_error():
    rng = np.random.default_rng(0)
    fine = rng.integers(0, 12, (20, 30))
    for error in (global_consistency_error, local_consistency_error):
        assert error(fine, fine // 3) == error(fine // 3, fine) == 0
        assert error(fine, np.zeros_like(fine)) == 0


def test_refinements_in_both_directions_are_a_global_error_only():
    segments, human = np.array([[0, 0, 1, 2]]), np.array([[0, 1, 2, 2]])
    assert local_consistency_error(segments, human) == 0
    assert global_consistency_error(segments, human) == 0.25


@pytest.mark.parametrize("error", [global_consistency_error, local_consistency_error])
def test_the_closest_of_several_maps_counts(error):
    rng = np.random.default_rng(1)
    segments = rng.integers(0, 3, (9, 8))
    maps = rng.integers(0, 4, (5, 9, 8))
    each = [error(segments, single) for single in maps]
    assert len(set(each)) > 1
    assert error(segments, maps) == error(segments, list(maps)) == min(each)


@pytest.mark.parametrize("error", [global_consistency_error, local_consistency_error])
@pytest.mark.parametrize(
    ("segments", "maps", "words"),
    [
        (np.zeros(4), np.zeros((2, 2)), r"segments has shape \(4,\)"),
        (np.zeros((0, 2)), np.zeros((0, 2)), r"segments has shape \(0, 2\)"),
        (np.zeros((2, 2)), np.zeros((2, 3)), r"human_maps has shape \(2, 3\).*\(2, 2\)"),
        (np.zeros((2, 2)), [], r"human_maps has shape \(0,\)"),
        (np.zeros((2, 2)), [np.zeros((2, 2)), np.zeros((2, 3))], "human_maps have shapes"),
        (np.zeros((2, 2)), [[0, np.nan], [0, 0]], "NaN"),
    ],
)
def test_errors_name_the_remedy(error, segments, maps, words):
    with pytest.raises(ValueError, match=words):
        error(segments, maps)


@pytest.mark.skipif(
    not BERKELEY.is_file(), reason="VICINAL_DATA names no folder with bsds_half.npz"
)
def test_people_agree_with_each_other_as_published():
    from itertools import combinations

    with np.load(io.BytesIO(BERKELEY.read_bytes())) as arrays:
        maps = [arrays[name] for name in arrays.files if name.startswith("seg_")][:10]
    pairs = [pair for each in maps for pair in combinations(each, 2)]
    assert np.mean([global_consistency_error(*pair) for pair in pairs]) < 0.12
    assert np.mean([local_consistency_error(*pair) for pair in pairs]) < 0.08
