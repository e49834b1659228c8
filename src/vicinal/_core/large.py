"""The few arrays that are large where there are many points: in memory, or in files where that is limited.

`vicinal.scale.config(memory=...)` sets the limit. Values do not depend on where an array is. The system
writes the pages of a file to the disk when it needs their memory, and reads them when they are used.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.parallel import RUN
from vicinal.exceptions import InsufficientMemoryError

# Arrays below this fraction of the limit stay in memory: each one in a file needs a descriptor of it.
MIN_ARRAY_FRACTION = 1 / 256


class Limit(NamedTuple):
    """Bytes by which memory may grow, the most that it may be then, and the folder of large arrays."""

    n_bytes: int
    most: int
    folder: str | os.PathLike[str]


def limit_of(n_bytes: int, folder: str | os.PathLike[str] | None) -> Limit:
    """The limit for a growth from now on, and the folder of large arrays, by default that of the system."""
    return Limit(n_bytes, bytes_besides_files() + n_bytes, folder or tempfile.gettempdir())


def large(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of any values; it may outlive the limit, and its file ends with it."""
    limit = RUN.get().limit
    sizes = shape if isinstance(shape, tuple) else (shape,)
    n_bytes = math.prod(map(int, sizes)) * np.dtype(dtype).itemsize
    if limit is None or n_bytes < MIN_ARRAY_FRACTION * limit.n_bytes:
        return np.empty(shape, dtype)
    try:
        with tempfile.TemporaryFile(dir=limit.folder) as file:
            # Writing to a page without space on the disk would end the process.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            return np.asarray(np.memmap(file, dtype, "w+", shape=sizes))
    except OSError as error:
        raise InsufficientMemoryError(
            f"an array of {n_bytes / 2**30:.1f} GiB cannot be made in {os.fspath(limit.folder)}: "
            f"{error.strerror or error}. Use a store on a larger disk, or a higher limit of memory."
        ) from error


def filled(n: int, values: Any, dtype: Any) -> np.ndarray:
    """A large array of these values, or of one."""
    array = large(n, dtype)
    array[...] = values
    return array


def forget(*arrays: np.ndarray) -> None:
    """Remove the pages of arrays in files from memory, if the system can; they are read again when used.

    Arrays are contiguous: for a part of the rows, only their pages are removed.
    """
    for array in arrays:
        whole: Any = array
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        if isinstance(whole.base, mmap.mmap) and hasattr(whole.base, "madvise") and array.nbytes:
            # A mapping starts with a page.
            start = whole.ctypes.data // mmap.PAGESIZE * mmap.PAGESIZE
            first = (array.ctypes.data - start) // mmap.PAGESIZE * mmap.PAGESIZE
            last = array.ctypes.data - start + array.nbytes
            whole.base.madvise(mmap.MADV_DONTNEED, first, last - first)


def bytes_besides_files() -> int:
    """Resident bytes of this process that are not in files; 0 if the system does not report them."""
    try:
        _, resident, of_files = map(int, Path("/proc/self/statm").read_text().split()[:3])
    except (OSError, ValueError):
        return 0
    return mmap.PAGESIZE * (resident - of_files)
