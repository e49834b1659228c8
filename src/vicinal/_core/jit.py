"""How every kernel is compiled, and where its machine code is kept.

Kernels are compiled by numba at their first call and stored as files, so that the next process only loads
them. numba's own cache ends the call when it finds no writable folder, a full disk or a damaged file. Here
none of these ends anything: a kernel is loaded from any folder that has it, writable or not, and stored in
the first folder that takes it. These are, in this order,

1. ``NUMBA_CACHE_DIR`` if it is set, otherwise ``__pycache__`` of the package, then the user's cache folder;
2. a folder of this user among the temporary files;
3. none: the kernel is compiled again in every process.

The first kernel that has to take 2 or 3 warns, once per process.
"""

from __future__ import annotations

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
from numba.misc.appdirs import AppDirs

from vicinal import __version__
from vicinal.exceptions import VicinalWarning

KERNELS: list[Any] = []


def jit(
    function: Callable[..., Any] | None = None, *, allocates: bool = True, **options: Any
) -> Any:
    """Compile a kernel: serial, without the interpreter lock, its machine code kept for later processes.

    Parameters
    ----------
    function : callable
        The kernel; without one, the decorator is returned.
    allocates : bool, default True
        False for kernels that allocate nothing. They do without reference counts, whose atomic updates
        make threads that share an array wait for each other.
    **options
        Further options of `numba.njit`.
    """
    if function is None:
        return partial(jit, allocates=allocates, **options)
    if not allocates:
        options["_nrt"] = False
    kernel = njit(nogil=True, **options)(function)
    kernel._cache = KernelCache(function)
    KERNELS.append(kernel)
    return kernel


class KernelCache(NullCache):
    """The machine code of one kernel, in whichever folders have it; asked by numba before it compiles."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._stored_in: str | None = None

    @property
    def cache_path(self) -> str | None:
        """The folder this kernel was last loaded from or stored in, None before and without one."""
        return self._stored_in

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for these types, None if no folder has it."""
        for folder in self._folders():
            files = _KernelFiles(self._function, folder)
            try:
                found = files.load_overload(sig, target_context)
            except Exception:
                # Bytes that are no pickle raise anything. An empty index makes room for a new one.
                with suppress(OSError):
                    files.flush()
                continue
            # Two processes that store at once can give the code of different types the same name.
            if found is not None and found.signature.args == sigutils.normalize_signature(sig)[0]:
                self._stored_in = folder
                return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the compiled kernel in the first folder that takes it."""
        refusals = []
        for folder in self._folders(create=True):
            try:
                _KernelFiles(self._function, folder).save_overload(sig, data)
            except Exception as error:
                reason = error.strerror if isinstance(error, OSError) else None
                refusals.append(f"{folder} ({reason or error})")
                continue
            self._stored_in = folder
            break
        else:
            folder = None
        if folder is None or folder.startswith(str(temporary_folder())):
            _warn_once(refusals, folder)

    def _folders(self, create: bool = False) -> Iterator[str]:
        source = Path(inspect.getfile(self._function))
        if not source.exists() and not getattr(sys, "frozen", False):
            return  # inside an archive there is nothing that tells whether machine code is current
        # Kernels of different modules may share a name; so may two installations.
        inside = _CacheLocator.get_suitable_cache_subpath(str(source))
        if config.CACHE_DIR:
            yield os.path.join(config.CACHE_DIR, inside)
        else:
            yield str(source.parent / "__pycache__")
            of_user = AppDirs(appname="numba", appauthor=False).user_cache_dir
            # Without a home "~" stays as it is, and would become a folder of that name.
            if os.path.isabs(of_user):
                yield os.path.join(of_user, inside)
        temporary = temporary_folder()
        if temporary is not None and _belongs_to_user(temporary, create):
            yield str(temporary / inside)


class _KernelFiles(FunctionCache):
    """numba's files of one kernel, in a folder of our choice."""

    def __init__(self, function: Callable[..., Any], folder: str) -> None:
        self._impl_class = partial(_InFolder, folder)
        super().__init__(function)


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
        # A kernel contains the kernels it calls, and those of other files change with the version.
        return super().get_source_stamp(), __version__


def temporary_folder() -> Path | None:
    """The folder for machine code among the temporary files, None if there are no such files."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    with suppress(OSError):
        return Path(tempfile.gettempdir()) / f"vicinal-{user}"
    return None


def _belongs_to_user(folder: Path, create: bool) -> bool:
    # What is loaded is run: in a folder that everybody shares, nobody else may have put it there.
    with suppress(OSError):
        if create:
            folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not hasattr(os, "getuid"):
            return stat.S_ISDIR(found.st_mode)
        private = not stat.S_IMODE(found.st_mode) & 0o077
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and private
    return False


_warned = False


def _warn_once(refusals: list[str], folder: str | None) -> None:
    global _warned
    if _warned:
        return
    _warned = True
    place = f"kept in {folder}" if folder else "not kept, and compiled again in every process"
    warnings.warn(
        f"compiled code cannot be stored in {' or '.join(refusals) or 'any folder'}; it is {place}. "
        "Set NUMBA_CACHE_DIR to a folder that can be written, or run `vicinal warm` once as a user "
        "who may write to the package.",
        category=VicinalWarning,
        stacklevel=2,
    )
