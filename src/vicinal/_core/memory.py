"""Free memory of the machine, its container, process and dask worker, and a check that work fits into it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from vicinal._core.dask_worker import current_worker
from vicinal._core.large import bytes_besides_files
from vicinal._core.parallel import RUN
from vicinal.exceptions import InsufficientMemoryError

try:
    import resource
except ImportError:  # Windows, which has no such limits
    resource = None  # type: ignore[assignment]


class _Interface(NamedTuple):
    """Files in which a version of Linux control groups reports its limit, its usage and its file cache."""

    mount: str
    limit: str
    used: str
    cache: tuple[str, str]


VERSION_1 = _Interface(
    "sys/fs/cgroup/memory",
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    ("total_inactive_file", "total_active_file"),
)
VERSION_2 = _Interface(
    "sys/fs/cgroup", "memory.max", "memory.current", ("inactive_file", "active_file")
)
# A measurement is used again for this many seconds by requests that are smaller by this factor.
REUSE_SECONDS, REUSE_FACTOR = 0.1, 1000.0
# The limits set by `ulimit -v` and `ulimit -d`, and the line of /proc/self/status that counts against each.
PROCESS_LIMITS = (("RLIMIT_AS", "VmSize:"), ("RLIMIT_DATA", "VmData:"))


def require_memory(n_bytes: float, what: str, remedy: str, *, in_files: bool = False) -> None:
    """Raise an error if a computation would not fit into the memory that is free now.

    With ``in_files``, its arrays are made by `large`: where memory is limited, the space on the disk counts.
    """
    limit = RUN.get().limit
    if limit is not None and in_files:
        free_on_disk = shutil.disk_usage(limit.folder).free
        if n_bytes > free_on_disk:
            raise InsufficientMemoryError(
                f"{what} needs about {n_bytes / 2**30:.1f} GiB, but {free_on_disk / 2**30:.1f} GiB are free "
                f"in {os.fspath(limit.folder)}. {remedy}"
            )
        return
    free = _free_for(n_bytes)
    if free is not None and n_bytes > free:
        raise InsufficientMemoryError(
            f"{what} needs about {n_bytes / 2**30:.1f} GiB, but {free / 2**30:.1f} GiB of memory are free. "
            f"{remedy}"
        )


# What the last measurement was for, when it was made, and its result.
_last: tuple[object, float, int | None] = (None, 0.0, None)


def _free_for(n_bytes: float) -> int | None:
    """Free bytes, measured anew unless far more than needed were free a moment ago.

    Reading them takes longer than a graph of few points.
    """
    global _last
    known, when, free = _last
    now, limits = monotonic(), (free_memory, _worker_limit(), _process_limits())
    is_recent = known == limits and now - when < REUSE_SECONDS
    if not is_recent or free is None or n_bytes * REUSE_FACTOR > free:
        free = free_memory()
        _last = limits, now, free
    return free


def free_memory(root: Path = Path("/")) -> int | None:
    """Number of free bytes, or None if the system does not report it.

    ``root`` is the folder that contains /proc and /sys.
    """
    limits = [
        *_free_in_system(root),
        *_free_in_groups(root),
        *_free_in_process(root),
        *_free_in_worker(),
        *_free_below_limit(),
    ]
    return min(limits) if limits else None


def data_bytes() -> int:
    """Bytes of this process that count against ``ulimit -d``; 0 if the system does not report them."""
    return 1024 * _values(Path("/proc/self/status"), "VmData:").get("VmData:", 0)


def _free_in_system(root: Path) -> Iterator[int]:
    free = _values(root / "proc/meminfo", "MemAvailable:").get("MemAvailable:")
    if free is not None:
        yield free * 1024
        return
    with suppress(AttributeError, OSError, ValueError):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _free_in_groups(root: Path) -> Iterator[int]:
    """Free bytes of each limited control group of this process, including parent groups."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        interface = VERSION_1 if controllers else VERSION_2
        mount = root / interface.mount
        # A container may see its own group as the root, under a path that exists only on the host.
        group = mount / path.lstrip("/")
        for folder in (group, *group.parents):
            limit, used = _number(folder / interface.limit), _number(folder / interface.used)
            if limit is not None and used is not None:
                cache = sum(_values(folder / "memory.stat", *interface.cache).values())
                yield max(0, limit - used + cache)
            if folder == mount:
                break


def _free_in_process(root: Path) -> Iterator[int]:
    """Free bytes under each limit that the shell or a scheduler has set on this process."""
    for line, limit in _process_limits().items():
        used = _values(root / "proc/self/status", line).get(line, 0)
        yield max(0, limit - 1024 * used)


def _process_limits() -> dict[str, int]:
    """Limits on this process, by the line of /proc/self/status that counts against each."""
    limits = {}
    for name, line in PROCESS_LIMITS:
        with suppress(AttributeError, OSError, ValueError):
            soft = resource.getrlimit(getattr(resource, name))[0]
            if soft != resource.RLIM_INFINITY:
                limits[line] = soft
    return limits


def _free_in_worker() -> Iterator[int]:
    """Free bytes of the dask worker that runs this task, before it would pause."""
    limit = _worker_limit()
    if limit is not None:
        yield max(0, limit - current_worker().monitor.get_process_memory())


def _worker_limit() -> int | None:
    """Bytes at which the dask worker that runs this task would pause."""
    manager: Any = getattr(current_worker(), "memory_manager", None)
    limit = getattr(manager, "memory_limit", None)
    return int((manager.memory_pause_fraction or 1.0) * limit) if limit else None


def _free_below_limit() -> Iterator[int]:
    """Free bytes of the limit of `vicinal.scale.config`."""
    limit = RUN.get().limit
    if limit is not None:
        yield max(0, limit.most - bytes_besides_files())


def _values(path: Path, *keys: str) -> dict[str, int]:
    """Number after each key, where a line starts with it."""
    text, numbers = f"\n{_text(path)}", {}
    for key in keys:
        # Only these lines are split: reading all of them takes longer than a search among few points.
        at = text.find(f"\n{key} ")
        at = at if at >= 0 else text.find(f"\n{key}\t")
        words = text[at + 1 : at + 200].split(maxsplit=2) if at >= 0 else []
        if len(words) > 1 and words[1].isdecimal():
            numbers[key] = int(words[1])
    return numbers


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    # An unlimited group contains "max".
    return int(text) if text.isdecimal() else None


def _text(path: Path) -> str:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall().decode()
    except (OSError, ValueError):
        return ""
