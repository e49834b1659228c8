"""Clusterers with rows added by `partial_fit`: clusters keep their ids."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from vicinal import Graph, PerceptualClustering, SpectralClustering
from vicinal.cluster._ids import matched
from vicinal.neighbors import NeighborSearch

pytestmark = pytest.mark.filterwarnings("ignore:the graph is not fully connected")
KINDS = [SpectralClustering, PerceptualClustering]


def blob(center, n, seed):
    return np.array(center) + np.random.default_rng(seed).normal(size=(n, 2))


@pytest.fixture(scope="module")
def two():
    return np.concatenate([blob([0, 0], 100, 0), blob([20, 0], 100, 1)])


@pytest.mark.parametrize("kind", KINDS)
def test_old_clusters_keep_their_ids_and_new_ones_get_new_ids(kind, two):
    model = kind(random_state=0).fit(two)
    before = model.labels_.copy()
    # First in space, so that a new numbering would start with it.
    model.partial_fit(blob([-20, 0], 100, 2))
    assert len(model.labels_) == 300
    assert np.mean(model.labels_[:200] == before) > 0.97
    new = model.labels_[200:]
    values, counts = np.unique(new[new >= 0], return_counts=True)
    assert values[counts.argmax()] == before.max() + 1
    assert set(model.predict(two).tolist()) <= set(model.labels_.tolist())
    assert np.array_equal(model.predict(two), model.labels_[:200])
    assert model.probabilities_.shape == (300, model.n_clusters_ + 1)
    assert model.predict_proba(two[:3]).shape == (3, model.n_clusters_ + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_joined_clusters_are_not_used_again(kind, two):
    model = kind(3, random_state=0).fit(np.concatenate([two, blob([0, 20], 100, 3)]))
    assert model.labels_[[0, 100, 200]].tolist() == [0, 1, 2]
    bridge = blob([0, 0], 300, 9) + np.linspace([0, 0], [0, 20], 300)
    model.set_params(n_clusters=2).partial_fit(bridge)
    assert model.labels_[[0, 100, 200]].tolist() == [0, 1, 0]
    model.set_params(n_clusters=3).partial_fit(blob([-40, -20], 100, 4))
    assert model.labels_[[0, 100, 200, 600]].tolist() == [0, 1, 0, 3]
    assert model.predict([[0, 0], [20, 0], [-40, -20]]).tolist() == [0, 1, 3]


@pytest.mark.parametrize("kind", KINDS)
def test_partial_fit_gives_the_clusters_of_a_fit_on_all_rows(kind, two):
    new = np.concatenate([blob([0, 0], 20, 5), blob([0, 20], 60, 6)])
    grown = kind(random_state=0).partial_fit(two).partial_fit(new)
    fitted = kind(random_state=0).fit(np.concatenate([two, new]))
    assert adjusted_rand_score(grown.labels_, fitted.labels_) == 1.0


def test_clusters_without_common_rows_get_new_ids():
    labels, former = np.array([1, 1, 0, 0, 2, 2, -1]), np.array([5, 5, 3, 3, -1])
    assert matched(labels, former, 3, 6).tolist() == [3, 5, 6]


@pytest.mark.parametrize("seed", range(20))
def test_matched_clusters_share_as_many_rows_as_possible(seed):
    rng = np.random.default_rng(seed)
    labels, former = rng.integers(-1, 3, size=15), rng.integers(-1, 4, size=12)
    ids = matched(labels, former, 3, 4)

    def shared(choice):
        return sum(
            choice[label] == known
            for label, known in zip(labels, former, strict=False)
            if label >= 0
        )

    assert len(set(ids.tolist())) == 3
    assert shared(ids) == max(shared(choice) for choice in permutations(range(4), 3))


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_is_explained(kind, two):
    model = kind(random_state=0).fit(two)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([[np.nan, 1.0]])
    assert len(model.labels_) == 200


def test_rows_cannot_be_added_to_a_graph(two):
    indices, distances = NeighborSearch(two).nearest(5)
    model = SpectralClustering(2).fit(Graph.from_kneighbors(indices[:, 1:], distances[:, 1:]))
    with pytest.raises(ValueError, match="fitted on points in memory"):
        model.partial_fit(two)
