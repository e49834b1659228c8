"""One absurd row, such as the NoData value of a raster, decides nothing for the other rows."""

import numpy as np
import pytest

from vicinal import OutlierDetector, PerceptualClustering, SpectralClustering, graphs
from vicinal.cluster import estimate_clusters
from vicinal.metrics import rand_index
from vicinal.neighbors import NeighborSearch

pytestmark = [
    pytest.mark.filterwarnings("error::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:the graph is not fully connected"),
]
RNG = np.random.default_rng(0)
CENTERS = [(0, 0, 0), (8, 8, 8), (8, -8, 0)]
POINTS = np.concatenate([RNG.normal(center, size=(60, 3)) for center in CENTERS])
LABELS = np.repeat([0, 1, 2], 60)
ABSURD = [1e15, 1e18, 1e30, float(np.finfo(np.float32).min), 1e200]


@pytest.fixture(params=ABSURD, ids="{:.1g}".format)
def absurd(request):
    return request.param


def edges(graph):
    return {tuple(edge) for edge in graph.edges().tolist()}


@pytest.mark.parametrize("in_one_column", [False, True])
@pytest.mark.parametrize("build", [graphs.knn, graphs.mst, graphs.disjoint_mst, graphs.gabriel])
def test_the_other_rows_keep_their_edges(build, absurd, in_one_column):
    row = [1.0, absurd, 1.0] if in_one_column else [absurd] * 3
    assert edges(build(POINTS)) <= edges(build(np.vstack([POINTS, row])))


@pytest.mark.parametrize("n_columns", [3, 60])
def test_the_other_rows_keep_their_neighbours_and_distances(absurd, n_columns):
    X = np.random.default_rng(1).normal(size=(500, n_columns))
    found = NeighborSearch(np.vstack([X, np.full(n_columns, absurd)])).nearest(5)
    for values, expected in zip(found, NeighborSearch(X).nearest(5), strict=True):
        np.testing.assert_array_equal(values[:-1], expected)


def test_the_clusters_are_found_and_the_row_is_noise(absurd):
    X = np.vstack([POINTS, np.full(3, absurd)])
    assert estimate_clusters(X).n_clusters == 3
    labels = PerceptualClustering(random_state=0).fit_predict(X)
    assert rand_index(LABELS, labels[:-1]) == 1.0
    assert labels[-1] == -1
    assert rand_index(LABELS, SpectralClustering(random_state=0).fit_predict(X)[:-1]) == 1.0
    assert OutlierDetector().fit_predict(X)[-1] == -1


@pytest.mark.parametrize("scale", [1e-200, 1e-150, 1e150, 1e200])
def test_a_row_far_from_tiny_or_huge_data_decides_nothing_either(scale):
    far = np.vstack([POINTS, [1e60] * 3])
    found, expected = (NeighborSearch(X).nearest(5)[0] for X in (far * scale, far))
    np.testing.assert_array_equal(found, expected)


def test_the_order_in_memory_changes_no_bit_of_an_outlier_score():
    X = np.random.default_rng(2).normal(size=(3000, 7))
    scores = [OutlierDetector().fit(rows).score_samples(rows) for rows in (X, np.asfortranarray(X))]
    np.testing.assert_array_equal(*scores)
