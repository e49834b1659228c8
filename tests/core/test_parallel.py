"""Threads over blocks: order, errors, and what n_jobs means."""

import os
import threading
import time

import pytest

from vicinal._core.options import entry
from vicinal._core.parallel import (
    RUN,
    blocks,
    map_threads,
    n_cores_used,
    n_threads,
    one_blas_thread,
    progress_bar,
    run_with,
    serial,
    together,
    use_run,
)
from vicinal.scale import config


@pytest.mark.parametrize("jobs", [1, 2, 5, None])
def test_results_are_in_the_order_of_the_items(jobs):
    def task(i):
        time.sleep(0.002 * (i % 3))
        return i * i

    assert map_threads(task, range(20), jobs) == [i * i for i in range(20)]
    assert map_threads(task, [], jobs) == []


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_in_a_task_stops_the_others_and_is_raised(jobs):
    done, threads = [], set(threading.enumerate())

    def task(i):
        if i == 3:
            raise KeyError("block 3")
        time.sleep(0.001)
        done.append(i)

    with pytest.raises(KeyError, match="block 3"):
        map_threads(task, range(100_000), jobs)
    # A thread that waits for a core may see the error seconds later; all tasks would take minutes.
    assert len(done) < 20_000
    # Threads of other tests may end meanwhile.
    assert set(threading.enumerate()) <= threads


def test_tasks_are_distributed_to_n_jobs_threads():
    barrier = threading.Barrier(3, timeout=300)
    # Passes only if three threads are at work at the same time.
    map_threads(lambda _: barrier.wait(), range(3), 3)


def test_of_a_run_with_progress_the_outermost_titles_are_shown(capfd):
    def work(i):
        map_threads(abs, range(3), title="within a task")

    def call():
        map_threads(work, range(4), title="counting")
        with progress_bar(1, "outer"):
            entry(inner)(verbose=1)

    def inner(verbose=0):
        map_threads(abs, range(3), title="within a bar")

    map_threads(work, range(4), title="counting")
    assert not capfd.readouterr().err
    with use_run(run_with(2, 1)):
        call()
    shown = capfd.readouterr().err
    assert "counting" in shown
    assert "outer" in shown
    assert "within" not in shown


def test_blocks_cover_everything_once():
    assert blocks(10, 4) == [(0, 4), (4, 8), (8, 10)]
    assert blocks(0, 4) == []


def test_negative_n_jobs_count_from_the_number_of_cores():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert (n_threads(3), n_threads(-1)) == (3, cores)
    assert n_threads(-1000) == 1
    assert n_threads(2.0) == 2


@entry
def threads_of(inner=n_threads, *, n_jobs=-1):
    """Number of threads within a call."""
    return inner()


@pytest.mark.parametrize(
    ("outer", "inner", "n"),
    [(4, -1, 4), (4, 3, 3), (4, 9, 4), (4, -2, 3), (1, -2, 1), (4, None, 1)],
)
def test_a_nested_call_has_no_more_threads_than_the_one_around_it(outer, inner, n):
    assert threads_of(lambda: threads_of(n_jobs=inner), n_jobs=outer) == n
    assert threads_of() == n_threads(-1)


def test_methods_use_the_options_of_their_object():
    class Model:
        n_jobs, verbose = 3, 0

        @entry
        def fit(self):
            return n_threads()

    assert Model().fit() == 3


def test_a_task_has_one_thread_and_tasks_together_have_all():
    def asked(_=None):
        return n_threads(), threads_of(n_jobs=5)

    with use_run(run_with(4, 0)):
        assert map_threads(asked, range(6)) == [(1, 1)] * 6
        assert map_threads(asked, [0]) == [(4, 4)]
        assert together(asked, asked) == [(4, 4)] * 2
        assert asked() == (4, 4)
    assert serial(asked)() == (1, 1)


def test_threads_see_the_limits_of_the_run_and_serial_tasks_do_not(tmp_path):
    def memory(_=None):
        return RUN.get().memory

    with config(memory=10**8, store=tmp_path):
        assert map_threads(memory, range(4), 2) == [10**8] * 4
        assert together(memory, memory) == [10**8] * 2
        assert serial(memory)() is None


def test_a_dask_task_has_the_threads_of_its_worker_and_of_ours_one():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=3, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert client.submit(n_threads, pure=False).result() == 3
        assert client.submit(serial(n_threads), pure=False).result() == 1


@pytest.mark.parametrize("bad", [0, True, 1.5, float("inf"), float("nan"), "2", "abc", [1], 1j])
def test_invalid_n_jobs_are_rejected(bad):
    with pytest.raises((ValueError, TypeError)) as error:
        n_threads(bad)
    assert str(error.value).startswith(f"n_jobs={bad!r}, but a number of threads is needed")


def test_libraries_that_start_all_threads_at_once_get_no_more_than_cores():
    assert n_cores_used(1) == 1
    assert n_cores_used(10**6) == n_cores_used(-1) == n_threads(-1)


def test_contexts_of_one_blas_thread_that_overlap_do_not_end_each_other():
    from threadpoolctl import threadpool_info, threadpool_limits

    def numbers():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    steps = [threading.Event() for _ in range(3)]
    within = []

    def first():
        with one_blas_thread():
            steps[0].set()
            steps[1].wait(300)
        steps[2].set()

    def second():
        steps[0].wait(300)
        with one_blas_thread():
            steps[1].set()
            # The first context has ended, and this one has not.
            steps[2].wait(300)
            within.append(numbers())

    with threadpool_limits(3, user_api="blas"):
        threads = [threading.Thread(target=task) for task in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert within == [{1}]
        assert numbers() == {3}
