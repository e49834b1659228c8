"""Clusterers with rows inserted and removed: clusters keep their ids."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from vicinal import Graph, PerceptualClustering, SpectralClustering, graphs
from vicinal.cluster import _growing
from vicinal.cluster._growing import match_ids

pytestmark = pytest.mark.filterwarnings("ignore:the graph is not fully connected")
KINDS = [SpectralClustering, PerceptualClustering]


def blob(center, n, seed):
    return np.array(center) + np.random.default_rng(seed).normal(size=(n, 2))


@pytest.fixture(scope="module")
def two():
    return np.concatenate([blob([0, 0], 100, 0), blob([20, 0], 100, 1)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["partial_fit", "insert"])
def test_old_clusters_keep_their_ids_and_new_ones_get_new_ids(kind, method, two):
    model = kind(random_state=0).fit(two)
    before = model.labels_.copy()
    # First in space, so that a new numbering would start with it.
    getattr(model, method)(blob([-20, 0], 100, 2))
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
def test_ids_of_removed_clusters_are_not_used_again(kind, two):
    model = kind(random_state=0).fit(np.concatenate([two, blob([0, 20], 100, 3)]))
    second = int(np.bincount(model.labels_[100:200] + 1).argmax()) - 1
    model.remove(np.arange(100, 200))
    assert len(model.labels_) == 200
    assert second not in model.labels_
    model.partial_fit(blob([-20, -20], 100, 4))
    newest = model.labels_[200:]
    assert int(np.bincount(newest[newest >= 0]).argmax()) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_partial_fit_gives_the_clusters_of_a_fit_on_all_rows(kind, two):
    new = np.concatenate([blob([0, 0], 20, 5), blob([0, 20], 60, 6)])
    grown = kind(random_state=0).partial_fit(two).partial_fit(new)
    fitted = kind(random_state=0).fit(np.concatenate([two, new]))
    assert adjusted_rand_score(grown.labels_, fitted.labels_) == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_are_assigned_without_a_new_fit(kind, two, monkeypatch):
    model = kind(random_state=0).fit(two)
    expected = model.predict(two[:3] + 0.01)
    monkeypatch.setattr(kind, "fit", None)
    labels = np.concatenate([model.insert(two[i : i + 1] + 0.01) for i in range(3)])
    assert np.array_equal(labels, expected)
    assert np.array_equal(model.labels_[200:], expected)
    assert len(model.probabilities_) == 200
    monkeypatch.undo()
    monkeypatch.setattr(_growing, "MAX_ASSIGNED_FRACTION", 0.0)
    model.insert(two[5:6] + 0.01)
    assert len(model.labels_) == len(model.probabilities_) == 204


def test_matched_clusters_share_as_many_rows_as_possible():
    labels = np.array([1, 1, 0, 0, 2, 2, -1])
    former = np.array([5, 5, 3, 3, -1])
    ids, following = match_ids(labels, former, 3, 6)
    assert ids.tolist() == [3, 5, 6]
    assert following == 7


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_is_explained(kind, two):
    model = kind(random_state=0).fit(two)
    with pytest.raises(ValueError, match="features"):
        model.insert(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([[np.nan, 1.0]])
    with pytest.raises(ValueError, match="rows 0 to 199"):
        model.remove([200])
    assert len(model.labels_) == 200


def test_graphs_cannot_grow():
    graph = graphs.knn(np.random.default_rng(0).normal(size=(40, 2)), 5)
    lists = Graph.from_kneighbors(*graphs.GrowingKNN(graph.points, 5).neighbors)
    model = SpectralClustering(2).fit(lists)
    with pytest.raises(ValueError, match="fitted on points in memory"):
        model.remove([0])
