"""New points of perceptual methods: treated as training points are, and noise is detected as well."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from vicinal import PerceptualClustering, PerceptualEmbedding, graphs
from vicinal._base.contextual_extension import TrainingContexts, new_contexts, symmetric_rows
from vicinal.datasets import make_half_cylinders
from vicinal.operators.digraph import SymmetricWalk


def walk_of(graph):
    weights = graph.to_scipy("strengths").toarray()
    return weights / weights.sum(axis=1, keepdims=True)


def contexts_of(graph, X, descriptor="coding_length"):
    known = TrainingContexts.of_graph(graph, descriptor=descriptor, epsilon=None)
    return new_contexts(known, X, entered=True)


@pytest.mark.parametrize("descriptor", ["coding_length", "centroid"])
def test_steps_to_and_from_a_new_point_are_those_of_the_digraph_with_it(descriptor):
    X, _ = make_half_cylinders(60, 40, random_state=0)
    kept, new = X[:-12], X[-12:]
    graph = graphs.contextual(kept, 6, descriptor=descriptor)
    steps, known, entered = contexts_of(graph, new, descriptor)
    assert not known.any()
    steps, entered = (weights.to_csr(len(kept)).toarray() for weights in (steps, entered))
    for i, point in enumerate(new):
        whole = walk_of(
            graphs.contextual(
                np.vstack([kept, point]), 6, descriptor=descriptor, sigma=graph.metadata["sigma"]
            )
        )
        assert_allclose(steps[i], whole[-1, :-1], atol=1e-12)
        assert_allclose(entered[i], whole[:-1, -1], atol=1e-12)


def test_extended_rows_map_root_masses_to_new_root_masses():
    X, _ = make_half_cylinders(100, 50, random_state=0)
    graph = graphs.contextual(X[:-20], 10)
    masses = SymmetricWalk(graph).stationary
    contexts = contexts_of(graph, X[-20:])
    rows, entered = (
        weights.to_csr(len(masses))
        for weights in (symmetric_rows(contexts, masses, 1.0), contexts.entered)
    )
    seen = entered @ masses > 0
    assert seen.sum() > 10
    assert_allclose((rows @ np.sqrt(masses))[seen], np.sqrt(entered @ masses)[seen], rtol=1e-12)


def test_rows_of_theta_for_new_points_follow_formula_10():
    X, _ = make_half_cylinders(60, 30, random_state=0)
    graph = graphs.contextual(X[:-15], 8)
    masses, beta = SymmetricWalk(graph).stationary, 0.9
    n = len(masses)
    contexts = contexts_of(graph, X[-15:])
    rows, steps, entered = (
        weights.to_csr(n).toarray()
        for weights in (symmetric_rows(contexts, masses, beta), contexts.steps, contexts.entered)
    )
    for i, (leaving, arriving) in enumerate(zip(steps, entered, strict=True)):
        mass = sum(
            beta * arriving[j] * masses[j] + (1 - beta) * masses[j] / (n + 1) for j in range(n)
        )
        for j in range(n):
            ratio = np.sqrt(mass / masses[j])
            expected = beta * (ratio * leaving[j] + arriving[j] / ratio) / 2
            assert rows[i, j] == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_noise_among_new_points_is_detected_as_well_as_in_training():
    X, truth = make_half_cylinders(800, 800, random_state=0)
    train = np.random.default_rng(777).random(len(X)) < 0.7
    model = PerceptualEmbedding(5).fit(X[train])
    known, new = (
        roc_auc_score(y >= 0, np.linalg.norm(Y, axis=1))
        for y, Y in (
            (truth[train], model.embedding_),
            (truth[~train], model.transform(X[~train])),
        )
    )
    assert new > known - 0.03 > 0.85
    share = float((truth[train] == -1).mean())
    clusters = PerceptualClustering(2, noise=share, random_state=0).fit(X[train])
    noise = truth[~train] == -1
    is_noise = clusters.predict(X[~train]) == -1
    assert is_noise[noise].mean() > 0.75
    assert is_noise[~noise].mean() < 0.2


def test_a_point_near_a_training_point_is_mapped_near_it():
    X, _ = make_half_cylinders(300, 200, random_state=1)
    model = PerceptualEmbedding(5).fit(X)
    ratio = np.linalg.norm(model.transform(X + 1e-6), axis=1)
    ratio /= np.linalg.norm(model.embedding_, axis=1)
    assert np.quantile(ratio, 0.05) > 0.8
    assert np.quantile(ratio, 0.95) < 1.25
    assert ratio.max() < 4


def test_training_points_and_new_points_may_be_mixed():
    X, _ = make_half_cylinders(80, 40, random_state=0)
    new = X[:10] + 0.01
    model = PerceptualEmbedding(3).fit(X)
    mixed = np.stack([X[:10], new], axis=1).reshape(20, -1)
    assert_allclose(model.transform(mixed)[1::2], model.transform(new), atol=1e-14)
    assert_allclose(model.transform(mixed)[::2], model.embedding_[:10])


def test_with_contexts_of_all_points_the_nearest_point_decides():
    X = np.random.default_rng(0).random((9, 2))
    with pytest.warns(UserWarning, match="8 neighbours"):
        model = PerceptualEmbedding(2).fit(X)
    assert_allclose(model.transform(X + 1e-6), model.embedding_)
