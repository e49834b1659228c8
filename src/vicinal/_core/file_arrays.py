"""Large arrays in files: within a block, NumPy takes the memory of new large arrays from a file on disk.

Every array from a certain size on, whichever library allocates it through NumPy, is a mapped range of one
file without a name. A thread removes its pages from the memory of the process whenever that exceeds a limit;
they are read again from the system's cache, or from the disk, when they are used. Values do not change, so
neither do results. The arrays may outlive the block.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal.exceptions import InvalidValueError

# Arrays below this fraction of the limit stay in memory; an iteration of eigenvectors has a hundred that are
# equally large.
MIN_ARRAY_FRACTION = 1 / 256
# Pages are removed above this fraction of the limit; the rest is for what grows until the next look.
MAX_RESIDENT_FRACTION = 0.75
# Pages are removed only if the files have at least this fraction of the limit in memory.
MIN_FILE_FRACTION = 1 / 16
# Position in NumPy's table of C functions, the same in all versions since 1.22.
SET_HANDLER = 304


class _Handler(ctypes.Structure):
    """PyDataMem_Handler of NumPy's C API."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("state", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )


class FileLimit(NamedTuple):
    """Folder of large arrays, and the largest number of resident bytes of memory that is not in files."""

    folder: str | os.PathLike[str] | None
    max_bytes: int


NAME = b"vicinal files"
# Arrays refer to their handler until they are freed, so handlers are never freed.
_HANDLERS: list[tuple[_Handler, Any]] = []
_LIMITS: list[FileLimit] = []


@contextmanager
def large_arrays_in_files(folder: str | os.PathLike[str] | None, memory: int) -> Iterator[None]:
    """Keep new large arrays of this thread in a file while the process may grow by about ``memory`` bytes.

    Parameters
    ----------
    folder : path-like or None
        Folder of the file; None is the folder for temporary files.
    memory : int
        Bytes of resident memory in addition to those at the start of the block.
    """
    if not sys.platform.startswith("linux"):
        raise InvalidValueError(
            f"memory={memory}, but large arrays can be kept in files on Linux only, and this is "
            f"{sys.platform}; remove the limit."
        )
    from vicinal._core import _allocation_kernels as allocator

    handler, state = _new_handler(folder, memory)
    thread, libc = ctypes.c_ulong(), ctypes.CDLL(None)
    watch = ctypes.c_void_p(allocator.callbacks()[-1].address)
    # A thread of the system, not of Python: it must not wait for the interpreter lock.
    failed = libc.pthread_create(ctypes.byref(thread), None, watch, ctypes.byref(state))
    if failed:
        raise OSError(failed, os.strerror(failed))
    resident, of_files = _resident_bytes()
    limit = FileLimit(folder, resident - of_files + memory)
    known = _set_handler(_capsule(handler))
    _LIMITS.append(limit)
    try:
        yield
    finally:
        _LIMITS.remove(limit)
        _set_handler(known)
        state[allocator.IS_CLOSED] = 1
        libc.pthread_join(thread, None)
        os.close(state[allocator.STATUS_FILE])
        if state[allocator.N_MAPPED] == 0:
            os.close(state[allocator.FILE])


def current_limit() -> FileLimit | None:
    """The limit, if new large arrays of this thread are in files."""
    if not _LIMITS or _core().multiarray.get_handler_name() != NAME.decode():
        return None
    return _LIMITS[-1]


def free_bytes() -> int | None:
    """Bytes of memory that may still be used besides files; None if there is no limit."""
    if not _LIMITS:
        return None
    resident, of_files = _resident_bytes()
    return max(0, _LIMITS[-1].max_bytes - (resident - of_files))


def forget_pages(mapped: np.memmap) -> None:
    """Remove the pages of an array that is mapped from a file from memory, if memory is limited."""
    file: Any = mapped
    while isinstance(file, np.ndarray):
        file = file.base
    # Private changes of a mapped file (mode "c") would be lost.
    if _LIMITS and isinstance(file, mmap.mmap) and getattr(mapped, "mode", "c") != "c":
        file.madvise(mmap.MADV_DONTNEED)


def _new_handler(folder: str | os.PathLike[str] | None, memory: int) -> tuple[_Handler, Any]:
    from vicinal._core import _allocation_kernels as allocator

    with tempfile.TemporaryFile(dir=folder) as file:
        descriptor = os.dup(file.fileno())
    resident, of_files = _resident_bytes()
    page = os.sysconf("SC_PAGE_SIZE")
    state = (ctypes.c_int64 * allocator.STATE_LENGTH)()
    state[allocator.FILE] = descriptor
    state[allocator.STATUS_FILE] = os.open("/proc/self/statm", os.O_RDONLY)
    state[allocator.THRESHOLD] = int(MIN_ARRAY_FRACTION * memory)
    state[allocator.MAX_RESIDENT] = int(resident + MAX_RESIDENT_FRACTION * memory) // page
    state[allocator.MIN_OF_FILES] = int(of_files + MIN_FILE_FRACTION * memory) // page
    addresses = (function.address for function in allocator.callbacks()[:-1])
    handler = _Handler(NAME, 1, ctypes.addressof(state), *addresses)
    _HANDLERS.append((handler, state))
    return handler, state


def _capsule(handler: _Handler) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(handler), b"mem_handler", None)


def _core() -> Any:
    return getattr(np, "_core", None) or np.core


def _resident_bytes() -> tuple[int, int]:
    """Resident bytes of this process, and how many of them are in files."""
    page = os.sysconf("SC_PAGE_SIZE")
    _, resident, of_files = map(int, Path("/proc/self/statm").read_text().split()[:3])
    return page * resident, page * of_files


def _set_handler(capsule: Any) -> Any:
    """Set NumPy's allocator in the current context; returns the one before."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = ctypes.cast(
        pointer(_core()._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p)
    )
    function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[SET_HANDLER])
    return function(capsule)
