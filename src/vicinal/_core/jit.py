"""Compilation of kernels, and the cache of their machine code.

Kernels are compiled by numba at their first call and cached on disk, so that later processes only load
them. numba's own cache raises an error if no folder is writable, the disk is full or a file is damaged.
This one does not: a kernel is loaded from any folder that has it, writable or not, and stored in the first
folder that can be written. Folders are tried in this order:

1. ``NUMBA_CACHE_DIR`` if it is set, otherwise ``__pycache__`` of the package, then the user's cache folder;
2. a private folder of the user below the system's folder for temporary files;
3. none: the kernel is compiled again in every process.

A warning is issued once per process if 2 or 3 has to be used.
"""

from __future__ import annotations

import gc
import inspect
import os
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import config, sigutils
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    NullCache,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)
from numba.core.runtime import rtsys
from numba.misc.appdirs import AppDirs

from vicinal import __version__
from vicinal.exceptions import VicinalWarning

KERNELS: list[Any] = []


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
        return partial(jit, allocates=allocates, **options)
    if not allocates:
        options["_nrt"] = False
    if function.__name__.startswith("_") or options.get("forceinline"):
        # Only called by other kernels.
        options["no_cpython_wrapper"] = True
    kernel = njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
    kernel._cache = KernelCache(function)
    kernel._compiler.compile = partial(_without_collection, kernel._compiler.compile)
    KERNELS.append(kernel)
    return kernel


def _without_collection(compile_kernel: Callable[..., Any], *args: Any) -> Any:
    """Compile a kernel while the garbage collector is paused.

    The many small objects of the compiler would start collections that take a sixth of its time.
    """
    # numba compiles one kernel at a time, so threads cannot restore the collector in the wrong order. Kernels
    # compile those that they call, which find it paused.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return compile_kernel(*args)
    finally:
        if was_enabled:
            gc.enable()


class KernelCache(NullCache):
    """Cache of the machine code of one kernel; numba consults it before it compiles."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._stored_in: str | None = None

    @property
    def cache_path(self) -> str | None:
        """Folder that this kernel was last loaded from or stored in, if any."""
        return self._stored_in

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for these types, or None if no folder has it."""
        for folder in self._folders():
            files = _KernelFiles(self._function, folder)
            try:
                overload = files.load_overload(sig, target_context)
            except Exception:
                # Damaged files can raise any exception. Flushing the index lets a new one be written.
                with suppress(OSError):
                    files.flush()
                continue
            # Processes that store at the same time can use one file name for different types.
            expected = sigutils.normalize_signature(sig)[0]
            if overload is not None and overload.signature.args == expected:
                self._stored_in = folder
                return overload
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the compiled kernel in the first folder that can be written."""
        failures = []
        for folder in self._folders(create=True):
            try:
                _KernelFiles(self._function, folder).save_overload(sig, data)
            except Exception as error:
                reason = error.strerror if isinstance(error, OSError) else None
                failures.append(f"{folder} ({reason or error})")
                continue
            self._stored_in = folder
            break
        else:
            folder = None
        if folder is None or folder.startswith(str(temporary_folder())):
            _warn_once(failures, folder)

    def _folders(self, create: bool = False) -> Iterator[str]:
        source = Path(inspect.getfile(self._function))
        if not source.exists() and not getattr(sys, "frozen", False):
            return  # inside an archive, a change of the source cannot be detected
        # Separates kernels with the same name in other modules or other installations.
        subfolder = _CacheLocator.get_suitable_cache_subpath(str(source))
        if config.CACHE_DIR:
            yield os.path.join(config.CACHE_DIR, subfolder)
        else:
            yield str(source.parent / "__pycache__")
            user_cache = AppDirs(appname="numba", appauthor=False).user_cache_dir
            # Without a home folder, "~" is not expanded and would become a folder of that name.
            if os.path.isabs(user_cache):
                yield os.path.join(user_cache, subfolder)
        temporary = temporary_folder()
        if temporary is not None and _belongs_to_user(temporary, create):
            yield str(temporary / subfolder)


class _KernelFiles(FunctionCache):
    """numba's cache files of one kernel, in a given folder."""

    def __init__(self, function: Callable[..., Any], folder: str) -> None:
        self._impl_class = partial(_InFolder, folder)
        super().__init__(function)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for these types, or None; the compiler is not set up."""
        # numba would first import its implementations of all functions, which takes longer than to load all
        # kernels of a fit. Only compilation needs them, and imports them itself. Kernels that hash would need
        # symbols that one of them defines; there are none.
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class _InFolder(CompileResultCacheImpl):
    def __init__(self, folder: str, function: Callable[..., Any]) -> None:
        source = inspect.getfile(function)
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(folder, source, self._lineno)
        name = f"{Path(source).stem}.{function.__qualname__}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _Locator(_SourceFileBackedLocatorMixin, _CacheLocator):
    def __init__(self, folder: str, source: str, line: int) -> None:
        self._folder = folder
        self._py_file = source
        self._lineno = line

    def get_cache_path(self) -> str:
        return self._folder

    def get_source_stamp(self) -> Any:
        # A kernel inlines the kernels it calls, which may be in other files: these change with the version.
        return super().get_source_stamp(), __version__


def temporary_folder() -> Path | None:
    """Folder for machine code below the system's temporary folder, or None if there is none."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    with suppress(OSError):
        return Path(tempfile.gettempdir()) / f"vicinal-{user}"
    return None


def _belongs_to_user(folder: Path, create: bool) -> bool:
    # Cached code is executed, so other users must not be able to write to the folder.
    with suppress(OSError):
        if create:
            folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if not hasattr(os, "getuid"):
            return stat.S_ISDIR(status.st_mode)
        private = not stat.S_IMODE(status.st_mode) & 0o077
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and private
    return False


_warned = False


def _warn_once(failures: list[str], folder: str | None) -> None:
    global _warned
    if _warned:
        return
    _warned = True
    fallback = f"stored in {folder}" if folder else "compiled again in every process"
    warnings.warn(
        f"compiled code cannot be stored in {' or '.join(failures) or 'any folder'}; it is {fallback}. "
        "Set NUMBA_CACHE_DIR to a writable folder, or run `vicinal warm` once as a user who may write to "
        "the package folder.",
        category=VicinalWarning,
        stacklevel=2,
    )
