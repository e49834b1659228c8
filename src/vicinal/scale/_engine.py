"""Engines that run tasks: threads of this process, or the workers of a dask cluster.

A task is a function of names and numbers that reads files of a store, writes files to it, and returns a few
numbers. It may run twice, or on another machine: the files are the same.
"""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from vicinal._core.large import forget
from vicinal._core.parallel import RUN, map_threads, n_threads, progress_bar, serial
from vicinal._core.warn import LongWork
from vicinal.exceptions import InsufficientMemoryError, InvalidValueError
from vicinal.scale.settings import check_client

# Seconds between two looks at the results of a cluster, and at its workers.
POLL_SECONDS, CHECK_SECONDS = 0.01, 5.0
# Tasks of small items, so that all workers end at about the same time.
TASKS_PER_WORKER = 4


class Engine(Protocol):
    """Runs tasks and returns their results in order."""

    @property
    def n_workers(self) -> int:
        """Number of tasks that run at the same time."""

    def run(
        self,
        task: Callable[..., Any],
        items: Sequence[tuple[Any, ...]],
        title: str,
        long_work: LongWork | None = None,
    ) -> list[Any]:
        """Results of ``task(*item)`` for each item; without a bar, a warning if ``long_work`` is long."""

    def run_on_blocks(
        self, task: Callable[..., Any], X: Any, items: Sequence[tuple[Any, ...]], title: str
    ) -> list[Any]:
        """Results of ``task(block, *item)`` for each block of rows of a dask array."""


class ThreadEngine:
    """Tasks in threads of this process."""

    @property
    def n_workers(self) -> int:
        return n_threads()

    def run(
        self,
        task: Callable[..., Any],
        items: Sequence[tuple[Any, ...]],
        title: str,
        long_work: LongWork | None = None,
    ) -> list[Any]:
        return map_threads(lambda item: task(*item), items, title=title, long_work=long_work)

    def run_on_blocks(
        self, task: Callable[..., Any], X: Any, items: Sequence[tuple[Any, ...]], title: str
    ) -> list[Any]:
        mapped = [] if RUN.get().limit is None else _mapped_arrays(X)

        def on_block(block: Any, *item: Any) -> Any:
            result = task(block.compute(scheduler="synchronous"), *item)
            forget(*mapped)
            return result

        blocks = X.to_delayed().ravel()
        pairs = [(block, *item) for block, item in zip(blocks, items, strict=True)]
        return self.run(on_block, pairs, title)


class ClusterEngine:
    """Tasks on the workers of a `distributed.Client`."""

    def __init__(self, client: Any) -> None:
        self.client = client

    @property
    def n_workers(self) -> int:
        return max(1, sum(worker["nthreads"] for worker in _workers(self.client).values()))

    def run(
        self,
        task: Callable[..., Any],
        items: Sequence[tuple[Any, ...]],
        title: str,
        long_work: LongWork | None = None,
    ) -> list[Any]:
        futures = [self.client.submit(serial(task), *item, pure=False) for item in items]
        return self._results(futures, title, long_work)

    def run_on_blocks(
        self, task: Callable[..., Any], X: Any, items: Sequence[tuple[Any, ...]], title: str
    ) -> list[Any]:
        from dask import delayed

        blocks = X.to_delayed().ravel()
        tasks = [
            delayed(serial(task))(block, *item) for block, item in zip(blocks, items, strict=True)
        ]
        return self._results(self.client.compute(tasks), title)

    def _results(
        self, futures: list[Any], title: str, long_work: LongWork | None = None
    ) -> list[Any]:
        from distributed import KilledWorker

        waiting, checked = list(futures), time.monotonic()
        try:
            with progress_bar(len(futures), title, long_work) as bar:
                while waiting:
                    # Statuses are kept up to date by messages, so that reading them costs nothing.
                    remaining = [future for future in waiting if not future.done()]
                    failed = next((f for f in waiting if f.status in ("error", "cancelled")), None)
                    if failed is not None:
                        failed.result()
                    if len(remaining) < len(waiting):
                        bar.update(len(waiting) - len(remaining))
                    waiting = remaining
                    if waiting and time.monotonic() - checked > CHECK_SECONDS:
                        self._check_workers()
                        checked = time.monotonic()
                    time.sleep(POLL_SECONDS if waiting else 0.0)
                return self.client.gather(futures)
        except KilledWorker as error:
            raise InsufficientMemoryError(
                f"{title}: workers died repeatedly during one task, probably for lack of memory. Use "
                "smaller cells (vicinal.scale.config(cell_size=...)) or workers with more memory."
            ) from error
        finally:
            self.client.cancel(waiting)

    def _check_workers(self) -> None:
        """Raise an error if no worker can ever continue."""
        workers = _workers(self.client)
        if workers and all(worker["status"] == "paused" for worker in workers.values()):
            raise InsufficientMemoryError(
                f"all {len(workers)} worker(s) are paused because their memory is nearly full. Use smaller "
                "cells (vicinal.scale.config(cell_size=...)) or workers with more memory."
            )


def group_items(sizes: np.ndarray, n_workers: int) -> list[np.ndarray]:
    """Consecutive items in a few tasks per worker of about equal size, the largest first.

    There is at least one item, and all sizes are positive. Each task has a cost of its own, which would
    exceed that of small items.
    """
    ends = np.cumsum(sizes)
    n_tasks = min(len(sizes), TASKS_PER_WORKER * n_workers)
    task = (ends - 1) * n_tasks // ends[-1]
    groups = np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(task)) + 1)
    return sorted(groups, key=lambda group: -int(sizes[group].sum()))


def _mapped_arrays(X: Any) -> list[np.memmap]:
    """Files mapped into memory that a dask array reads, without private changes."""
    values = (getattr(node, "value", node) for node in X.dask.values())
    return [v for v in values if isinstance(v, np.memmap) and getattr(v, "mode", "c") != "c"]


def _workers(client: Any) -> dict[str, Any]:
    try:
        return client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:  # older versions list all workers
        return client.scheduler_info()["workers"]


def current_engine() -> Engine:
    """The engine of the current settings: the given or current client, otherwise threads."""
    client = check_client(RUN.get().client) or _default_client()
    return ThreadEngine() if client is None else ClusterEngine(client)


def require_shared_store(engine: Engine) -> None:
    """Raise an error if workers run on other machines, which do not see a temporary folder of this one."""
    if not isinstance(engine, ClusterEngine):
        return
    hosts = {worker["host"] for worker in _workers(engine.client).values()}
    elsewhere = sorted(host for host in hosts if not _is_this_machine(host))
    if elsewhere:
        raise InvalidValueError(
            f"workers run on other machines ({', '.join(elsewhere[:3])}), which do not see the temporary "
            "folders of this one; pass a folder or URL that all of them see: "
            "with vicinal.scale.config(store=...)."
        )


def _is_this_machine(host: str) -> bool:
    # Any address of this machine, and no other, can be bound.
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as sock:
            sock.bind((host, 0))
    except OSError:
        return not host
    return True


def _default_client() -> Any:
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:  # no client
        return None
