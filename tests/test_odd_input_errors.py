"""Odd inputs that once gave an error of another library, each with the error or result that it gives now."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import vicinal
from public_entries import CLASSES, DISTANCES, GRAPH, LABELS, POINTS, SIMILARITY
from vicinal import Graph
from vicinal.exceptions import InvalidTypeError, InvalidValueError

NO_NODES = Graph([0], [], [])
ON_GRAPHS = [
    "DiffusionMaps",
    "LaplacianEigenmaps",
    "ManifoldRanking",
    "NeighborMap",
    "PerceptualClustering",
    "PerceptualEmbedding",
    "PerceptualRanking",
    "SpectralClustering",
]


@pytest.mark.parametrize("name", ON_GRAPHS)
def test_a_graph_without_nodes_is_rejected_by_estimators(name):
    with pytest.raises(InvalidValueError, match="X is a Graph without nodes"):
        getattr(vicinal, name)().fit(NO_NODES)


def test_a_graph_without_nodes_is_rejected_as_an_affinity_or_digraph():
    for function in (vicinal.embed.diffusion_distance, vicinal.operators.laplacian):
        with pytest.raises(InvalidValueError, match="affinity is a Graph without nodes"):
            function(NO_NODES, *([1.0] if "distance" in function.__name__ else []))
    with pytest.raises(InvalidValueError, match="digraph is a Graph without nodes"):
        vicinal.operators.stationary_distribution(NO_NODES)


def test_sparse_points_whose_distances_overflow_are_rejected():
    huge = sparse.csr_array(POINTS / np.abs(POINTS).max() * 1.7e308)
    for call in (
        lambda: vicinal.graphs.knn(huge, 3),
        lambda: vicinal.GraphClassifier().fit(huge, LABELS),
    ):
        with pytest.raises(InvalidValueError, match=r"X contains values from .* divide X by 1e10"):
            call()
    # Columns of one sign and extent within the largest number have finite distances.
    near = sparse.csr_array(np.linspace(1.0, 1.7, 12)[:, None] * 1e308)
    assert np.isfinite(vicinal.graphs.knn(near, 3).lengths).all()


def test_records_are_not_classes():
    records = np.zeros(12, dtype=[("a", float), ("b", int)])
    with pytest.raises(InvalidTypeError, match="pass one of its fields"):
        vicinal.GraphClassifier().fit(POINTS, records)


@pytest.mark.parametrize("name", ["GraphClassifier", "GraphRegressor", "LabelPropagation"])
def test_a_scale_beyond_the_largest_float_counts_as_infinite(name):
    y = POINTS[:, 0] if name == "GraphRegressor" else CLASSES
    options = {"graph_params": {"n_neighbors": 3}}
    huge, infinite = (
        getattr(vicinal, name)(scale=scale, **options).fit(POINTS, y).predict(POINTS + 0.1)
        for scale in (10**400, np.inf)
    )
    np.testing.assert_array_equal(huge, infinite)


def test_a_bandwidth_may_be_a_fraction():
    fraction, number = (
        vicinal.SelfSmoothing(5, bandwidth=bandwidth).fit(POINTS).transform(POINTS + 0.1)
        for bandwidth in (Fraction(1, 4), 0.25)
    )
    np.testing.assert_array_equal(fraction, number)


def test_ragged_nodes_are_rejected_by_name():
    with pytest.raises(InvalidValueError, match="nodes is a list whose rows have different"):
        GRAPH.subgraph([[1], [2, 3]])


def test_fused_similarities_without_a_diagonal_are_named():
    with pytest.raises(InvalidValueError, match=r"set the diagonal of .* sources"):
        vicinal.SelfSmoothing().fuse(np.zeros((2, 5, 5)))
    assert vicinal.SelfSmoothing().fuse([SIMILARITY, SIMILARITY]).similarity_.shape == (
        DISTANCES.shape
    )


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (
            lambda: vicinal.PerceptualClustering(2).fit(POINTS, cannot_link=[[1], [2, 3]]),
            "cannot_link",
        ),
        (
            lambda: vicinal.GraphClassifier(class_prior=[[1], [2, 3]]).fit(POINTS, CLASSES),
            "class_prior",
        ),
        (lambda: vicinal.GraphClassifier().fit(POINTS, CLASSES >= 0).suggest_queries(), "y"),
    ],
)
def test_tables_and_ragged_lists_in_other_places_are_rejected_by_name(call, name):
    with pytest.raises((InvalidTypeError, InvalidValueError), match=rf"\b{name}\b"):
        call()


def test_the_noise_of_huge_values_is_proportional_to_them():
    values = np.random.default_rng(0).normal(size=len(POINTS))
    common = {"graph_params": {"n_neighbors": 3}}
    std = vicinal.GraphRegressor(**common).fit(POINTS, values).noise_std_
    huge = vicinal.GraphRegressor(**common).fit(POINTS, np.ldexp(values, 1000)).noise_std_
    np.testing.assert_allclose(np.ldexp(huge, -1000), std, rtol=1e-9)


def test_a_table_with_one_huge_row_is_encoded():
    table = POINTS.copy()
    table[0] = 1.7e308
    assert np.isfinite(vicinal.TableEncoder().fit_transform(table)).all()


@pytest.mark.parametrize("path", ["points.csv", Path("points.csv")])
@pytest.mark.parametrize(
    "call",
    [
        vicinal.perceive,
        vicinal.audit,
        vicinal.near_duplicates,
        vicinal.graphs.knn,
        vicinal.SpectralClustering().fit,
        vicinal.SelfSmoothing().fit,
        vicinal.TableEncoder().fit,
    ],
)
def test_the_name_of_a_file_is_not_data(call, path):
    with pytest.raises(
        TypeError, match=r"the text 'points.csv', but values are needed; a file has to"
    ):
        call(path)


@pytest.mark.parametrize("text", ["pro", "it's", "(x)"])
def test_text_in_a_table_of_numbers_leads_to_the_encoder(text):
    table = np.array([[1.0, text]] * 20, dtype=object)
    with pytest.raises(
        ValueError, match=r"such as .*, but numbers are needed; encode .*TableEncoder"
    ) as raised:
        vicinal.SpectralClustering().fit(table)
    assert repr(text) in str(raised.value)
