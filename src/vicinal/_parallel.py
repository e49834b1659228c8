"""Threads over blocks: how every long computation uses the cores.

Kernels are serial and release the interpreter lock; here they are run over blocks of the work. A block's
result never depends on which thread ran it, so any ``n_jobs`` gives the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads(n_jobs: int | None) -> int:
    """Number of threads that ``n_jobs`` asks for: None is every core, -1 too, -2 all but one."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    if n_jobs is None:
        return cores
    if isinstance(n_jobs, bool) or int(n_jobs) != n_jobs or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r}: give a number of threads, None for all cores, or -1, -2, ... to count "
            "back from all cores."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def blocks(n_items: int, size: int) -> list[tuple[int, int]]:
    """Half-open ranges of ``size`` items that cover ``range(n_items)``."""
    return [(start, min(start + size, n_items)) for start in range(0, n_items, size)]


def map_threads(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    n_jobs: int | None = None,
    *,
    progress: str | None = None,
) -> list[Result]:
    """Results of ``task`` on each item, in the items' order, worked off by threads.

    Parameters
    ----------
    task : callable
        Called with one item; it should spend its time where the interpreter lock is released.
    items : sequence
        What there is to do.
    n_jobs : int, optional
        Number of threads, all cores by default.
    progress : str, optional
        Title of a progress bar; no bar without one.
    """
    threads = min(n_threads(n_jobs), len(items))
    if threads <= 1:
        return [task(item) for item in _bar(items, len(items), progress)]
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(task, item) for item in items]
        try:
            return [future.result() for future in _bar(futures, len(items), progress)]
        except BaseException:
            # Ctrl-C or an error in one block: drop what has not begun instead of working it off first.
            pool.shutdown(wait=False, cancel_futures=True)
            wait(futures, return_when=FIRST_EXCEPTION)
            raise


def one_blas_thread() -> Any:
    """Context in which matrix products use one thread, for use inside tasks of `map_threads`."""
    return threadpool_limits(limits=1, user_api="blas")


def _bar(items: Iterable[Item], total: int, title: str | None) -> Iterable[Item]:
    if title is None:
        return items
    from tqdm.auto import tqdm

    return tqdm(items, total=total, desc=title, leave=False)
