"""`Store`: a folder, local or remote, of arrays that are written atomically and read in parts."""

from __future__ import annotations

import io
import json
import math
import mmap
import os
import re
import shutil
import struct
import weakref
import zlib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal._core.files import remove_abandoned, temporary_folder, whole_file
from vicinal.exceptions import InvalidTypeError, InvalidValueError

# No header of an .npy file of vicinal is longer; one read of a remote file is enough for it.
MAX_HEADER_BYTES = 1024
# Version 1.0 of the .npy format, in the order of C: size of the header, type and shape.
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '([^']+)', 'fortran_order': False, 'shape': \(([0-9, ]*)\), *\}",
    re.DOTALL,
)
# After the values: the checksum of everything before it, which readers of .npy files ignore.
CHECKSUM = struct.Struct("<I")
# Bytes that are read at a time to check a file, and how many checked files a process remembers.
CHECK_BYTES, MAX_CHECKED = 2**20, 2**16
NUMBERS = "biufc"


class Store:
    """A folder for intermediate results that are too large for memory, or shared by several machines.

    Each file holds one array and appears under its name only when it is complete, so that work which was
    interrupted continues where it stopped. It ends with a checksum, which each process checks before it uses
    a file of a local folder, because disks and other writers can damage it. Results of different inputs have
    separate subfolders.

    Parameters
    ----------
    path : str or Path
        A folder, created if it does not exist, or a URL of fsspec such as ``"s3://bucket/folder"``. All
        workers of a cluster must see it under this name.

    Examples
    --------
    >>> import tempfile
    >>> from vicinal.scale import Store
    >>> store = Store(tempfile.mkdtemp())
    >>> store.save("numbers", [[1, 2], [3, 4], [5, 6]])
    >>> store.load("numbers", 1, 3)
    array([[3, 4],
           [5, 6]])
    >>> store.is_whole("numbers"), store.is_whole("others")
    (True, False)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, (str, os.PathLike)):
            raise InvalidTypeError(f"path={path!r}, but the name of a folder or a URL is needed.")
        self.path = os.fspath(path)
        if not self.path or "\0" in self.path:
            raise InvalidValueError(
                f"{self.path!r} is not the name of a folder or a URL; '.' is the current folder."
            )
        self._files: _LocalFiles | _RemoteFiles = (
            _RemoteFiles(self.path) if "://" in self.path else _LocalFiles(Path(self.path))
        )

    @classmethod
    def temporary(cls) -> Store:
        """A store in the folder for temporary files, deleted when it is no longer referenced."""
        stack = ExitStack()
        store = cls(stack.enter_context(temporary_folder()))
        weakref.finalize(store, stack.close)
        return store

    def __repr__(self) -> str:
        return f"Store({self.path!r})"

    @property
    def local_folder(self) -> Path | None:
        """The folder; None if it is remote."""
        return self._files.folder if isinstance(self._files, _LocalFiles) else None

    def save(self, name: str, values: Any) -> None:
        """Write an array; the file appears when it is complete.

        Parameters
        ----------
        name : str
            Name of the array.
        values : array-like
            The values.
        """
        array = np.asarray(values, order="C")
        if array.dtype.kind not in NUMBERS:
            raise InvalidTypeError(f"values has dtype {array.dtype}, but numbers are needed.")
        self._write(name, array.shape, array.dtype, [array])

    def load(self, name: str, first: int = 0, last: int | None = None) -> np.ndarray:
        """Read rows of an array; in a local store they are mapped into memory, not copied.

        Parameters
        ----------
        name : str
            Name of the array.
        first : int, default=0
            First row.
        last : int, optional
            Row after the last one; the default reads up to the end.

        Returns
        -------
        ndarray
            The rows, read-only.
        """
        try:
            return self._files.read(f"{name}.npy", first, last)
        except FileNotFoundError as error:
            raise self._missing(error) from error
        except (ValueError, TypeError) as error:
            raise InvalidValueError(
                f"{name} in {self!r} is damaged: {error}. Run again: what is damaged or missing is computed "
                "again."
            ) from error

    def join(self, name: str, parts: Sequence[str]) -> None:
        """Write the rows of several arrays to one; a local store has one of them in memory at a time.

        Parameters
        ----------
        name : str
            Name of the new array.
        parts : sequence of str
            Names of arrays with the same columns and the same type.
        """
        if not parts:
            raise InvalidValueError(
                "parts is empty, but the names of one or more arrays are needed."
            )
        lengths = [len(self.load(part)) for part in parts]
        first = self.load(parts[0])
        shape = (sum(lengths), *first.shape[1:])
        self._write(name, shape, first.dtype, map(self.load, parts))

    def _write(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype, parts: Iterable[np.ndarray]
    ) -> None:
        try:
            self._files.write(f"{name}.npy", shape, dtype, parts)
        except FileNotFoundError as error:
            raise self._missing(error) from error

    def _missing(self, error: FileNotFoundError) -> FileNotFoundError:
        return FileNotFoundError(
            f"a file of {self!r} is missing, perhaps deleted during the run: "
            f"{error.filename or str(error).rstrip('.')}. Run again: what is missing is computed again."
        )

    def is_whole(self, *names: str) -> bool:
        """Whether arrays exist and their files are complete; those of a local folder are also undamaged.

        Parameters
        ----------
        *names : str
            Names of arrays.

        Returns
        -------
        bool
            True if all of them are.
        """
        return all(self._files.is_whole(f"{name}.npy") for name in names)

    def remove(self, *names: str) -> None:
        """Delete arrays; those that do not exist are ignored.

        Parameters
        ----------
        *names : str
            Names of arrays.
        """
        for name in names:
            self._files.remove(f"{name}.npy")

    def delete(self) -> None:
        """Delete the folder with everything in it."""
        self._files.delete()

    def folder(self, manifest: dict[str, Any], name: str) -> Store:
        """Open a subfolder, and describe its content in ``manifest.json``.

        Parameters
        ----------
        manifest : dict
            What the content is computed from.
        name : str
            Name of the subfolder.

        Returns
        -------
        Store
            The subfolder. It keeps this store alive.
        """
        inside = Store(f"{self.path.rstrip('/')}/{name}")
        inside._parent = self  # a temporary folder is deleted with its last reference
        inside._files.write_text("manifest.json", json.dumps(manifest, indent=1))
        return inside

    _parent: Store | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Store.__init__(self, state["path"])


class _FileState(NamedTuple):
    """A file as long as nobody writes to it."""

    path: str
    inode: int
    size: int
    modified: int


# Files whose checksums this process knows to be right.
_CHECKED: dict[_FileState, None] = {}


class _LocalFiles:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise type(error)(
                f"the store {folder} cannot be created ({error.strerror}); choose a folder in which files "
                "can be written."
            ) from error

    def write(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype, parts: Iterable[np.ndarray]
    ) -> None:
        path = self.folder / name
        with whole_file(path) as temporary, temporary.open("wb") as file:
            _write_parts(file, shape, dtype, parts)
        # What this process wrote need not be read again.
        _CHECKED[self._state(name)] = None

    def write_text(self, name: str, text: str) -> None:
        path = self.folder / name
        remove_abandoned(self.folder)
        # Finished results can be read from a folder in which nothing can be written any more.
        with suppress(OSError):
            if path.read_text() == text:
                return
        with whole_file(path) as temporary:
            temporary.write_text(text)

    def read(self, name: str, first: int, last: int | None) -> np.ndarray:
        self._check(name)
        # Tasks read thousands of small parts: numpy.memmap takes several times as long.
        with open(f"{self.folder}/{name}", "rb", buffering=0) as file:
            shape, dtype, start = _read_header(file)
            if 0 in shape:
                return np.empty(shape, dtype)[first:last]
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.ndarray(shape, dtype, mapped, start)[first:last]

    def is_whole(self, name: str) -> bool:
        try:
            self._check(name)
        except (OSError, ValueError):
            return False
        return True

    def _check(self, name: str) -> None:
        """Raise an error if the file is not as it was written."""
        state = self._state(name)
        if state in _CHECKED:
            return
        with open(state.path, "rb") as file:
            if _announced_size(file) != state.size:
                raise InvalidValueError("it is not as long as its header says")
            file.seek(0)
            checksum, left = 0, state.size - CHECKSUM.size
            while left and (block := file.read(min(left, CHECK_BYTES))):
                checksum, left = zlib.crc32(block, checksum), left - len(block)
            if file.read() != CHECKSUM.pack(checksum):
                raise InvalidValueError("its checksum is wrong")
        if len(_CHECKED) >= MAX_CHECKED:
            _CHECKED.clear()
        _CHECKED[state] = None

    def _state(self, name: str) -> _FileState:
        path = f"{self.folder}/{name}"
        status = os.stat(path)
        return _FileState(path, status.st_ino, status.st_size, status.st_mtime_ns)

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def delete(self) -> None:
        shutil.rmtree(self.folder)


class _RemoteFiles:
    """Files of any file system that fsspec knows; a single put or rename is atomic in all of them."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise InvalidValueError(
                f"path={url!r} is a URL, which needs fsspec: pip install 'vicinal[dask]'."
            ) from error
        self.system, self.folder = fsspec.core.url_to_fs(url)
        self.system.makedirs(self.folder, exist_ok=True)

    def write(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype, parts: Iterable[np.ndarray]
    ) -> None:
        buffer = io.BytesIO()
        _write_parts(buffer, shape, dtype, parts)
        self.system.pipe_file(f"{self.folder}/{name}", buffer.getvalue())

    def write_text(self, name: str, text: str) -> None:
        self.system.pipe_file(f"{self.folder}/{name}", text.encode())

    def read(self, name: str, first: int, last: int | None) -> np.ndarray:
        path = f"{self.folder}/{name}"
        shape, dtype, start = _read_header(io.BytesIO(self._head(path)))
        first, last, _ = slice(first, last).indices(shape[0])
        row_bytes = int(np.prod(shape[1:], dtype=np.int64)) * dtype.itemsize
        count = max(0, last - first)
        begin = start + first * row_bytes
        data = self.system.cat_file(path, begin, begin + count * row_bytes) if count else b""
        return np.frombuffer(data, dtype).reshape(count, *shape[1:])

    def is_whole(self, name: str) -> bool:
        path = f"{self.folder}/{name}"
        try:
            return _announced_size(io.BytesIO(self._head(path))) == self.system.size(path)
        except (OSError, ValueError):
            return False

    def remove(self, name: str) -> None:
        path = f"{self.folder}/{name}"
        if self.system.exists(path):
            self.system.rm_file(path)

    def delete(self) -> None:
        self.system.rm(self.folder, recursive=True)

    def _head(self, path: str) -> bytes:
        return self.system.cat_file(path, 0, min(MAX_HEADER_BYTES, self.system.size(path)))


