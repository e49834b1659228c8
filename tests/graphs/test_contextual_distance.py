"""Contextual distances against formulas (1), (2) and (13) evaluated literally, in many decimal digits."""

from typing import get_args

import numpy as np
import pytest
from contextual_oracles import (
    LITERAL,
    coding_length,
    literal_distances,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal import contextual_distance
from vicinal._core.types import DescriptorLike
from vicinal.datasets import make_half_cylinders, two_clusters
from vicinal.graphs._contextual_distance import DESCRIPTORS
from vicinal.neighbors import NeighborSearch

both = pytest.mark.parametrize("descriptor", LITERAL)


def assert_literal(X, k, descriptor, rows, tolerance=1e-9, epsilon=None, **arguments):
    """Relative to the largest distance in a context: a small one is a difference of large numbers."""
    indices, distances = contextual_distance(
        X, k, descriptor=descriptor, epsilon=epsilon, **arguments
    )
    epsilon = np.sqrt(10.0 * X.shape[1] / k) if epsilon is None else epsilon
    assert distances[:, 0].tolist() == [0.0] * len(X)
    for row in rows:
        expected = literal_distances(X, indices[row], LITERAL[descriptor], epsilon)
        # A distance far below rounding of the descriptor itself has no digits to compare.
        near = tolerance * expected.max()
        np.testing.assert_allclose(distances[row], expected, rtol=0, atol=max(near, 1e-300))


@both
@pytest.mark.parametrize("n_features", [1, 2, 3, 10, 40, 300])
@pytest.mark.parametrize("k", [2, 3, 7, 30])
def test_distances_follow_their_definition(descriptor, n_features, k):
    X = np.random.default_rng(n_features + k).normal(size=(40, n_features))
    rows = [7] if n_features * k > 1000 else [0, 7, 39]
    assert_literal(X, k, descriptor, rows, 1e-11)


def shaped(shape, n_features):
    rng = np.random.default_rng(n_features)
    base = rng.normal(size=(36, n_features))
    return {
        "duplicates": np.repeat(base[:9], 4, axis=0),
        "few values": rng.integers(0, 2, (36, n_features)).astype(float),
        "a line": np.arange(36.0)[:, None] * np.ones(n_features),
        "an outlier": np.vstack([base[:-1], 1e6 * base[-1:]]),
        "far away": base + 1e6,
        "constant columns": np.column_stack([base[:, :1], np.full((36, n_features - 1), 0.1)]),
        "two points many times": np.repeat(base[:2], 18, axis=0),
    }[shape]


@both
@pytest.mark.parametrize("n_features", [1, 3, 25])
@pytest.mark.parametrize(
    "shape",
    [
        "duplicates",
        "few values",
        "a line",
        "an outlier",
        "far away",
        "constant columns",
        "two points many times",
    ],
)
def test_degenerate_contexts_follow_the_definition(descriptor, shape, n_features):
    X = shaped(shape, n_features)
    for k in (2, 6, 19):
        assert_literal(X, k, descriptor, [1, 35])


@both
@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e2, 1e5, 1e9, 1e150, 1e200])
def test_any_scale_follows_the_definition(descriptor, scale):
    rng = np.random.default_rng(4)
    for n_features, k in ((1, 5), (3, 2), (3, 8), (12, 6)):
        X = rng.normal(size=(30, n_features)) * scale
        assert_literal(X, k, descriptor, [3, 20])


@pytest.mark.parametrize("scale", [1e2, 1e5, 1e9])
def test_duplicates_and_lines_are_accurate_at_small_distortions(scale):
    """I + c S is singular without the identity, which is lost in products of such large numbers."""
    for shape in ("duplicates", "a line"):
        for n_features in (2, 12):
            X = scale * shaped(shape, n_features)
            for k in (3, 8, 15):
                assert_literal(X, k, "coding_length", [2, 30])


@pytest.mark.parametrize("epsilon", [1e-200, 1e-6, 0.3, 1.0, 50.0])
def test_the_distortion_can_be_set(epsilon):
    X = np.random.default_rng(0).normal(size=(25, 4))
    assert_literal(X, 6, "coding_length", [0, 24], epsilon=epsilon)
    expected = contextual_distance(X, 6, epsilon=np.sqrt(10 * 4 / 6))[1]
    np.testing.assert_array_equal(contextual_distance(X, 6)[1], expected)


def test_identical_points_are_at_distance_zero():
    for value in (0.0, 0.1, 1e6 / 3):
        for descriptor in LITERAL:
            assert not contextual_distance(np.full((12, 3), value), 5, descriptor=descriptor)[
                1
            ].any()


