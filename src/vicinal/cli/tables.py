"""Read tables.

Where only numbers are accepted, other columns are skipped with a note, never silently, and a row with missing
values is an error, because dropping it would shift the numbers of all rows after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.foreign_files import check_growth, reading
from vicinal._core.suggestions import listing, suggestion
from vicinal._core.tables import RawTable, check_exact
from vicinal.cli.columns import Roles, import_reader, row_column
from vicinal.cli.compressed import COMPRESSIBLE, OPENERS, is_compressed, table_suffix, unpacked
from vicinal.cli.frames import (
    is_parquet_folder,
    read_arrow,
    read_duckdb,
    read_excel,
    read_json_lines,
    read_parquet,
    read_sqlite,
)
from vicinal.cli.stdin import STDIN, piped_file
from vicinal.cli.text import read_text
from vicinal.exceptions import InvalidValueError


def read_table(
    path: Path,
    key: str | None = None,
    *,
    id_column: str | tuple[str, ...] | None = None,
    label_column: str | tuple[str, ...] | None = None,
    split_column: str | None = None,
    accept_sparse: bool = False,
    accept_condensed: bool = False,
    accept_missing: bool = False,
    accept_mixed: bool = False,
    unchanged: bool = False,
) -> RawTable:
    """Numeric columns of a file of a format in `READERS`, of a compressed text table or a parquet folder.

    With ``accept_mixed``, a table in which some columns are not numbers has all of them as ``columns``, and
    no ``points`` if rows can be compared by some of these.

    ``key`` is an array of an .npz file, an entry of ``.obsm`` or a layer of an .h5ad file, a sheet of an
    .xlsx file, or a table or query of a database. Row names, known classes and splits are columns of a
    table, arrays of an .npz file, or columns of ``.obs``. Sparse matrices saved by scipy as .npz are
    supported. Several names of row names or classes are tried in order, and need not exist. `STDIN` reads
    standard input. With ``unchanged``, a table with named columns has all of them
    as ``columns``, even empty ones, and no ``points``.
    """
    if path == STDIN:
        with piped_file() as file:
            return read_table(
                file,
                key,
                id_column=id_column,
                label_column=label_column,
                split_column=split_column,
                accept_sparse=accept_sparse,
                accept_condensed=accept_condensed,
                accept_missing=accept_missing,
                accept_mixed=accept_mixed,
                unchanged=unchanged,
            )
    suffix = ".parquet" if is_parquet_folder(path) else table_suffix(path)
    if suffix not in READERS or (path.suffix.lower() in OPENERS and not is_compressed(path)):
        raise InvalidValueError(
            f"{path}: unsupported format {path.suffix or '(no extension)'}; use one of "
            f"{', '.join(READERS)}, or {', '.join(COMPRESSIBLE)} compressed as {', '.join(OPENERS)}."
        )
    if not path.is_file() and not is_parquet_folder(path):
        raise FileNotFoundError(
            f"{path} {'is a folder' if path.is_dir() else 'does not exist'}; "
            f"choose a file (looked in {path.parent.resolve()})."
        )
    if path.is_file():
        with open(path, "rb"):
            pass  # raises PermissionError for every format alike
    if key is not None and suffix not in WITH_KEY:
        raise InvalidValueError(
            f"--key {key}: only {', '.join(WITH_KEY)} files have several tables, not {path}; remove it."
        )
    roles = Roles(
        key, id_column, label_column, accept_condensed, accept_mixed, unchanged, split_column
    )
    if is_compressed(path):
        with unpacked(path) as plain:
            table = READERS[suffix](plain, roles)
    else:
        table = READERS[suffix](path, roles)
    if table.points is None:
        return table
    table = _as_rows(table, path)
    points = table.points
    if 0 in points.shape:
        raise InvalidValueError(f"{path} contains an empty table of shape {points.shape}.")
    if hasattr(points, "toarray"):
        from vicinal._core.sparse import checked_csr

        points = checked_csr(points, str(path))
        points = points if accept_sparse else dense_table(points, path)
        table = table._replace(points=points)
    if not accept_missing:
        check_finite(table.points, path)
    return table


def _read_npy(path: Path, roles: Roles) -> RawTable:
    for option, name in roles.among(()).named.items():
        raise InvalidValueError(
            f"{option} {name}: columns of {path} have no names; save the arrays X and {name} in an "
            ".npz file with numpy.savez."
        )
    return RawTable(*_expand_condensed(load_array(path, "rename it to .npz"), roles))


def load_array(path: Path, advice: str) -> np.ndarray:
    """The array of an .npy file; ``advice`` is for a file with several."""
    with reading(path, advice=ARRAY_ADVICE):
        values = np.load(path, allow_pickle=False)
    if not isinstance(values, np.ndarray):
        values.close()
        raise InvalidValueError(f"{path} contains several arrays, like an .npz file; {advice}.")
    return values


def _read_npz(path: Path, roles: Roles) -> RawTable:
    with reading(path, advice=ARRAY_ADVICE):
        loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        raise InvalidValueError(f"{path} contains one array, like an .npy file; rename it to .npy.")
    with loaded as file:
        names = file.files
        if {"format", "shape", "data"} <= set(names):
            return RawTable(_load_sparse(path, file), ["read a sparse matrix"])
        roles = roles.among(names)
        candidates = [name for name in names if name not in roles.named.values()]
        name = roles.key or (
            "X" if "X" in candidates else candidates[0] if len(candidates) == 1 else None
        )
        if name not in names:
            raise InvalidValueError(
                (
                    f"--key {roles.key}: no such array{suggestion(roles.key, names)}; "
                    if roles.key
                    else ""
                )
                + f"{path} contains the arrays {listing(names) or '(none)'}; choose one with --key."
            )
        wanted = [other for other in names if other == name or other in roles.named.values()]
        _check_unpacked(file, wanted, path)
        with reading(path, advice=ARRAY_ADVICE):
            arrays = {other: file[other] if other in wanted else None for other in names}
    points, notes = _expand_condensed(np.asarray(arrays[name]), roles)
    ids = row_column(arrays, roles.id, "--id", len(points), path)
    labels = row_column(arrays, roles.label, "--label", len(points), path)
    splits = row_column(arrays, roles.split, "--split", len(points), path)
    notes += [] if len(names) == 1 else [f"read the array {name}"]
    return RawTable(points, notes, None, ids, labels, splits=splits)


def _check_unpacked(file: Any, names: Sequence[str], path: Path) -> None:
    """Raise if arrays of an .npz file are too large."""
    members = {*names, *(f"{name}.npy" for name in names)}
    n_bytes = sum(info.file_size for info in file.zip.infolist() if info.filename in members)
    advice = "Save fewer rows, or without compression by numpy.savez."
    check_growth(path, n_bytes, f"its unpacked arrays {listing(names)}", advice)


def _load_sparse(path: Path, file: Any) -> Any:
    from scipy import sparse

    _check_unpacked(file, file.files, path)
    with reading(path, "a sparse matrix"):
        return sparse.load_npz(path)


def _read_h5ad(path: Path, roles: Roles) -> RawTable:
    anndata, key = import_reader("anndata", path), roles.key
    with reading(path, ".h5ad"):
        check_growth(path, _unpacked_bytes(path), "its unpacked arrays", "Save fewer rows.")
        annotated = anndata.read_h5ad(path)
    # An embedding and a layer of one name: the embedding.
    named = {name: f".layers[{name!r}]" for name in annotated.layers}
    named |= {name: f".obsm[{name!r}]" for name in annotated.obsm}
    if key is not None and key not in named:
        raise InvalidValueError(
            f"--key {key}: {path} has no such .obsm entry or layer{suggestion(key, named)}; "
            f"it has {listing(named.values()) or 'none'}."
        )
    is_layer = key is not None and key not in annotated.obsm
    values = annotated.X if key is None else (annotated.layers if is_layer else annotated.obsm)[key]
    if values is None:
        raise InvalidValueError(
            f"{path} has no .X; choose an entry of .obsm or a layer with --key."
        )
    n = annotated.n_obs
    roles = roles.among(annotated.obs)
    ids = row_column(annotated.obs, roles.id, "--id", n, path)
    labels = row_column(annotated.obs, roles.label, "--label", n, path)
    return RawTable(
        values if hasattr(values, "toarray") else np.asarray(values),
        [f"read {named[key]}" if key else "read .X"],
        list(map(str, annotated.var_names)) if key is None or is_layer else None,
        np.asarray(annotated.obs_names) if ids is None else ids,
        labels,
        splits=row_column(annotated.obs, roles.split, "--split", n, path),
    )


def _unpacked_bytes(path: Path) -> int:
    """Bytes of all arrays of an HDF5 file; those that were never written take no space in it."""
    import h5py

    sizes: list[int] = []
    with h5py.File(path, "r") as file:
        file.visititems(lambda _, item: sizes.append(getattr(item, "nbytes", 0)))
    return sum(sizes)


READERS = {
    ".csv": read_text,
    ".tsv": read_text,
    ".jsonl": read_json_lines,
    ".parquet": read_parquet,
    ".feather": read_arrow,
    ".arrow": read_arrow,
    ".xlsx": read_excel,
    ".sqlite": read_sqlite,
    ".db": read_sqlite,
    ".duckdb": read_duckdb,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".h5ad": _read_h5ad,
}
# For a damaged file, and for arrays of Python objects, which could run code.
ARRAY_ADVICE = (
    "create a truncated file again; save Python objects as numbers or strings, e.g. "
    "names.astype(str)"
)
# Formats with several tables, of which --key chooses one.
WITH_KEY = (".npz", ".h5ad", ".xlsx", ".sqlite", ".db", ".duckdb")


def _as_rows(table: RawTable, path: Path) -> RawTable:
    """Table with one row per entry; each image of a stack becomes a row of pixels."""
    points = table.points
    if points.dtype.kind not in "buif":
        raise InvalidValueError(
            f"{path} contains values of type {points.dtype}, but real numbers are needed; encode them."
        )
    check_exact(points, str(path))
    if points.ndim < 2:
        raise InvalidValueError(
            f"{path} contains an array of shape {points.shape}, but a table with one row per point is "
            "needed; for one column, use values.reshape(-1, 1)."
        )
    if points.ndim == 2:
        return table
    note = f"flattened each entry of shape {points.shape[1:]} into a row"
    rows = points.reshape(len(points), -1)
    images = points if points.ndim == 3 else None
    return table._replace(points=rows, notes=[*table.notes, note], images=images)


def _expand_condensed(values: np.ndarray, roles: Roles) -> tuple[np.ndarray, list[str]]:
    """Square form of condensed distances, if the array can be that."""
    n = round(np.sqrt(2 * values.size)) + 1
    if not roles.condensed or values.ndim != 1 or n * (n - 1) != 2 * values.size or n < 2:
        return values, []
    from scipy.spatial.distance import squareform

    return squareform(values, checks=False), [
        f"interpreted the array as condensed distances of {n} items"
    ]


def dense_table(points: Any, path: Path) -> np.ndarray:
    """Sparse table as a dense array, if it fits into memory."""
    from vicinal._core.memory import require_memory

    n_rows, n_columns = points.shape
    require_memory(
        8.0 * n_rows * n_columns,
        f"{path}: the dense table of {n_rows:,} rows and {n_columns:,} columns",
        "Reduce its columns first, e.g. with sklearn.decomposition.TruncatedSVD.",
    )
    return points.toarray()


def check_finite(points: Any, path: Path) -> None:
    """Raise if a table has missing or infinite values."""
    if not isinstance(points, np.ndarray) or points.dtype.kind != "f":
        return
    missing, infinite = np.isnan(points).any(axis=1), np.isinf(points).any(axis=1)
    if missing.any() or infinite.any():
        first = int(np.argmax(missing | infinite))
        raise InvalidValueError(
            f"{path}: {missing.sum()} of {len(points)} rows have missing values and "
            f"{infinite.sum()} have infinite values (first: data row {first + 1}); "
            "fill them in or remove these rows."
        )
