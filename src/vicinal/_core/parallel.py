"""Threads over blocks: how every long computation uses the cores.

Kernels are serial and release the interpreter lock; here they are run over blocks of the work. A block's
result never depends on which thread ran it, so any ``n_jobs`` gives the same bits.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from threading import Thread
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from vicinal.exceptions import InvalidTypeError, InvalidValueError

Item = TypeVar("Item")
Result = TypeVar("Result")
# More are never useful; a larger number means as many as possible.
MAX_THREADS = 1 << 16


def n_threads(n_jobs: int | None) -> int:
    """Number of threads that ``n_jobs`` stands for: -1 is every core, -2 all but one.

    None means what it means in scikit-learn: 1, unless a `joblib.parallel_config` says otherwise.
    """
    if n_jobs is None:
        from joblib import effective_n_jobs

        return int(effective_n_jobs(None))
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    number = isinstance(n_jobs, numbers.Real) and not isinstance(n_jobs, bool)
    whole = isinstance(n_jobs, numbers.Integral) or (number and float(n_jobs).is_integer())
    if not number or not whole or n_jobs == 0:
        kind = InvalidValueError if number else InvalidTypeError
        raise kind(
            f"n_jobs={n_jobs!r}, but a number of threads is needed; -1 uses all cores, -2 all but one."
        )
    return min(int(n_jobs), MAX_THREADS) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def blocks(n_items: int, size: int) -> list[tuple[int, int]]:
    """Half-open ranges of ``size`` items that cover ``range(n_items)``."""
    return [(start, min(start + size, n_items)) for start in range(0, n_items, size)]


def map_threads(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    n_jobs: int | None = -1,
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
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores.
    progress : str, optional
        Title of a progress bar; no bar without one.
    """
    results: list[Any] = [None] * len(items)
    errors: list[BaseException] = []
    # Taking the next number is atomic, so threads share one iterator instead of a queue of futures;
    # the caller works too. Rounds of a few milliseconds would otherwise wait for their threads.
    places = iter(range(len(items)))
    with progress_bar(len(items), progress) as bar:

        def work() -> None:
            for i in places:
                if errors:
                    return
                try:
                    results[i] = task(items[i])
                except BaseException as error:
                    errors.append(error)
                bar.update()

        threads = [Thread(target=work) for _ in range(min(n_threads(n_jobs), len(items)) - 1)]
        for thread in threads:
            thread.start()
        try:
            work()
            for thread in threads:
                thread.join()
        except KeyboardInterrupt as stop:
            errors.append(stop)
    if errors:
        for thread in threads:
            thread.join()
        raise errors[0]
    return results


def one_blas_thread() -> Any:
    """Context in which matrix products use one thread, for use inside tasks of `map_threads`."""
    return threadpool_limits(limits=1, user_api="blas")


def one_openmp_thread() -> Any:
    """Context in which scikit-learn's k-means uses one thread; import it before.

    A child that was forked after several OpenMP threads had run waits forever for threads that it does
    not have. With one thread there are none to wait for, and the bits do not depend on the machine.
    """
    return threadpool_limits(limits=1, user_api="openmp")


def progress_bar(total: int, title: str | None) -> Any:
    """A progress bar as a context, with `update`; one that shows nothing without a title."""
    if title is None:
        return _NoBar()
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=title, leave=False)


class _NoBar(nullcontext[Any]):
    def __enter__(self) -> _NoBar:
        return self

    def update(self, n: int = 1) -> None:
        """Nothing to show."""
