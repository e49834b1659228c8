"""Few rows in many columns: nothing grows with the square of the number of columns."""

import inspect
import tracemalloc

import numpy as np
import pytest

from vicinal import cluster, embed, graphs, perceive, rank, similarity
from vicinal.cluster.subspaces import k_subspaces
from vicinal.report._steps.maps import principal_plane

N_ROWS, N_COLUMNS = 40, 1500
# All pairs of columns as float64.
SQUARE = 8 * N_COLUMNS**2


@pytest.fixture(scope="module")
def wide():
    return np.random.default_rng(0).random((N_ROWS, N_COLUMNS))


def peak_of(call, narrow=None):
    """Peak memory of a call; an earlier call on a narrow table has compiled its kernels."""
    if narrow is not None:
        narrow()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def estimators():
    for module in (cluster, embed, rank, similarity):
        for name in module.__all__:
            entry = getattr(module, name)
            if inspect.isclass(entry) and hasattr(entry, "fit"):
                # Long to compile.
                slow = [pytest.mark.slow] if name == "SparseSubspaceClustering" else []
                yield pytest.param(entry, id=name, marks=slow)


@pytest.mark.parametrize("estimator", list(estimators()))
def test_estimators_hold_no_matrix_of_all_pairs_of_columns(wide, estimator):
    accepted = inspect.signature(estimator).parameters
    model = estimator(**({"n_clusters": 3} if "n_clusters" in accepted else {}))
    assert peak_of(lambda: model.fit(wide), lambda: model.fit(wide[:, :4])) < SQUARE


@pytest.mark.parametrize("name", ["knn", "mst", "disjoint_mst"])
def test_builders_hold_no_matrix_of_all_pairs_of_columns(wide, name):
    build = getattr(graphs, name)
    assert peak_of(lambda: build(wide), lambda: build(wide[:, :4])) < SQUARE


def test_subspaces_of_few_rows_hold_no_matrix_of_all_pairs_of_columns(wide):
    assert peak_of(lambda: k_subspaces(wide, 3)) < SQUARE


@pytest.mark.slow
def test_perceive_holds_no_matrix_of_all_pairs_of_columns(wide):
    def narrow():
        perceive(wide[:, :4], n_clusters=2)

    assert peak_of(lambda: perceive(wide, n_clusters=2), narrow) < SQUARE


def test_mahalanobis_rejects_more_columns_than_rows_before_the_work(wide):
    def ask():
        with pytest.raises(ValueError, match="too many for the number of points"):
            graphs.knn(wide, 3, metric="mahalanobis")

    assert peak_of(ask) < SQUARE


def test_the_principal_plane_of_a_wide_table_is_that_of_its_covariance():
    points = np.random.default_rng(1).standard_normal((6, 40))
    centred = points - points.mean(axis=0)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
    np.testing.assert_allclose(np.abs(principal_plane(points)), np.abs(centred @ directions))
