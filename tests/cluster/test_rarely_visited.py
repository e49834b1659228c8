"""Nodes that the walk almost never visits belong where their own steps lead."""

import numpy as np
import pytest
from scipy import sparse

from vicinal.cluster._rarely_visited import follow_steps

# Nodes 0 to 2 and 3 to 5 are clusters; 6 and 7 lead to the second, by way of each other.
STEPS = np.zeros((8, 8))
STEPS[:3, :3] = STEPS[3:6, 3:6] = 1.0
STEPS[6, [3, 7]] = 1.0
STEPS[7, [4, 6]] = 1.0
MASSES = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1e-5, 1e-5])
LABELS = np.array([0, 0, 0, 1, 1, 1, 0, 0])


def follow(steps=STEPS, masses=MASSES, labels=LABELS):
    before = labels.copy()
    result = follow_steps(sparse.csr_array(steps), masses, labels)
    assert np.array_equal(labels, before)
    return result.tolist()


def test_rarely_visited_nodes_follow_their_steps_through_each_other():
    assert follow() == [0, 0, 0, 1, 1, 1, 1, 1]


def test_probabilities_are_those_of_absorption():
    # From 6 the walk enters cluster 0 first with probability p = 0.95 / (1 - 0.05 * 0.5).
    steps = STEPS.copy()
    steps[6] = [0.95, 0, 0, 0, 0, 0, 0, 0.05]
    steps[7] = [0, 0, 0, 0.5, 0, 0, 0.5, 0]
    matrix = steps[6:, 6:]
    entered = np.column_stack([steps[6:, :3].sum(axis=1), steps[6:, 3:6].sum(axis=1)])
    absorbed = np.linalg.solve(np.eye(2) - matrix, entered)
    assert absorbed[0, 0] > 0.9 > absorbed[1].max()
    assert follow(steps, labels=np.array([0, 0, 0, 1, 1, 1, 1, 1])) == [0, 0, 0, 1, 1, 1, 0, 1]


@pytest.mark.parametrize("mass", [0.01, 1.0])
def test_nodes_that_are_visited_keep_their_cluster(mass):
    assert follow(masses=np.array([1.0] * 6 + [mass] * 2)) == LABELS.tolist()


def test_a_cluster_that_is_rarely_visited_as_a_whole_keeps_its_nodes():
    steps = STEPS.copy()
    steps[0, 3] = 1.0
    assert follow(steps, np.array([1e-5] * 3 + [1.0] * 3 + [1e-9] * 2))[:3] == [0, 0, 0]


def test_noise_stays_noise_and_is_not_entered():
    labels = np.array([0, 0, 0, 1, 1, -1, 0, -1])
    assert follow(labels=labels) == [0, 0, 0, 1, 1, -1, 1, -1]


@pytest.mark.parametrize("labels", [np.zeros(8, int), np.full(8, -1)])
def test_one_cluster_or_none_stays_as_it_is(labels):
    assert follow(labels=labels) == labels.tolist()


def test_a_node_without_steps_keeps_its_cluster():
    steps = STEPS.copy()
    steps[6:] = 0.0
    assert follow(steps) == LABELS.tolist()
