"""A cluster of processes gives the same bits as memory, through lost workers and interrupted drivers."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from vicinal import PerceptualRanking, graphs, scale
from vicinal.exceptions import InsufficientMemoryError, InvalidValueError
from vicinal.neighbors import NeighborSearch
from vicinal.scale import _engine
from vicinal.similarity import SelfSmoothing

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
from inputs import curved  # noqa: E402

X = curved(3000, d=6)


def local_cluster(n_workers=2):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
    )


@pytest.fixture(scope="module")
def cluster():
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture
def own_client():
    # A killed worker is not always replaced, and the next test would wait for it forever. So each test that
    # kills a worker has its own cluster.
    with local_cluster() as cluster, distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


def test_two_processes_give_the_same_bits_as_memory(client):
    with scale.config(client=client, cell_size=400):
        search = NeighborSearch(da.from_array(X, chunks=700))
        indices, distances = search.nearest(8)
        lazy = search.nearest(3, queries=da.from_array(X[:50] + 0.01, chunks=20))
    known = NeighborSearch(X)
    for values, expected in zip((indices, distances), known.nearest(8), strict=True):
        np.testing.assert_array_equal(values.compute(), expected)
    expected = known.nearest(3, queries=X[:50] + 0.01)
    np.testing.assert_array_equal(lazy[0].compute(), expected[0])


def test_trees_of_two_processes_are_those_of_memory(client):
    with scale.config(client=client, cell_size=800):
        assert graphs.mst(da.from_array(X, chunks=700)) == graphs.mst(X)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_graphs_do_not_depend_on_the_number_of_workers(n_workers):
    array = da.from_array(X, chunks=700)
    with (
        local_cluster(n_workers) as cluster,
        distributed.Client(cluster) as client,
        scale.config(client=client, cell_size=500),
    ):
        for build in (graphs.knn, graphs.mst, graphs.disjoint_mst, graphs.contextual):
            assert build(array) == build(X)
        options = {"n_trees": 2, "random_state": 0}
        assert graphs.perturbed_mst(array, **options) == graphs.perturbed_mst(X, **options)


@pytest.mark.slow
def test_a_worker_killed_during_a_tree_changes_nothing(own_client, monkeypatch):
    results, killed = _engine.ClusterEngine._results, []

    def kill_once(self, futures, title, *rest):
        if title == "spanning tree" and not killed:
            killed.append(kill_a_worker(own_client))
        return results(self, futures, title, *rest)

    monkeypatch.setattr(_engine.ClusterEngine, "_results", kill_once)
    with scale.config(client=own_client, cell_size=300):
        assert graphs.mst(da.from_array(X, chunks=500)) == graphs.mst(X)
    assert killed


def test_codes_of_two_processes_are_those_of_memory(client):
    points = X[:500]
    with scale.config(client=client, cell_size=200):
        codes = graphs.l1(da.from_array(points, chunks=(130, -1)))
    assert codes == graphs.l1(points)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_rankings_and_smoothed_neighbours_do_not_depend_on_the_number_of_workers(n_workers):
    points = curved(6000, d=8)
    array, queries = da.from_array(points, chunks=(1100, -1)), np.arange(0, 6000, 500)
    with (
        local_cluster(n_workers) as cluster,
        distributed.Client(cluster) as client,
        scale.config(client=client, cell_size=1500),
    ):
        smoothing = SelfSmoothing(random_state=0).fit(array)
        neighbors = [values.compute() for values in smoothing.kneighbors()]
        ranked = PerceptualRanking().fit(array).rank(queries, 12)
    known = SelfSmoothing(random_state=0, method="sparse").fit(points)
    assert smoothing.t_ == known.t_
    for found, expected in zip(neighbors, known.kneighbors(), strict=True):
        np.testing.assert_array_equal(found, expected)
    for found, expected in zip(
        ranked, PerceptualRanking().fit(points).rank(queries, 12), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def kill_a_worker(client):
    pid = next(iter(client.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["reading X", "sorting", "collecting", "neighbours"])
def test_a_worker_killed_during_any_step_changes_nothing(own_client, step, monkeypatch, tmp_path):
    results = _engine.ClusterEngine._results

    def kill_during(self, futures, title, *rest):
        if title.startswith(step):
            kill_a_worker(own_client)
        return results(self, futures, title, *rest)

    monkeypatch.setattr(_engine.ClusterEngine, "_results", kill_during)
    with scale.config(client=own_client, cell_size=300, store=tmp_path):
        assert graphs.knn(da.from_array(X, chunks=500), 6) == graphs.knn(X, 6)


DRIVER = """
import sys
import numpy as np
import dask.array as da
from vicinal import scale
from vicinal.neighbors import NeighborSearch
from vicinal.scale import _lists

