"""The report solves each digraph once."""

import numpy as np
import pytest

from vicinal import PerceptualClustering, graphs, perceive
from vicinal._base import perceptual_estimator
from vicinal.cluster._perceptual_spectrum import PerceptualSpectrum
from vicinal.datasets import make_two_moons


@pytest.fixture
def moons():
    return make_two_moons(150, noise=0.05, random_state=0)[0]


def test_each_digraph_is_solved_once(moons, monkeypatch):
    solved, walked = [], []
    solve, walk = perceptual_estimator.walk_eigenpairs, perceptual_estimator.SymmetricWalk

    def count_solve(walk, *args, **keywords):
        solved.append(walk)
        return solve(walk, *args, **keywords)

    def count_walk(digraph, *args, **keywords):
        walked.append(digraph)
        return walk(digraph, *args, **keywords)

    monkeypatch.setattr(perceptual_estimator, "walk_eigenpairs", count_solve)
    monkeypatch.setattr(perceptual_estimator, "SymmetricWalk", count_walk)
    perceive(moons, sample=100)
    # The digraph of all rows, that of the rows whose stability is measured, and four perturbed ones.
    assert len(solved) == len(walked) == 6


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 7, 10])
def test_clusters_from_one_solve_are_those_of_a_fit(moons, n_clusters):
    digraph = graphs.contextual(moons, 10)
    spectrum = PerceptualSpectrum(digraph, 10, random_state=0, n_jobs=1)
    spectrum.cluster(5)  # leaves nothing behind
    model = PerceptualClustering(n_clusters, random_state=0).fit(digraph)
    np.testing.assert_array_equal(spectrum.cluster(n_clusters).labels_, model.labels_)
    np.testing.assert_allclose(spectrum.cluster(n_clusters).noise_score_, model.noise_score_)
