"""Dask arrays are never loaded by accident, and workers know their own threads and memory."""

import subprocess
import sys

import numpy as np
import pytest

import vicinal
from vicinal import graphs
from vicinal._core.array_checks import check_points
from vicinal._core.memory import free_memory, require_memory
from vicinal._core.parallel import n_threads, one_blas_thread
from vicinal.exceptions import InsufficientMemoryError
from vicinal.neighbors import NeighborSearch

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture
def no_materialising(monkeypatch):
    """Turn every conversion of a dask array to numpy into a failure."""

    def fail(self, *args, **kwargs):
        raise AssertionError("a dask array was loaded into memory")

    monkeypatch.setattr(da.Array, "__array__", fail)


# Estimators that work in chunks; tests/scale compares them with arrays in memory.
CHUNKED = {
    "ClusterPreservingEmbedding",
    "GraphClassifier",
    "LabelPropagation",
    "LaplacianEigenmaps",
    "OutlierDetector",
    "PerceptualClustering",
    "PerceptualRanking",
    "SelfSmoothing",
    "SpectralClustering",
}


def estimators():
    public = [getattr(vicinal, name) for name in vicinal.__all__ if name[0].isupper()]
    return [kind for kind in public if hasattr(kind, "fit") and kind.__name__ not in CHUNKED]


@pytest.mark.usefixtures("no_materialising")
@pytest.mark.parametrize("estimator", estimators(), ids=lambda kind: kind.__name__)
def test_estimators_that_do_not_work_in_chunks_reject_dask_arrays(estimator):
    X, y = da.zeros((60, 2), chunks=25), np.arange(60) % 2
    with pytest.raises(TypeError, match=r"X is a dask Array.*X.compute\(\)"):
        estimator().fit(X, y)


@pytest.mark.usefixtures("no_materialising")
@pytest.mark.parametrize(
    "call",
    [
        check_points,
        lambda X: graphs.epsilon_ball(X, 0.5),
        graphs.gabriel,
        graphs.delaunay,
        graphs.complete,
        lambda X: graphs.mst(X, metric="precomputed"),
        lambda X: vicinal.self_smooth(X, t=3),
        vicinal.perceive,
        lambda X: NeighborSearch(np.zeros((5, 2))).nearest(1, queries=X),
    ],
)
def test_functions_that_need_all_points_reject_dask_arrays(call):
    X = da.zeros((100, 2), chunks=10)
    with pytest.raises(TypeError, match=r"is a dask Array.*compute\(\)"):
        call(X)


def test_importing_vicinal_does_not_import_dask():
    code = (
        "import sys, vicinal, vicinal.graphs; assert not {'dask', 'distributed'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class FakeWorker:
    """The attributes of `distributed.Worker` that vicinal reads."""

    class state:
        nthreads = 3

    class memory_manager:
        memory_limit, memory_pause_fraction = 1000, 0.8

    class monitor:
        @staticmethod
        def get_process_memory():
            return 300


def test_threads_and_memory_are_those_of_the_worker_that_runs_the_task(monkeypatch):
    # A moment ago, the memory outside of the worker was read.
    monkeypatch.setattr("vicinal._core.memory.monotonic", lambda: 0.0)
    require_memory(1, "work", "")
    monkeypatch.setattr(distributed, "get_worker", FakeWorker)
    assert [n_threads(n) for n in (-1, -2, 5)] == [3, 2, 5]
    assert free_memory() == 500
    with pytest.raises(InsufficientMemoryError, match="work needs about"):
        require_memory(501, "work", "")


def test_matrix_products_have_one_thread_within_the_context_only():
    from threadpoolctl import threadpool_info

    def numbers():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    np.ones((2, 2)) @ np.ones((2, 2))
    before = numbers()
    with one_blas_thread():
        assert set(numbers()) == {1}
    assert numbers() == before
