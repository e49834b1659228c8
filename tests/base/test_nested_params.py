"""Entries of ``graph_params`` in grid searches and clones."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import GraphClassifier, Isomap, SpectralClustering


def test_entries_can_be_listed_and_set_individually():
    given = {"n_neighbors": 5, "mutual": True}
    model = Isomap(graph_params=given)
    assert model.get_params()["graph_params__n_neighbors"] == 5
    assert "graph_params__n_neighbors" not in model.get_params(deep=False)
    assert model.set_params(graph_params__n_neighbors=7) is model
    assert model.graph_params == {"n_neighbors": 7, "mutual": True}
    assert given == {"n_neighbors": 5, "mutual": True}


def test_entries_are_set_after_the_dict_itself():
    model = Isomap().set_params(
        graph_params__n_neighbors=3, n_components=1, graph_params={"mutual": True}
    )
    assert model.graph_params == {"mutual": True, "n_neighbors": 3}
    assert model.n_components == 1
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        model.set_params(colour=1)


def test_clones_are_separate():
    model = SpectralClustering(2, graph_params={"n_neighbors": 5})
    other = clone(model).set_params(graph_params__n_neighbors=9)
    assert (model.graph_params, other.graph_params) == ({"n_neighbors": 5}, {"n_neighbors": 9})
    assert clone(other).get_params() == other.get_params()


def test_a_grid_search_over_graph_params_agrees_with_direct_fits():
    X, y = make_moons(120, noise=0.1, random_state=0)
    model = make_pipeline(StandardScaler(), GraphClassifier())
    grid = {"graphclassifier__graph_params__n_neighbors": [2, 8, 60]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    for k, score in zip([2, 8, 60], search.cv_results_["mean_test_score"], strict=True):
        direct = make_pipeline(StandardScaler(), GraphClassifier(graph_params={"n_neighbors": k}))
        alone = GridSearchCV(direct, {"graphclassifier__ridge": [0.1]}, cv=3).fit(X, y)
        assert score == alone.best_score_
    assert len(np.unique(search.cv_results_["mean_test_score"])) > 1
    assert search.best_estimator_[-1].graph_params in [{"n_neighbors": 2}, {"n_neighbors": 8}]
