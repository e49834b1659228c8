"""Layers: fewer clusters are unions of the reported ones, more clusters divide the rows further."""

import numpy as np
import pytest
from scipy import sparse

from vicinal.report._steps.layers import merged_clusters


def literal_merge(weights, labels):
    """The pair of clusters with the largest weight between them, over the product of their weights."""
    present = sorted(set(labels[labels >= 0]))
    known = weights * np.outer(labels >= 0, labels >= 0)
    best = max(
        ((a, b) for i, a in enumerate(present) for b in present[i + 1 :]),
        key=lambda pair: (
            known[np.ix_(labels == pair[0], labels == pair[1])].sum()
            / (known[labels == pair[0]].sum() * known[labels == pair[1]].sum())
        ),
    )
    return np.where(labels == best[1], best[0], labels)


@pytest.mark.parametrize("seed", range(4))
def test_merging_follows_its_definition_step_by_step(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 6, 40)
    weights = rng.random((40, 40)) * (rng.random((40, 40)) < 0.5)
    weights = weights + weights.T
    layers = merged_clusters(sparse.csr_array(weights), labels)
    assert len(layers) == 4
    expected = labels
    for layer in layers:
        expected = literal_merge(weights, expected)
        np.testing.assert_array_equal(layer, expected)


def test_unconnected_clusters_are_merged_too():
    layers = merged_clusters(sparse.csr_array((6, 6)), np.array([0, 0, 1, 1, 2, 2]))
    assert [len(np.unique(layer)) for layer in layers] == [2]


@pytest.mark.parametrize("name", ["iris", "wine", "half-cylinders"])
def test_layers_of_a_report_are_nested_below_the_reported_clusters(perception, name):
    result = perception(name)
    layers = result.layers
    np.testing.assert_array_equal(layers.labels[layers.reported], result.labels)
    assert (np.diff(layers.numbers) > 0).all()
    for labels, number in zip(layers.labels, layers.numbers, strict=True):
        assert len(np.unique(labels[labels >= 0])) == number
        assert (labels[result.labels < 0] == -1).all()
    for labels in layers.labels[: layers.reported]:
        for cluster in range(result.n_clusters):
            assert len(np.unique(labels[result.labels == cluster])) == 1


def test_a_layer_keeps_the_numbers_of_most_rows(perception):
    layers = perception("wine").layers
    for coarse, fine in zip(layers.labels[:-1], layers.labels[1:], strict=True):
        known = (coarse >= 0) & (fine >= 0)
        assert np.mean(coarse[known] == fine[known]) > 0.5
