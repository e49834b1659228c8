"""Threads over blocks: order, errors, and what n_jobs means."""

import os
import threading
import time

import pytest

from vicinal._core.parallel import (
    blocks,
    map_threads,
    n_cores_used,
    n_threads,
    one_blas_thread,
)


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


def test_the_progress_bar_counts_the_items(capfd):
    map_threads(lambda i: i, range(4), 2, progress="counting")
    assert "counting" in capfd.readouterr().err


def test_blocks_cover_everything_once():
    assert blocks(10, 4) == [(0, 4), (4, 8), (8, 10)]
    assert blocks(0, 4) == []


def test_negative_n_jobs_count_from_the_number_of_cores():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert (n_threads(3), n_threads(-1)) == (3, cores)
    assert n_threads(-1000) == 1
    assert n_threads(2.0) == 2


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
