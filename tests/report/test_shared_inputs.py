"""Inputs that steps share, and what is freed."""

import numpy as np
import pytest

from vicinal import SpectralClustering, graphs, perceive
from vicinal.datasets import make_two_moons
from vicinal.report._shared_inputs import N_FINER, SharedInputs
from vicinal.report._steps.clusters import _tree_labels
from vicinal.report._steps.n_clusters import count_clusters


@pytest.fixture
def moons():
    return make_two_moons(400, noise=0.05, random_state=0)


def test_eigenpairs_are_those_of_the_clusters_and_finer_layers(moons):
    inputs = SharedInputs(moons[0], 100, 0, 1, 0)
    count = count_clusters(inputs, "auto")
    assert count.n_clusters == 2
    assert len(inputs.spectrum.pairs.values) == count.n_clusters + N_FINER
    assert len(inputs.tree_pairs.values) == 3


@pytest.mark.parametrize("n_clusters", [1, 2, 7, 40])
def test_clusters_by_trees_are_those_of_spectral_clustering(moons, n_clusters):
    inputs = SharedInputs(moons[0], 100, 0, 1, 0)
    model = SpectralClustering(n_clusters, random_state=0, n_jobs=1).fit(inputs.trees)
    np.testing.assert_array_equal(_tree_labels(inputs, n_clusters), model.labels_)


def test_equal_rows_have_one_tree_if_a_second_does_not_exist():
    assert SharedInputs(np.ones((12, 2)), 100, 0, 1, 0).trees.n_edges == 11


def test_disjoint_trees_are_built_once_with_as_many_trees_as_exist(monkeypatch):
    from vicinal.graphs import trees

    built = []
    build = trees.disjoint_trees
    monkeypatch.setattr(
        trees, "disjoint_trees", lambda *args: built.append(args[2]) or build(*args)
    )
    X = np.repeat(np.random.default_rng(0).random((2, 2)), 10, axis=0)
    expected = next(
        graph for n_trees in (4, 3, 2, 1) if (graph := disjoint_mst_or_none(X, n_trees)) is not None
    )
    built.clear()
    assert SharedInputs(X, 100, 0, 1, 0).trees == expected
    assert built == [4]


def disjoint_mst_or_none(X, n_trees):
    try:
        return graphs.disjoint_mst(X, n_trees)
    except ValueError:
        return None


def test_the_perceptual_plane_survives_the_walk(moons):
    inputs = SharedInputs(moons[0], 100, 0, 1, 0)
    expected = inputs.spectrum.pairs.vectors[:, :2].copy()
    inputs.release_walk()
    assert not {"digraph", "spectrum"} & set(vars(inputs))
    np.testing.assert_array_equal(inputs.perceptual_plane, expected)


def test_nothing_is_solved_to_be_released(moons):
    inputs = SharedInputs(moons[0], 100, 0, 1, 0)
    inputs.release_walk()
    assert not {"digraph", "spectrum", "perceptual_plane"} & set(vars(inputs))


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_steps_at_the_same_time_give_the_same_results(moons, n_jobs):
    X, arm = moons
    alone, together = (perceive(X, labels=arm, sample=100, n_jobs=n) for n in (1, n_jobs))
    assert list(together.seconds) == list(alone.seconds)
    assert alone.count.why == together.count.why
    np.testing.assert_array_equal(alone.labels, together.labels)
    np.testing.assert_array_equal(alone.count.stability, together.count.stability)
    for name in alone.maps:
        np.testing.assert_array_equal(alone.maps[name], together.maps[name])
