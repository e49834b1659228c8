"""One file of arrays and JSON: a zip archive without compression, and without pickled objects.

Reading runs no code. Nothing is read before its name, type and size are checked, and since no member is
compressed, none is larger than the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NoReturn
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from vicinal import __version__
from vicinal._core.files import atomic_write
from vicinal._core.memory import require_memory
from vicinal.exceptions import InvalidValueError

FORMAT, FORMAT_VERSION = "vicinal model", 2
DOCUMENT = "model.json"
# What reading a damaged archive can raise.
READ_ERRORS = (
    BadZipFile,
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    NotImplementedError,
    RuntimeError,
    RecursionError,
    OverflowError,
)


def write_model(path: Path, document: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a document and arrays; the file is replaced only when all of it has been written."""
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "vicinal_version": __version__,
        **document,
    }
    text = json.dumps(content, allow_nan=False)
    with atomic_write(path) as unfinished, ZipFile(unfinished, "w", ZIP_STORED) as archive:
        archive.writestr(_member(DOCUMENT), text)
        for name, array in arrays.items():
            with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)


def _member(name: str) -> ZipInfo:
    # A fixed date: the same model gives the same bytes.
    return ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))


def read_model(
    path: Path, types: Mapping[str, tuple[str, int]]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Document and arrays of a file; ``types`` are the dtype and number of axes of each array."""
    if not path.is_file():
        state = "is a folder" if path.is_dir() else "does not exist"
        raise FileNotFoundError(
            f"{path} {state}; choose a file written by vicinal perceive --save."
        )
    try:
        with ZipFile(path) as archive:
            members = _checked_members(archive, path)
            document = _read_document(archive, members)
            arrays = {
                name: _read_array(archive, members[f"{name}.npy"], name, *types[name])
                for name in types
                if f"{name}.npy" in members
            }
            unknown = set(members) - {DOCUMENT} - {f"{name}.npy" for name in types}
            if unknown:
                raise InvalidValueError(f"it has an unknown member {sorted(unknown)[0]!r}")
    except PermissionError:
        raise
    except READ_ERRORS as error:
        reject(path, str(error) or type(error).__name__)
    return document, arrays


def reject(path: Path, reason: str) -> NoReturn:
    """Raise an error that a file is not a model."""
    raise InvalidValueError(
        f"{path} is not a model that vicinal can read: {reason.rstrip('.')}; save it again with "
        "vicinal perceive --save."
    )


def _checked_members(archive: ZipFile, path: Path) -> dict[str, ZipInfo]:
    infos = archive.infolist()
    members = {info.filename: info for info in infos}
    if len(members) < len(infos):
        raise InvalidValueError("two of its members have the same name")
    for info in infos:
        if info.compress_type != ZIP_STORED or info.compress_size != info.file_size:
            raise InvalidValueError(f"its member {info.filename!r} is compressed")
        if info.flag_bits & 1:
            raise InvalidValueError(f"its member {info.filename!r} is encrypted")
    n_bytes = sum(info.file_size for info in infos)
    if n_bytes > path.stat().st_size:
        raise InvalidValueError("its members claim to be larger than the file")
    require_memory(2.0 * n_bytes, f"the model {path}", "Use a computer with more memory.")
    return members


def _read_document(archive: ZipFile, members: Mapping[str, ZipInfo]) -> dict[str, Any]:
    if DOCUMENT not in members:
        raise InvalidValueError(f"it has no {DOCUMENT}")
    document = json.loads(archive.read(members[DOCUMENT]), parse_constant=_no_constant)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidValueError(f"its {DOCUMENT} does not describe a model")
    version = document.get("format_version")
    if type(version) is not int or version < 1:
        raise InvalidValueError(f"format_version is {version!r}")
    if version != FORMAT_VERSION:
        remedy = ": upgrade vicinal" if version > FORMAT_VERSION else ""
        raise InvalidValueError(
            f"it was written by vicinal {document.get('vicinal_version')} in format {version}, but this "
            f"version ({__version__}) reads format {FORMAT_VERSION}{remedy}"
        )
    return document


def _no_constant(name: str) -> NoReturn:
    raise InvalidValueError(f"{name} is not a number in JSON")


def _read_array(archive: ZipFile, info: ZipInfo, name: str, dtype: str, ndim: int) -> np.ndarray:
    with archive.open(info) as file:
        shape, in_fortran_order, stored = _read_header(file)
        if stored.str != dtype or len(shape) != ndim or in_fortran_order:
            raise InvalidValueError(
                f"the array {name!r} has dtype {stored} and {len(shape)} axes, but {dtype} and {ndim} "
                "are needed"
            )
        # Python integers: a product of hostile lengths does not overflow.
        n_bytes = stored.itemsize
        for length in shape:
            n_bytes *= int(length)
        data = file.read()
    if len(data) != n_bytes:
        raise InvalidValueError(f"the array {name!r} has {len(data)} bytes instead of {n_bytes}")
    return np.frombuffer(data, dtype=stored).reshape(shape)


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise InvalidValueError(f"an array has the unknown version {version}")