def test_a_duplicate_is_at_distance_zero():
    X = np.repeat(np.random.default_rng(3).normal(size=(10, 2)), 2, axis=0)
    indices, distances = contextual_distance(X, 5)
    copies = distances[np.arange(20), 1]
    np.testing.assert_array_equal(indices[:, 1] // 2, np.arange(20) // 2)
    assert (copies < 1e-13 * distances.max(axis=1)).all()


@pytest.mark.parametrize("n_features", [1, 3, 40])
@pytest.mark.parametrize("scale", [1.0, 1e-170, 1e200])
def test_the_trivial_descriptor_is_the_euclidean_distance_bit_for_bit(n_features, scale):
    X = np.random.default_rng(0).normal(size=(50, n_features)) * scale
    indices, distances = contextual_distance(X, 1, descriptor="trivial")
    expected = NeighborSearch(X).nearest(1)
    np.testing.assert_array_equal(indices, expected[0])
    np.testing.assert_array_equal(distances, expected[1])


@pytest.mark.parametrize("gamma", [-3.0, -0.25, 1.5])
def test_any_trivial_descriptor_is_the_euclidean_distance(gamma):
    X = np.random.default_rng(1).normal(size=(20, 3))
    combined = contextual_distance(X, 1, descriptor=lambda P: gamma * P[0] + (1 - gamma) * P[-1])[1]
    expected = contextual_distance(X, 1, descriptor="trivial")[1]
    np.testing.assert_allclose(combined, expected, rtol=1e-12)


def test_neighbours_are_the_nearest_with_the_point_first():
    X, _ = make_half_cylinders(30, 20, random_state=0)
    expected = NeighborSearch(X).nearest(7)[0]
    np.testing.assert_array_equal(contextual_distance(X, 7)[0], expected)


@both
def test_distances_are_not_symmetric(descriptor):
    X = np.random.default_rng(0).normal(size=(40, 2))
    indices, distances = contextual_distance(X, 6, descriptor=descriptor)
    dense = np.full((40, 40), np.nan)
    np.put_along_axis(dense, indices, distances, axis=1)
    mutual = np.isfinite(dense) & np.isfinite(dense.T) & ~np.eye(40, dtype=bool)
    assert (dense[mutual] >= 0).all()
    assert (np.abs(dense - dense.T)[mutual] > 1e-3).any()
    assert np.isnan(dense.T[np.isfinite(dense)]).any()


def test_two_clusters_are_separated_where_euclidean_distances_mix_them():
    X, labels = two_clusters()
    indices, distances = contextual_distance(X, 9)
    seen = np.empty(10)
    seen[indices[3]] = distances[3]
    straight = np.linalg.norm(X - X[3], axis=1)
    assert straight[labels == 1].max() < straight[7:].min()
    assert seen[labels == 1].min() > 1.5 * seen[labels == 0].max()


@both
def test_inner_products_give_the_distances_of_their_points(descriptor):
    X = np.random.default_rng(5).normal(size=(30, 6))
    expected = contextual_distance(X, 8, descriptor=descriptor)
    distances = contextual_distance(X @ X.T, 8, descriptor=descriptor, metric="gram", n_features=6)
    np.testing.assert_array_equal(distances[0], expected[0])
    np.testing.assert_allclose(distances[1], expected[1], rtol=1e-9, atol=1e-12)


@both
def test_distances_give_those_of_the_centred_points(descriptor):
    X = np.random.default_rng(6).normal(size=(30, 6))
    lengths = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    expected = contextual_distance(X - X.mean(axis=0), 8, descriptor=descriptor)
    distances = contextual_distance(
        lengths, 8, descriptor=descriptor, metric="precomputed", n_features=6
    )
    np.testing.assert_array_equal(distances[0], expected[0])
    np.testing.assert_allclose(distances[1], expected[1], rtol=1e-9, atol=1e-12)


def test_the_trivial_descriptor_accepts_products_and_distances():
    X = np.random.default_rng(7).normal(size=(15, 2))
    lengths = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    expected = contextual_distance(X, 1, descriptor="trivial")[1]
    given_lengths = contextual_distance(lengths, 1, descriptor="trivial", metric="precomputed")[1]
    given_products = contextual_distance(X @ X.T, 1, descriptor="trivial", metric="gram")[1]
    np.testing.assert_allclose(given_lengths, expected, rtol=1e-12)
    np.testing.assert_allclose(given_products, expected, rtol=1e-9)


def test_given_neighbours_are_used_unchanged():
    X = np.random.default_rng(8).normal(size=(20, 3))
    chosen = np.array(
        [np.random.default_rng(i).permutation(np.delete(range(20), i)) for i in range(20)]
    )
    with_self = np.column_stack([np.arange(20), chosen[:, :5]])
    indices, distances = contextual_distance(X, neighbors=with_self)
    np.testing.assert_array_equal(indices, with_self)
    expected = literal_distances(X, with_self[4], coding_length, np.sqrt(10 * 3 / 5))
    np.testing.assert_allclose(distances[4], expected, atol=1e-10)
    for given_form in (
        chosen[:, :5],
        (chosen[:, :5], np.ones((20, 5))),
        with_self.astype(np.int32),
    ):
        again = contextual_distance(X, neighbors=given_form)
        np.testing.assert_array_equal(again[0], with_self)
        np.testing.assert_array_equal(again[1], distances)


def test_custom_descriptors_may_return_a_number_or_a_vector():
    X = np.random.default_rng(9).normal(size=(20, 3))
    as_vector = contextual_distance(X, 6, descriptor=lambda P: P.mean(axis=0))[1]
    np.testing.assert_allclose(
        as_vector, contextual_distance(X, 6, descriptor="centroid")[1], atol=1e-13
    )
    indices, as_number = contextual_distance(X, 6, descriptor=lambda P: P[:, 0].max())
    for i, context in enumerate(indices):
        values = X[context, 0]
        added = [abs(values.max() - np.delete(values, j).max()) for j in range(7)]
        np.testing.assert_allclose(as_number[i], np.abs(np.subtract(added, added[0])))


def test_descriptors_may_modify_their_argument():
    def sorts(P):
        P.sort(axis=0)
        return np.median(P, axis=0)

    X = np.random.default_rng(10).normal(size=(15, 2))
    before = X.copy()
    distances = contextual_distance(X, 4, descriptor=sorts)[1]
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(
        distances, contextual_distance(X, 4, descriptor=lambda P: np.median(P, axis=0))[1]
    )


tables = st.tuples(st.integers(0, 10_000), st.integers(1, 6), st.integers(2, 8))


@both
@settings(max_examples=25)
@given(table=tables)
def test_the_order_of_points_does_not_matter(descriptor, table):
    seed, n_features, k = table
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, n_features))
    order = rng.permutation(15)
    indices, distances = contextual_distance(X, k, descriptor=descriptor)
    permuted, again = contextual_distance(X[order], k, descriptor=descriptor)
    np.testing.assert_array_equal(order[permuted], indices[order])
    np.testing.assert_array_equal(again, distances[order])


