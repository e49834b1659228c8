"""The run: how many threads a computation has, whether it shows progress, and what limits it.

What users call sets it once (`vicinal._core.options.entry`), and whatever it calls reads it. Every long
computation is a loop over blocks that are distributed to threads. Kernels are serial and release the
interpreter lock. The result of a block does not depend on the thread that computes it, so results are
bit-identical for any ``n_jobs``.
"""

from __future__ import annotations

import functools
import numbers
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, replace
from threading import Lock, Thread, local
from typing import TYPE_CHECKING, Any, TypeVar

from threadpoolctl import ThreadpoolController

from vicinal._core.dask_worker import current_worker
from vicinal._core.warn import LongWork, TimedLoop
from vicinal.exceptions import InvalidTypeError, InvalidValueError

if TYPE_CHECKING:
    from vicinal._core.large import Limit

Item = TypeVar("Item")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])
# Larger values of ``n_jobs`` are reduced to this.
MAX_THREADS = 1 << 16


@dataclass(frozen=True)
class Run:
    """What holds for a computation and all that it calls; None chooses automatically."""

    # As many as there are cores, unless a caller has asked for fewer.
    threads: int | None = None
    # Whether long steps show a bar, and whether one is shown already.
    bar: bool = False
    in_bar: bool = False
    # Where and how dask arrays are processed, and by how much memory may grow: see `vicinal.scale.config`.
    store: Any = None
    client: Any = None
    cell_size: int | None = None
    max_cell_size: int | None = None
    limit: Limit | None = None

    @property
    def memory(self) -> int | None:
        """Number of bytes by which memory may grow."""
        return None if self.limit is None else self.limit.n_bytes


_DEFAULT = Run()
# The run of the innermost call.
RUN: ContextVar[Run] = ContextVar("vicinal.run", default=_DEFAULT)


@contextmanager
def use_run(run: Run) -> Iterator[Run]:
    """Context in which this run holds."""
    token = RUN.set(run)
    try:
        yield run
    finally:
        RUN.reset(token)


def run_with(n_jobs: int | None, verbose: int) -> Run:
    """The current run for a call with these options: it may have fewer threads, not more."""
    outer = RUN.get()
    threads = outer.threads if type(n_jobs) is int and n_jobs == -1 else n_threads(n_jobs)
    bar = outer.bar or verbose > 0
    if threads == outer.threads and bar == outer.bar:
        return outer
    if outer is _DEFAULT:
        return _plain_run(threads, bar)
    return replace(outer, threads=threads, bar=bar)


_plain_run = functools.lru_cache(maxsize=256)(Run)  # making one would dominate short calls


def n_threads(n_jobs: int | None = -1) -> int:
    """Number of threads for a value of ``n_jobs``: -1 means all that the run has, -2 all but one.

    As in scikit-learn, None means 1 unless `joblib.parallel_config` sets another number. Outside of runs,
    all are the cores, and within a task of a dask worker, the threads of that worker.
    """
    most = RUN.get().threads
    if type(n_jobs) is int and 0 < n_jobs <= MAX_THREADS:
        return n_jobs if most is None else min(n_jobs, most)  # without the checks below
    if n_jobs is None:
        from joblib import effective_n_jobs

        n_jobs = int(effective_n_jobs(None))
    real = isinstance(n_jobs, numbers.Real) and not isinstance(n_jobs, bool)
    whole = isinstance(n_jobs, numbers.Integral) or (real and float(n_jobs).is_integer())
    if not real or not whole or n_jobs == 0:
        kind = InvalidValueError if real else InvalidTypeError
        raise kind(
            f"n_jobs={n_jobs!r}, but a number of threads is needed; -1 uses all cores, -2 all but one."
        )
    if n_jobs > 0:
        return min(int(n_jobs), MAX_THREADS if most is None else most)
    return max(1, (_n_cores() if most is None else most) + 1 + int(n_jobs))


def _n_cores() -> int:
    worker = current_worker()
    if worker is not None:
        return int(worker.state.nthreads)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def n_cores_used(n_jobs: int | None = -1) -> int:
    """`n_threads`, but no more than there are cores, for libraries that start all of them at once.

    OpenMP ends the process if it cannot start as many threads as it is told.
    """
    return min(n_threads(n_jobs), _n_cores())


def blocks(n_items: int, size: int) -> list[tuple[int, int]]:
    """Half-open ranges of ``size`` items that cover ``range(n_items)``."""
    return [(start, min(start + size, n_items)) for start in range(0, n_items, size)]


def map_threads(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    n_jobs: int | None = -1,
    *,
    title: str | None = None,
    long_work: LongWork | None = None,
) -> list[Result]:
    """Apply ``task`` to each item, using the threads of the run; results are in the order of the items.

    Parameters
    ----------
    task : callable
        Called with one item; should spend most of its time without the interpreter lock. If there are
        several, each has one thread for what it calls, and shows no bar.
    items : sequence
        Arguments of ``task``.
    n_jobs : int or None, default=-1
        Number of threads, if it should be smaller than that of the run.
    title : str, optional
        Title of the progress bar, if the run shows any; None shows no bar.
    long_work : LongWork, optional
        Without a bar, warn if the work takes minutes or longer.
    """
    run = RUN.get()
    if len(items) == 1 and not (run.bar and title) and long_work is None:
        return [task(items[0])]
    n_workers = min(n_threads(n_jobs), len(items))
    with progress_bar(len(items), title, long_work) as bar:
        if len(items) == 1:
            return _at_once(task, items, 1, bar.update)
        token = RUN.set(_run_of_a_task(run))
        try:
            return _at_once(task, items, n_workers, bar.update)
        finally:
            RUN.reset(token)