compute, done = _lists.neighbors_in_cell, []

def announce(cells, cell, *options):
    done.append(cell)
    if len(done) == 4:
        print("half", flush=True)
        sys.stdin.readline()
    return compute(cells, cell, *options)

_lists.neighbors_in_cell = announce
X = np.load(sys.argv[1])
with scale.config(store=sys.argv[2], cell_size=400):
    NeighborSearch(da.from_array(X, chunks=700), n_jobs=1).nearest(8)
"""


def test_a_killed_driver_resumes_from_the_files_of_its_store(tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", X)
    store = tmp_path / "store"
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path / "X.npy"), str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout.readline() == "half\n", driver.communicate()[1]
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    finished = sorted(store.rglob("cell-*-lists-8-costs.npy"))
    assert len(finished) == 3
    # One of them was damaged by the disk.
    finished[0].write_bytes(finished[0].read_bytes()[:-5])

    from vicinal.scale import _lists

    computed = []
    compute = _lists.neighbors_in_cell

    def count(cells, cell, *options):
        computed.append(cell)
        return compute(cells, cell, *options)

    monkeypatch.setattr(_lists, "neighbors_in_cell", count)
    with scale.config(store=store, cell_size=400):
        lists = NeighborSearch(da.from_array(X, chunks=700)).nearest(8)
    for values, expected in zip(lists, NeighborSearch(X).nearest(8), strict=True):
        np.testing.assert_array_equal(values.compute(), expected)
    n_cells = len(list(store.rglob("cell-*-rows.npy"))) - len(list(store.rglob("*lists*rows.npy")))
    assert len(computed) == n_cells - 2


def test_other_inputs_on_the_same_store_do_not_mix(tmp_path):
    others = [X[:400], X[:400] + 1e-9, X[:400].astype(np.float32), X[400:800]]
    with scale.config(store=tmp_path, cell_size=100):
        for points in others * 2:
            assert graphs.knn(da.from_array(points, chunks=150), 4) == graphs.knn(points, 4)
    assert len(list(tmp_path.rglob("manifest.json"))) == len(others)


class StuckClient:
    """A client whose workers are all paused."""

    def scheduler_info(self, n_workers=5):
        return {
            "workers": {f"worker {i}": {"status": "paused", "host": "192.0.2.7"} for i in (1, 2)}
        }

    def cancel(self, futures):
        pass


class Waiting:
    status = "pending"

    def done(self):
        return False


def test_paused_workers_are_an_error_instead_of_waiting_forever(monkeypatch):
    monkeypatch.setattr(_engine, "CHECK_SECONDS", 0.01)
    engine = _engine.ClusterEngine(StuckClient())
    with pytest.raises(
        InsufficientMemoryError, match=r"all 2 worker\(s\) are paused.*smaller cells"
    ):
        engine._results([Waiting()], "neighbours")


def test_workers_on_other_machines_need_a_store():
    engine = _engine.ClusterEngine(StuckClient())
    with pytest.raises(InvalidValueError, match=r"other machines \(192.0.2.7\).*config\(store="):
        _engine.require_shared_store(engine)


def test_errors_of_tasks_reach_the_caller(client):
    bad = X.copy()
    bad[2800, 2] = np.nan
    with (
        scale.config(client=client, cell_size=400),
        pytest.raises(ValueError, match=r"at \[2800, 2\], which is row 0 of chunk 4"),
    ):
        NeighborSearch(da.from_array(bad, chunks=700))
