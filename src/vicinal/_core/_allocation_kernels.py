"""Memory of large arrays in a file: compiled functions that NumPy calls to allocate and free memory.

Allocations from a threshold on are ranges of one file, mapped into memory. Their pages can be removed from
memory at any time, because the file keeps their content; the pages of ordinary memory cannot. NumPy, and the
code that uses the arrays, see no difference.

A block starts with a header, so that it can be freed without a search: the slot of a mapped block in the
table of the state (or -1 if it is ordinary memory), its size, and its position in the file. A state is an
array of integers of 8 bytes, shared by these functions, a thread that runs `watch`, and Python.
"""

from __future__ import annotations

import functools
from typing import Any

from llvmlite import ir
from numba import cfunc, types
from numba.extending import intrinsic

from vicinal._core.jit import jit

# Fields of a state. A table of (address, length) of mapped blocks follows.
(
    FILE,
    NEXT_POSITION,
    THRESHOLD,
    N_MAPPED,
    IS_CLOSED,
    STATUS_FILE,
    MAX_RESIDENT,
    MIN_OF_FILES,
    MUTEX,
) = range(9)
# Fields that a mutex, and the text of /proc/self/statm, have room in.
MUTEX_LENGTH, STATUS_LENGTH, N_SLOTS = 16, 32, 1024
STATUS = MUTEX + MUTEX_LENGTH
TABLE = STATUS + STATUS_LENGTH
STATE_LENGTH = TABLE + 2 * N_SLOTS
# Bytes before the data of a block, which keep the data aligned.
HEADER, PAGE, WORD = 64, 4096, 8
MICROSECONDS_BETWEEN_LOOKS = 3000
# Constants of Linux.
READ_AND_WRITE, SHARED, DONT_NEED, PUNCH_HOLE_KEEP_SIZE, FAILED = 3, 1, 4, 3, -1

_int, _int32 = types.intp, types.int32


def _external(name: str, result: Any, *arguments: Any) -> Any:
    return types.ExternalFunction(name, result(*arguments))


# Addresses are passed as integers.
_malloc = _external("malloc", _int, _int)
_realloc = _external("realloc", _int, _int, _int)
_free = _external("free", types.void, _int)
_memcpy = _external("memcpy", _int, _int, _int, _int)
_memset = _external("memset", _int, _int, _int32, _int)
_mmap = _external("mmap", _int, _int, _int, _int32, _int32, _int32, _int)
_munmap = _external("munmap", _int32, _int, _int)
_madvise = _external("madvise", _int32, _int, _int, _int32)
_reserve = _external("posix_fallocate", _int32, _int32, _int, _int)
_fallocate = _external("fallocate", _int32, _int32, _int32, _int, _int)
_pread = _external("pread", _int, _int32, _int, _int, _int)
_close = _external("close", _int32, _int32)
_usleep = _external("usleep", _int32, _int32)
_lock = _external("pthread_mutex_lock", _int32, _int)
_unlock = _external("pthread_mutex_unlock", _int32, _int)


@intrinsic
def _load(typing_context, address):
    """The integer at an address."""

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(pointer, "monotonic", 8)

    return types.int64(types.intp), generate


@intrinsic
def _store(typing_context, address, value):
    """Store an integer at an address."""

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        builder.store_atomic(args[1], pointer, "monotonic", 8)
        return context.get_dummy_value()

    return types.void(types.intp, types.int64), generate


@jit
def _get(state, field):
    return _load(state + WORD * field)


@jit
def _set(state, field, value):
    _store(state + WORD * field, value)


@jit
def _map(state, slot, size):
    length = (size + HEADER + PAGE - 1) // PAGE * PAGE
    file, position = _get(state, FILE), _get(state, NEXT_POSITION)
    # Reserve the space now: writing to a page without space on the disk would end the process.
    if _reserve(file, position, length) != 0:
        return 0
    address = _mmap(0, length, READ_AND_WRITE, SHARED, file, position)
    if address == FAILED:
        _fallocate(file, PUNCH_HOLE_KEEP_SIZE, position, length)
        return 0
    _set(state, NEXT_POSITION, position + length)
    _set(state, N_MAPPED, _get(state, N_MAPPED) + 1)
    _set(state, TABLE + 2 * slot + 1, length)
    _set(state, TABLE + 2 * slot, address)
    _store(address, slot)
    _store(address + WORD, length)
    _store(address + 2 * WORD, position)
    return address + HEADER