def _run_of_a_task(run: Run) -> Run:
    is_serial = run.threads == 1 and not run.bar
    return run if is_serial else replace(run, threads=1, bar=False)


def together(*tasks: Callable[[], Any]) -> list[Any]:
    """Results of a few tasks that run at once, if there are threads, each with all threads of the run."""
    n_workers = min(n_threads(), len(tasks))
    return _at_once(lambda task: task(), tasks, n_workers, lambda: None)


def _at_once(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    n_workers: int,
    update: Callable[[], Any],
) -> list[Result]:
    results: list[Any] = [None] * len(items)
    errors: list[BaseException] = []
    # Threads share one iterator, whose next() is atomic, and the calling thread works too. A queue of futures
    # would dominate calls of a few milliseconds.
    positions = iter(range(len(items)))

    def work() -> None:
        for i in positions:
            if errors:
                return
            try:
                results[i] = task(items[i])
            except BaseException as error:
                errors.append(error)
            update()

    threads = [Thread(target=copy_context().run, args=(work,)) for _ in range(n_workers - 1)]
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


def serial(task: Callable[..., Result]) -> Callable[..., Result]:
    """A task with one thread and no other settings: of a cluster, or of a lazy array."""
    return functools.partial(_serially, task)


def _serially(task: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    return Context().run(_with_one_thread, task, args, kwargs)


def _with_one_thread(task: Callable[..., Result], args: Any, kwargs: Any) -> Result:
    RUN.set(Run(threads=1))
    return task(*args, **kwargs)


class _OneBlasThread:
    """Context, or decorator, in which matrix products use one thread; contexts can overlap.

    In most libraries, the number of threads is a setting of the process. If each context restored the number
    that it found, one that ends would change it, and so the rounding, within another. So the first to enter
    sets the number, and the last to leave restores it.
    """

    def __init__(self) -> None:
        self._lock, self._n_entered = Lock(), 0
        self._numbers: dict[str, tuple[Any, int]] = {}
        self._own = local()

    def __enter__(self) -> None:
        shared, own = _blas_libraries(len(sys.modules))
        with self._lock:
            self._n_entered += 1
            for library in shared:
                if library.filepath not in self._numbers:
                    self._numbers[library.filepath] = library, library.get_num_threads()
                    _set_threads(library, 1)
        if not hasattr(self._own, "numbers"):
            self._own.numbers = []
        self._own.numbers.append([(library, library.get_num_threads()) for library in own])
        for library in own:
            library.set_num_threads(1)

    def __exit__(self, *error: object) -> None:
        for library, number in self._own.numbers.pop():
            library.set_num_threads(number)
        with self._lock:
            self._n_entered -= 1
            if self._n_entered == 0:
                while self._numbers:
                    _set_threads(*self._numbers.popitem()[1])

    def __call__(self, function: Function) -> Function:
        # Not by contextlib.ContextDecorator: warnings would point to it instead of the user's code.
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return call  # type: ignore[return-value]


_one_blas_thread = _OneBlasThread()


def one_blas_thread() -> _OneBlasThread:
    """Context, or decorator, in which matrix products use one thread.

    It is for tasks of `map_threads`, whose threads would compete with those of the products, and for results
    whose bits are promised: the order of summation depends on the number of threads of a product.
    """
    return _one_blas_thread


def _set_threads(library: Any, number: int) -> None:
    # From version 3.8 on, threadpoolctl lets only one thread at a time control the number.
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(number)
    release(force=True)


@functools.lru_cache(maxsize=1)
def _blas_libraries(n_modules: int) -> tuple[list[Any], list[Any]]:
    """BLAS libraries whose number of threads is a setting of the process, and of each thread that calls them.

    They are searched for again after imports, which may have loaded more. The search takes milliseconds,
    more than most computations that are limited.
    """
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    own = [getattr(library, "threading_layer", None) == "openmp" for library in found]
    return (
        [library for library, is_own in zip(found, own, strict=True) if not is_own],
        [library for library, is_own in zip(found, own, strict=True) if is_own],
    )


def one_openmp_thread() -> Any:
    """Context in which scikit-learn's k-means uses one thread; import k-means before entering it.

    A process that is forked after OpenMP has started threads deadlocks, because it does not inherit them.
    With one thread this cannot happen, and results do not depend on the number of cores.
    """
    return ThreadpoolController().limit(limits=1, user_api="openmp")


def progress_bar(total: float, title: str | None, long_work: LongWork | None = None) -> Any:
    """Progress bar as a context manager with a method `update`; the outermost of a run is shown.

    If the run shows none, there is no title or no place to print to, it only warns if ``long_work`` takes
    minutes or longer.
    """
    run = RUN.get()
    if not run.bar or run.in_bar or title is None or sys.stderr is None:
        return _NoBar() if long_work is None else TimedLoop(total, long_work)
    return _Bar(total, title)


class _NoBar(nullcontext[Any]):
    def __enter__(self) -> _NoBar:
        return self

    def update(self, n: float = 1) -> None:
        """Do nothing."""


class _Bar:
    """Shows a bar, and no other within it."""

    def __init__(self, total: float, title: str) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(total=total, desc=title, leave=False)

    def __enter__(self) -> Any:
        self._token = RUN.set(replace(RUN.get(), in_bar=True))
        return self._bar.__enter__()

    def __exit__(self, *error: Any) -> None:
        RUN.reset(self._token)
        self._bar.__exit__(*error)
