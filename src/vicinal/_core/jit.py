"""Compilation of kernels by numba, which keeps their machine code on disk for later processes."""

from __future__ import annotations

import functools
import gc
import warnings
from collections.abc import Callable
from typing import Any

from numba import config, njit
from numba.core import event

from vicinal import __version__
from vicinal.exceptions import VicinalWarning

KERNELS: list[Any] = []

# A function without a cache comes first, because numba then registers its own functions in an order in which
# kernels find them sooner than if it looked into a cache first: a first call takes a tenth less time.
njit("void()", no_cpython_wrapper=True, no_cfunc_wrapper=True)(lambda: None)


def jit(
    function: Callable[..., Any] | None = None, *, allocates: bool = True, **options: Any
) -> Any:
    """Compile a serial kernel that releases the interpreter lock, and cache its machine code.

    Parameters
    ----------
    function : callable
        The kernel; if omitted, a decorator is returned.
    allocates : bool, default True
        False for kernels that allocate no memory. They need no reference counts, whose atomic updates
        slow down threads that share an array.
    **options
        Further options of `numba.njit`.
    """
    if function is None:
        return functools.partial(jit, allocates=allocates, **options)
    if not allocates:
        options["_nrt"] = False
    if function.__name__.startswith("_") or options.get("forceinline"):
        # Only called by other kernels.
        options["no_cpython_wrapper"] = True
    # Machine code contains the kernels that a kernel calls, but numba recompiles it only if its own file has
    # changed. Its name is part of the name of the cache file, so another version does not load it.
    function.__qualname__ = f"{function.__qualname__}-{__version__}"
    compiler = functools.partial(njit, nogil=True, no_cfunc_wrapper=True, **options)
    try:
        kernel = compiler(cache=options.get("inline") != "always")(function)
    except RuntimeError:  # numba finds no writable folder
        _warn_once()
        kernel = compiler()(function)
    if not config.DISABLE_JIT:
        KERNELS.append(kernel)
    return kernel


class _PausedCollection(event.Listener):
    """Pauses the garbage collector while a kernel is compiled.

    The many small objects of the compiler would start collections that take a tenth of its time.
    """

    def __init__(self) -> None:
        # A stack, because kernels compile those that they call. numba compiles in one thread at a time.
        self._was_enabled: list[bool] = []

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] in KERNELS:
            self._was_enabled.append(gc.isenabled())
            gc.disable()

    def on_end(self, event: Any) -> None:
        if event.data["dispatcher"] in KERNELS and self._was_enabled.pop():
            gc.enable()


event.register("numba:compile", _PausedCollection())


@functools.cache
def _warn_once() -> None:
    warnings.warn(
        "compiled code cannot be stored, because none of NUMBA_CACHE_DIR, the package folder and the user's "
        "cache folder is writable; it is compiled again in every process. Set NUMBA_CACHE_DIR to a writable "
        "folder, and run `vicinal warm` once with it.",
        category=VicinalWarning,
        stacklevel=3,
    )