@jit
def allocate(state, size):
    """A block of memory; 0 if there is none, or no space in the file."""
    if size >= _get(state, THRESHOLD):
        _lock(state + WORD * MUTEX)
        slot, address = 0, 0
        while slot < N_SLOTS and _get(state, TABLE + 2 * slot) != 0:
            slot += 1
        if slot < N_SLOTS:
            address = _map(state, slot, size)
        _unlock(state + WORD * MUTEX)
        if slot < N_SLOTS:
            return address
    address = _malloc(size + HEADER)
    if address == 0:
        return 0
    _store(address, -1)
    _store(address + WORD, size)
    return address + HEADER


@jit
def allocate_zeros(state, n_items, item_size):
    """A block of zeros."""
    size = n_items * item_size
    address = allocate(state, size)
    # A new range of the file consists of zeros.
    if address != 0 and _load(address - HEADER) < 0:
        _memset(address, 0, size)
    return address


@jit
def release(state, address, size):
    """Free a block."""
    if address == 0:
        return
    start = address - HEADER
    slot = _load(start)
    if slot < 0:
        _free(start)
        return
    length, position = _load(start + WORD), _load(start + 2 * WORD)
    _lock(state + WORD * MUTEX)
    _munmap(start, length)
    _set(state, TABLE + 2 * slot, 0)
    # The range is not used again; its space on the disk is freed.
    _fallocate(_get(state, FILE), PUNCH_HOLE_KEEP_SIZE, position, length)
    n_mapped = _get(state, N_MAPPED) - 1
    _set(state, N_MAPPED, n_mapped)
    if n_mapped == 0 and _get(state, IS_CLOSED) != 0:
        _close(_get(state, FILE))
    _unlock(state + WORD * MUTEX)


@jit
def reallocate(state, address, size):
    """A block of another size with the same content; the old one is freed."""
    if address == 0:
        return allocate(state, size)
    start = address - HEADER
    if _load(start) < 0 and size < _get(state, THRESHOLD):
        start = _realloc(start, size + HEADER)
        if start == 0:
            return 0
        _store(start + WORD, size)
        return start + HEADER
    # The size of a mapped block includes its header.
    known = _load(start + WORD) - (HEADER if _load(start) >= 0 else 0)
    new = allocate(state, size)
    if new != 0:
        _memcpy(new, address, min(known, size))
        release(state, address, known)
    return new


@jit
def release_pages(state):
    """Remove the pages of all mapped blocks from the memory of this process; the file keeps their content."""
    _lock(state + WORD * MUTEX)
    for slot in range(N_SLOTS):
        address = _get(state, TABLE + 2 * slot)
        if address != 0:
            _madvise(address, _get(state, TABLE + 2 * slot + 1), DONT_NEED)
    _unlock(state + WORD * MUTEX)


@jit
def _resident_pages(address, length):
    """Resident pages of files, and all of them: the third and the second number of /proc/self/statm."""
    second, number, n_spaces = 0, 0, 0
    for at in range(length):
        word = _load(address + at // WORD * WORD)
        character = (word >> (8 * (at % WORD))) & 255
        if character == 32:
            n_spaces += 1
            if n_spaces == 2:
                second = number
            if n_spaces == 3:
                break
            number = 0
        else:
            number = 10 * number + character - 48
    return number, second


@jit
def watch(state):
    """Remove pages whenever the process has grown too much, until the state is closed."""
    text = state + WORD * STATUS
    while _get(state, IS_CLOSED) == 0:
        length = _pread(_get(state, STATUS_FILE), text, WORD * STATUS_LENGTH, 0)
        of_files, resident = _resident_pages(text, length)
        if resident > _get(state, MAX_RESIDENT) and of_files > _get(state, MIN_OF_FILES):
            release_pages(state)
        _usleep(MICROSECONDS_BETWEEN_LOOKS)
    return 0


@functools.cache
def callbacks() -> tuple[Any, ...]:
    """C functions in the order of NumPy's handlers (malloc, calloc, realloc, free), and `watch`."""
    signatures = {
        allocate: _int(_int, _int),
        allocate_zeros: _int(_int, _int, _int),
        reallocate: _int(_int, _int, _int),
        release: types.void(_int, _int, _int),
        watch: _int(_int),
    }
    return tuple(cfunc(signature)(kernel.py_func) for kernel, signature in signatures.items())