@both
@settings(max_examples=25)
@given(table=tables)
def test_rotation_does_not_matter(descriptor, table):
    seed, n_features, k = table
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, n_features))
    turn = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
    expected = contextual_distance(X, k, descriptor=descriptor)
    distances = contextual_distance(X @ turn, k, descriptor=descriptor)
    np.testing.assert_array_equal(distances[0], expected[0])
    np.testing.assert_allclose(distances[1], expected[1], atol=1e-12)


@settings(max_examples=25)
@given(table=tables, factor=st.sampled_from([1e-9, 0.37, 1e9]))
def test_centroid_distances_move_and_grow_with_the_points(table, factor):
    seed, n_features, k = table
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, n_features))
    expected = contextual_distance(X, k, descriptor="centroid")
    for moved, unit in ((X + rng.normal(size=n_features), 1.0), (X * factor, factor)):
        distances = contextual_distance(moved, k, descriptor="centroid")
        np.testing.assert_array_equal(distances[0], expected[0])
        np.testing.assert_allclose(distances[1], expected[1] * unit, atol=1e-12 * unit)


def test_coding_lengths_depend_on_units_only_through_the_distortion():
    X = np.random.default_rng(2).normal(size=(20, 3))
    expected = contextual_distance(X, 5, epsilon=1.7)[1]
    distances = contextual_distance(2.0**40 * X, 5, epsilon=1.7 * 2.0**40)[1]
    np.testing.assert_array_equal(distances, expected)


@pytest.mark.parametrize("descriptor", ["trivial", *LITERAL])
def test_any_number_of_threads_gives_the_same_bits(descriptor):
    X = np.random.default_rng(0).normal(size=(2500, 3))
    k = 1 if descriptor == "trivial" else 9
    one = contextual_distance(X, k, descriptor=descriptor, n_jobs=1)
    two = contextual_distance(X, k, descriptor=descriptor, n_jobs=2)
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_inner_products_may_be_rounded():
    products = POINTS @ POINTS.T
    expected = contextual_distance(products, 5, descriptor="centroid", metric="gram")[1]
    products[3, 7] += 1e-15 * products.max()
    assert products[3, 7] != products[7, 3]
    distances = contextual_distance(products, 5, descriptor="centroid", metric="gram")[1]
    np.testing.assert_allclose(distances, expected, atol=1e-9)
    assert products[3, 7] != products[7, 3]


