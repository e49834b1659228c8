"""Vectors of lanes compute in each lane what a scalar would, in both precisions."""

import numpy as np
import pytest

from vicinal._core._lane_kernels import (
    count_lanes,
    first_bit,
    flush,
    larger,
    largest_of,
    load,
    load_from,
    magnitude,
    only_below,
    store,
    which_below,
    wide,
    zeros_like,
)
from vicinal._core.jit import jit


@jit
def arithmetic(x, y, indices, out):
    for i in range(len(indices)):
        a, b = load(x, indices[i]), load(y, i)
        a += 2 * b
        a -= b * 0.5
        store(out, i, a + a * b - (b - 1.5))


@jit
def reductions(x, totals, largest, flushed):
    total = zeros_like(wide(load(x, 0)))
    size = zeros_like(load(x, 0))
    for i in range(len(x) // len(largest)):
        total += wide(load(x, i)) * wide(load(x, i))
        size = larger(size, magnitude(load(x, i)))
        store(flushed, i, flush(load(x, i)))
    store(totals, 0, total)
    store(largest, 0, size)


@jit
def first_below(x, position, limit):
    bits = which_below(load_from(x, position), limit)
    return -1 if bits == 0 else position + first_bit(bits)


@jit
def largest_below(x, position, limit):
    return largest_of(only_below(load_from(x, position), limit))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arithmetic_of_rows(dtype):
    width, rng = count_lanes(dtype), np.random.default_rng(0)
    x, y = rng.normal(size=(2, 7, width)).astype(dtype)
    indices = rng.permutation(7).astype(np.uint32)
    out = np.empty((7, width), dtype)
    arithmetic(x.ravel(), y.ravel(), indices, out.reshape(-1))
    a = x[indices] + 2 * y - 0.5 * y
    assert out == pytest.approx(a + a * y - (y - 1.5), rel=1e-5 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize(("dtype", "tiny"), [(np.float32, 1e-31), (np.float64, 1e-300)])
def test_sums_magnitudes_and_tiny_values(dtype, tiny):
    width = count_lanes(dtype)
    x = np.random.default_rng(1).normal(size=(5, width)).astype(dtype)
    x[1, 0], x[2, 1], x[3, 2] = tiny, -tiny, -9.0
    totals, largest, flushed = np.empty(width), np.empty(width, dtype), np.empty_like(x)
    reductions(x.ravel(), totals, largest, flushed.reshape(-1))
    # Sums are in double precision, of products that are exact there.
    assert totals == pytest.approx((x.astype(np.float64) ** 2).sum(axis=0), rel=1e-14)
    assert (largest == np.abs(x).max(axis=0)).all()
    assert (flushed == np.where(np.abs(x) <= abs(dtype(tiny)), 0.0, x)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_below_a_limit_are_found_from_any_position(dtype):
    width = count_lanes(dtype)
    x = np.random.default_rng(2).random(3 * width).astype(dtype)
    x[5] = np.nan
    for position in range(2 * width):
        for limit in (0.0, x[17], 0.1, 0.9, np.inf):
            below = np.flatnonzero(x[position : position + width] < limit)
            expected = position + below[0] if len(below) else -1
            assert first_below(x, position, limit) == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_value_below_a_limit(dtype):
    width = count_lanes(dtype)
    x = np.random.default_rng(3).normal(size=2 * width).astype(dtype)
    for position in range(width):
        values = x[position : position + width]
        for limit in (values.min(), values[3], 0.0, np.inf):
            expected = values[values < limit].max(initial=-np.inf)
            assert largest_below(x, position, limit) == expected
