"""Options that mean the same everywhere are checked in one place, also where they are not used."""

import numpy as np
import pytest

from vicinal._core.options import (
    check_flag,
    check_mapping,
    check_seed,
    check_verbose,
    checked,
    random_generator,
    seed_from,
)
from vicinal._core.scalar_checks import check_count, check_list, check_real
from vicinal.cluster import k_subspaces
from vicinal.datasets import make_two_moons


@checked
def example(X, flag: "bool" = False, *, random_state=None, n_jobs=None, verbose=0):
    """A function that uses none of its options."""
    return X


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"flag": 1}, "flag=1, but True or False"),
        ({"flag": "yes"}, "flag='yes', but True or False"),
        ({"random_state": "bogus"}, "random_state='bogus', but an integer"),
        ({"random_state": -1}, "random_state=-1"),
        ({"random_state": 10**30}, "random_state=1000"),
        ({"verbose": "much"}, "verbose='much'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_invalid_options_are_rejected_even_if_unused(options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        example(3, **options)


def test_missing_arguments_raise_the_error_of_python():
    with pytest.raises(TypeError, match="unexpected keyword argument 'bogus'"):
        example(3, bogus=1)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'X'"):
        example()
    assert example(3, np.True_, random_state=np.random.default_rng(0), verbose=True) == 3


@pytest.mark.parametrize(
    "make", [lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)]
)
def test_every_kind_of_seed_is_reproducible(make):
    assert seed_from(make()) == seed_from(make())
    assert random_generator(make()).random() == random_generator(make()).random()
    np.testing.assert_array_equal(
        make_two_moons(20, random_state=make())[0], make_two_moons(20, random_state=make())[0]
    )


def test_checks_return_plain_python_values():
    assert check_flag(np.True_, "flag") is True
    assert check_verbose(True) == 1
    assert check_seed(np.uint8(3)) == 3
    assert check_mapping(None, "graph_params") == {}
    assert check_list((1, 2), "ts", "numbers") == [1, 2]


@pytest.mark.parametrize("value", [[], "k", 3, {1: 2}, {"a"}])
def test_graph_params_must_map_names_to_values(value):
    with pytest.raises(TypeError, match="graph_params="):
        check_mapping(value, "graph_params")


def test_numbers_of_any_type_are_converted_or_rejected():
    from fractions import Fraction

    assert check_real(Fraction(1, 4), "beta") == 0.25
    assert check_real(10**30, "beta") == 1e30
    with pytest.raises(ValueError, match="beta=1000"):
        check_real(10**400, "beta")
    with pytest.raises(ValueError, match=r"n_steps=1000\d+, but an integer from 1 to 2\*\*63 - 1"):
        check_count(10**30, "n_steps")


def test_subspace_clustering_of_integers_and_data_frames_equals_that_of_floats():
    pandas = pytest.importorskip("pandas")
    rows = np.array([[1, 0], [2, 0], [0, 3], [0, 1]])
    expected = k_subspaces(rows.astype(float), 2)[0]
    np.testing.assert_array_equal(k_subspaces(rows, 2)[0], expected)
    np.testing.assert_array_equal(k_subspaces(pandas.DataFrame(rows), 2)[0], expected)
    # Only the directions count, at any magnitude.
    np.testing.assert_array_equal(k_subspaces(rows * 1e300, 2)[0], expected)
    np.testing.assert_array_equal(k_subspaces(rows * 1e-310, 2)[0], expected)


def test_regression_without_points_raises_a_clear_error():
    from vicinal import GraphRegressor

    with pytest.raises(ValueError, match=r"0 points|0 sample"):
        GraphRegressor().fit(np.empty((0, 2)), [])


def test_centroid_contexts_do_not_depend_on_the_unit_for_denormals():
    from vicinal import contextual_distance

    X = np.random.default_rng(0).integers(0, 1 << 20, (12, 3)).astype(float)
    expected = contextual_distance(X, 3, descriptor="centroid")[1]
    distances = contextual_distance(np.ldexp(X, -1074), 3, descriptor="centroid")[1]
    np.testing.assert_allclose(np.ldexp(distances, 1074), expected, atol=1.0)


def test_options_are_checked_by_position_and_by_name():
    @checked
    def search(X, n_jobs=1, *, verbose=0):
        return X, n_jobs, verbose

    assert search(1, 2, verbose=3) == (1, 2, 3)
    for call in (
        lambda: search(1, "two"),
        lambda: search(1, n_jobs="two"),
        lambda: search(1, verbose="much"),
    ):
        with pytest.raises(TypeError, match=r"'two'|'much'"):
            call()
    with pytest.raises(TypeError, match="positional"):
        search(1, 2, 3)
    with pytest.raises(TypeError, match="unexpected"):
        search(1, speed=3)
