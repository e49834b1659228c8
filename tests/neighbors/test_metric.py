"""`Metric`: synonyms, and the properties that searches and graphs depend on."""

import numpy as np
import pytest

from vicinal import graphs
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors.metric import EUCLIDEAN, Metric, as_metric

SYNONYMS = [("l2", "euclidean"), ("l1", "manhattan"), ("cityblock", "manhattan")]


@pytest.mark.parametrize(("synonym", "name"), SYNONYMS)
def test_synonyms_are_the_same_metric(synonym, name):
    assert as_metric(synonym) == as_metric(name) == Metric(name)
    assert NeighborSearch(np.eye(3), metric=synonym).metric == name


def test_other_names_metrics_and_callables_are_unchanged():
    def distance(x, y):
        return float(np.abs(x - y).max())

    assert as_metric("chebyshev").name == "chebyshev"
    assert as_metric(distance).name is distance
    assert as_metric(EUCLIDEAN) is EUCLIDEAN


@pytest.mark.parametrize(("synonym", "name"), SYNONYMS)
def test_searches_with_a_synonym_use_the_same_backend_with_identical_results(synonym, name):
    X = np.random.default_rng(0).normal(size=(60, 3))
    searches = [NeighborSearch(X, metric=metric, n_jobs=1) for metric in (synonym, name)]
    for ours, theirs in zip(*(search.nearest(5) for search in searches), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert searches[0].method_ == searches[1].method_ == "kdtree"


@pytest.mark.parametrize(("synonym", "name"), SYNONYMS)
@pytest.mark.parametrize("builder", [graphs.knn, graphs.mst])
def test_graphs_with_a_synonym_are_identical(builder, synonym, name):
    X = np.random.default_rng(1).normal(size=(40, 2))
    assert builder(X, metric=synonym) == builder(X, metric=name)


@pytest.mark.parametrize(
    ("name", "is_compiled", "is_minkowski", "accepts_sparse", "power"),
    [
        ("euclidean", True, True, True, 2),
        ("l1", True, True, False, 1),
        ("cosine", True, False, True, 2),
        ("precomputed", False, False, False, 2),
        ("chebyshev", False, False, False, 2),
    ],
)
def test_properties_of_metrics(name, is_compiled, is_minkowski, accepts_sparse, power):
    metric = as_metric(name)
    assert (metric.is_compiled, metric.is_minkowski) == (is_compiled, is_minkowski)
    assert (metric.accepts_sparse, metric.power) == (accepts_sparse, power)