@both
@pytest.mark.parametrize("metric", ["euclidean", "precomputed", "gram"])
def test_input_is_not_changed(descriptor, metric):
    X = np.random.default_rng(0).normal(size=(20, 3))
    data = {
        "euclidean": X,
        "precomputed": np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)),
        "gram": X @ X.T,
    }[metric]
    neighbors = NeighborSearch(X).nearest(4)[0]
    before, listed = data.copy(), neighbors.copy()
    data.flags.writeable = neighbors.flags.writeable = False
    contextual_distance(data, 4, descriptor=descriptor, metric=metric, n_features=3)
    contextual_distance(
        data, 4, descriptor=descriptor, neighbors=neighbors, metric=metric, n_features=3
    )
    np.testing.assert_array_equal(data, before)
    np.testing.assert_array_equal(neighbors, listed)


POINTS = np.random.default_rng(0).normal(size=(8, 2))
LENGTHS = np.sqrt(((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))
LISTS = NeighborSearch(POINTS).nearest(3)[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_neighbors": 8}, r"n_neighbors=8, but an integer from 1 to 7.*8 point"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 2.0}, "n_neighbors=2.0"),
        ({"n_neighbors": 1}, r"n_neighbors=1.*'coding_length' needs contexts of 3 points"),
        (
            {"n_neighbors": 1, "descriptor": "centroid"},
            r"n_neighbors=1.*'centroid' needs contexts of 3 points",
        ),
        ({"n_neighbors": 2, "descriptor": "trivial"}, "n_neighbors=2.*one neighbour"),
        ({"descriptor": "mean"}, r"descriptor='mean'.*'trivial', 'centroid', 'coding_length'"),
        ({"descriptor": None}, "descriptor=None"),
        ({"epsilon": 0.0}, "epsilon=0.0"),
        ({"epsilon": -1.0}, "epsilon=-1.0"),
        ({"epsilon": np.nan}, "epsilon=nan"),
        ({"epsilon": "1"}, "epsilon='1'"),
        ({"metric": "manhattan"}, "metric='manhattan'"),
        ({"X": LENGTHS, "metric": "precomputed"}, "n_features=None.*pass n_features"),
        ({"X": LENGTHS, "metric": "precomputed", "n_features": 0}, "n_features=0"),
        ({"X": POINTS, "metric": "precomputed"}, "X has shape .* square"),
        ({"X": LENGTHS - 1, "metric": "precomputed"}, "negative"),
        ({"X": POINTS, "metric": "gram"}, "not a symmetric matrix of inner products"),
        ({"X": np.triu(LENGTHS), "metric": "gram"}, "not a symmetric matrix of inner products"),
        ({"neighbors": LISTS[:-1]}, "neighbors has shape .* 8 points"),
        ({"neighbors": LISTS.astype(float)}, "neighbors .*float64"),
        ({"neighbors": LISTS[:, 0]}, "neighbors has shape"),
        ({"neighbors": LISTS + 1}, "neighbors contains .* points are 0 to 7"),
        ({"neighbors": -LISTS}, "neighbors contains"),
        ({"neighbors": LISTS[:, [0, 1, 1]]}, r"neighbors\[0\] contains a point twice"),
        ({"neighbors": LISTS[:, [1, 2, 0]]}, "itself only in the first column"),
        ({"neighbors": LISTS[:, :2]}, "n_neighbors=1"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"descriptor": lambda P: np.nan}, "descriptor returned nan.*finite"),
        ({"descriptor": lambda P: P[:, 0]}, r"descriptor returned .*shape \(3,\) after .*\(4,\)"),
        ({"descriptor": lambda P: P}, r"descriptor returned an array of shape \(4, 2\)"),
        ({"descriptor": lambda P: P[0], "metric": "gram"}, "callable descriptor needs points"),
    ],
)
def test_errors_name_the_invalid_argument(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        contextual_distance(**{"X": POINTS, "n_neighbors": 3, **arguments})


def test_sparse_distance_matrices_are_rejected():
    from scipy import sparse

    with pytest.raises(TypeError, match="X is sparse"):
        contextual_distance(sparse.csr_array(LENGTHS), 3, metric="precomputed", n_features=2)


def test_overflowing_squares_are_rejected():
    with pytest.raises(ValueError, match="overflow"):
        contextual_distance(1e200 * LENGTHS, 3, descriptor="centroid", metric="precomputed")


def test_every_descriptor_has_a_type_and_an_oracle():
    types, _ = get_args(DescriptorLike)
    assert set(get_args(types)) == set(DESCRIPTORS)
    assert set(LITERAL) == set(DESCRIPTORS) - {"trivial"}  # which is the Euclidean distance