def _write_parts(
    file: Any, shape: tuple[int, ...], dtype: np.dtype, parts: Iterable[np.ndarray]
) -> None:
    header = io.BytesIO()
    fields = {"shape": shape, "fortran_order": False, "descr": np.lib.format.dtype_to_descr(dtype)}
    np.lib.format.write_array_header_1_0(header, fields)
    checksum = 0
    for values in chain([header.getbuffer()], (np.ascontiguousarray(p).data for p in parts)):
        checksum = zlib.crc32(values, checksum)
        file.write(values)
    file.write(CHECKSUM.pack(checksum))


def _read_header(file: Any) -> tuple[tuple[int, ...], np.dtype, int]:
    """Shape, dtype and the position of the first value."""
    head = file.read(MAX_HEADER_BYTES)
    known = HEADER.match(head)
    if known is None:
        raise InvalidValueError("it is no .npy file as this version writes it")
    dtype, shape = np.dtype(known[2].decode()), known[3].decode()
    # Anything else, objects above all, would take the bytes of the file for addresses.
    if dtype.kind not in NUMBERS:
        raise InvalidValueError(f"it holds {dtype}, but only numbers are stored")
    start = 10 + int.from_bytes(known[1], "little")
    return tuple(int(size) for size in shape.split(",") if size.strip()), dtype, start


def _announced_size(file: Any) -> int:
    shape, dtype, start = _read_header(file)
    return start + math.prod(shape) * dtype.itemsize + CHECKSUM.size
