"""A graph in several components: a warning where scikit-learn warns, none elsewhere."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering as PeerClustering
from sklearn.manifold import Isomap as PeerIsomap
from sklearn.manifold import SpectralEmbedding

from vicinal import (
    DiffusionMaps,
    GraphClassifier,
    Isomap,
    LaplacianEigenmaps,
    SparseSubspaceClustering,
    SpectralClustering,
    graphs,
)

PAIRS = [
    (Isomap(graph_params={"n_neighbors": 5}), PeerIsomap(n_neighbors=5)),
    (LaplacianEigenmaps(graph_params={"n_neighbors": 5}), SpectralEmbedding(n_neighbors=5)),
    (DiffusionMaps(graph_params={"n_neighbors": 5}), SpectralEmbedding(n_neighbors=5)),
    (
        SpectralClustering(2, graph_params={"n_neighbors": 5}),
        PeerClustering(2, affinity="nearest_neighbors", n_neighbors=5),
    ),
]


def islands(gap, n_islands=2):
    rng = np.random.default_rng(0)
    shift = np.array([gap, 0.0])
    return np.vstack([rng.random((30, 2)) + i * shift for i in range(n_islands)])


@pytest.mark.parametrize(("ours", "peer"), PAIRS, ids=lambda model: type(model).__name__)
def test_both_warn_of_components_and_neither_warns_of_one(ours, peer):
    for model in (ours, peer):
        with pytest.warns(UserWarning, match="not fully connected|number of connected components"):
            model.fit(islands(100.0))
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            model.fit(islands(0.0))


def test_the_warning_names_the_number_and_the_consequence_at_the_line_of_the_caller():
    with pytest.warns(UserWarning, match=r"components: 3\), so the nearest .* merged") as record:
        SpectralClustering(2).fit(islands(100.0, 3))
    assert record[0].filename == __file__
    with pytest.warns(UserWarning, match=r"components: 2\), so no cluster") as record:
        SpectralClustering(2).fit(islands(100.0))
    assert record[0].filename == __file__
    for model in (Isomap(), LaplacianEigenmaps()):
        with pytest.warns(UserWarning, match=r"components: 3\), so the shortest edges"):
            model.fit(islands(100.0, 3))


@pytest.mark.parametrize("model", [Isomap, LaplacianEigenmaps, DiffusionMaps])
def test_warnings_and_errors_advise_a_connected_graph_and_not_more_neighbours(model):
    X = islands(3.0, 3)
    with pytest.warns(UserWarning, match="use graph='disjoint_mst'") as record:
        model().fit(X)
    with pytest.raises(ValueError, match="use graph='disjoint_mst'") as error:
        model(disconnected="raise").fit(X)
    for message in (record[0].message, error.value):
        assert "more neighbours" not in str(message)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model(graph="disjoint_mst", disconnected="raise").fit(X)


def test_labels_that_reach_no_component_advise_a_connected_graph():
    X, y = islands(100.0, 2), np.full(60, -1)
    y[:2] = 0, 1
    with pytest.warns(UserWarning, match=r"Graph\.connect\(\) or graph='disjoint_mst'"):
        GraphClassifier().fit(X, y)


def test_a_graph_that_is_connected_first_does_not_warn():
    graph = graphs.knn(islands(100.0), 5).connect()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        Isomap().fit(graph)


def test_subspaces_without_an_edge_between_them_are_what_their_method_is_for():
    rng = np.random.default_rng(0)
    lines = np.vstack([np.outer(rng.random(20) + 0.5, direction) for direction in np.eye(3)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        SparseSubspaceClustering(3).fit(lines)
