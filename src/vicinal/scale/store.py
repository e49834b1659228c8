"""`Store`: a folder, local or remote, of arrays that are written atomically and read in parts."""

from __future__ import annotations

import io
import json
import mmap
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.files import atomic_write, remove_abandoned
from vicinal.exceptions import InvalidTypeError, InvalidValueError

# No header of an .npy file of vicinal is longer; one read of a remote file is enough for it.
MAX_HEADER_BYTES = 1024
# Version 1.0 of the .npy format, in the order of C: size of the header, type and shape.
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '([^']+)', 'fortran_order': False, 'shape': \(([0-9, ]*)\), *\}",
    re.DOTALL,
)


class Store:
    """A folder for intermediate results that are too large for memory, or shared by several machines.

    Each file holds one array and appears under its name only when it is complete, so that work which was
    interrupted continues where it stopped. Results of different inputs have separate subfolders.

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
        self._files: _LocalFiles | _RemoteFiles = (
            _RemoteFiles(self.path) if "://" in self.path else _LocalFiles(Path(self.path))
        )

    @classmethod
    def temporary(cls) -> Store:
        """A store in the folder for temporary files, deleted when it is no longer referenced."""
        folder = tempfile.mkdtemp(prefix="vicinal-")
        store = cls(folder)
        weakref.finalize(store, shutil.rmtree, folder, ignore_errors=True)
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
        self._files.write(f"{name}.npy", np.asarray(values, order="C"))

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
        except FileNotFoundError:
            raise
        except (ValueError, TypeError) as error:
            raise InvalidValueError(
                f"{name} in {self!r} is damaged ({error}); delete the file and run again: only what is "
                "missing is computed."
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
        self._files.write_parts(f"{name}.npy", shape, first.dtype, map(self.load, parts))

    def is_whole(self, *names: str) -> bool:
        """Whether arrays exist and their files have the size that their headers announce.

        Parameters
        ----------
        *names : str
            Names of arrays.

        Returns
        -------
        bool
            True if all of them are complete.
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

    def write(self, name: str, array: np.ndarray) -> None:
        # A folder may have many files: `write_text`, which opens it, looks for abandoned ones.
        with atomic_write(self.folder / name, clean=False) as path:
            np.save(path, array)

    def write_parts(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype, parts: Iterable[np.ndarray]
    ) -> None:
        with atomic_write(self.folder / name) as path, path.open("wb") as file:
            _write_parts(file, shape, dtype, parts)

    def write_text(self, name: str, text: str) -> None:
        path = self.folder / name
        # Finished results can be read from a folder in which nothing can be written any more.
        with suppress(OSError):
            if path.read_text() == text:
                remove_abandoned(self.folder)
                return
        with atomic_write(path) as temporary:
            temporary.write_text(text)

    def read(self, name: str, first: int, last: int | None) -> np.ndarray:
        # Tasks read thousands of small parts: numpy.memmap takes several times as long.
        with open(f"{self.folder}/{name}", "rb", buffering=0) as file:
            shape, dtype, start = _read_header(file)
            if 0 in shape:
                return np.empty(shape, dtype)[first:last]
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.ndarray(shape, dtype, mapped, start)[first:last]

    def is_whole(self, name: str) -> bool:
        try:
            with open(f"{self.folder}/{name}", "rb", buffering=0) as file:
                return _announced_size(file) == os.fstat(file.fileno()).st_size
        except (OSError, ValueError):
            return False

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

    def write(self, name: str, array: np.ndarray) -> None:
        buffer = io.BytesIO()
        np.save(buffer, array)
        self.system.pipe_file(f"{self.folder}/{name}", buffer.getvalue())

    def write_parts(
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
    header = {"shape": shape, "fortran_order": False, "descr": np.lib.format.dtype_to_descr(dtype)}
    np.lib.format.write_array_header_1_0(file, header)
    for part in parts:
        file.write(np.ascontiguousarray(part).data)


def _read_header(file: Any) -> tuple[tuple[int, ...], np.dtype, int]:
    """Shape, dtype and the position of the first value."""
    head = file.read(MAX_HEADER_BYTES)
    known = HEADER.match(head)
    if known is None:
        raise InvalidValueError("not a .npy file as this version writes it")
    dtype, shape = known[2].decode(), known[3].decode()
    start = 10 + int.from_bytes(known[1], "little")
    return tuple(int(size) for size in shape.split(",") if size.strip()), np.dtype(dtype), start


def _announced_size(file: Any) -> int:
    shape, dtype, start = _read_header(file)
    return start + int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
