"""Tables of numbers out of the files people have.

Columns that are not numbers are set aside and named, never dropped in silence; a row that is not
complete is an error, because leaving it out would shift every row number after it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vicinal.cli.columns import (
    UNREADABLE,
    Roles,
    Table,
    beside,
    need,
    numeric_columns,
)
from vicinal.cli.stdin import STDIN, piped_file
from vicinal.cli.text import read_text
from vicinal.exceptions import InvalidValueError


def read_table(
    path: Path,
    key: str | None = None,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    accept_sparse: bool = False,
    accept_pairs: bool = False,
    accept_gaps: bool = False,
) -> Table:
    """Numeric columns of a .csv, .tsv, .parquet, .npy, .npz or .h5ad file.

    ``key`` names an array of an .npz file, or an entry of ``.obsm`` of an .h5ad file. The columns of
    names and of known classes are columns of a table, arrays of an .npz file, or in ``.obs``. A matrix
    that scipy saved as .npz is read as such. `STDIN` stands for what is piped in.
    """
    if path == STDIN:
        with piped_file() as copy:
            return read_table(
                copy,
                key,
                id_column=id_column,
                label_column=label_column,
                accept_sparse=accept_sparse,
                accept_pairs=accept_pairs,
                accept_gaps=accept_gaps,
            )
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise InvalidValueError(
            f"{path} ends in {suffix or 'nothing'}, but one of {', '.join(READERS)} is needed."
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} {'is a folder' if path.is_dir() else 'does not exist'}; "
            f"name a file (looked in {path.parent.resolve()})."
        )
    with open(path, "rb"):
        pass  # a file that may not be read says so here, in whatever way its reader would
    if key is not None and suffix not in {".npz", ".h5ad"}:
        raise InvalidValueError(
            f"--key {key} names an array of an .npz or .h5ad file, not of {path}."
        )
    table = _as_rows(READERS[suffix](path, Roles(key, id_column, label_column, accept_pairs)), path)
    points = table.points
    if 0 in points.shape:
        raise InvalidValueError(
            f"{path} holds an empty table of shape {points.shape}; nothing to do."
        )
    if hasattr(points, "toarray"):
        from vicinal._core.sparse import checked_csr

        points = checked_csr(points, str(path))
        points = points if accept_sparse else full_table(points, path)
        table = table._replace(points=points)
    if not accept_gaps:
        _refuse_gaps(table.points, path)
    return table


def _read_parquet(path: Path, roles: Roles) -> Table:
    pandas = need("pandas", path)
    need("pyarrow", path)
    try:
        frame = pandas.read_parquet(path)
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        raise InvalidValueError(f"{path} could not be read as parquet: {error}") from error
    return numeric_columns(frame, path, roles)


def _read_npy(path: Path, roles: Roles) -> Table:
    for option, name in (("--id", roles.id), ("--label", roles.label)):
        if name is not None:
            raise InvalidValueError(
                f"{option} {name} names a column, but those of {path} have no names; save an .npz "
                f"with the arrays X and {name} (numpy.savez)."
            )
    values = _load_numpy(path)
    if not isinstance(values, np.ndarray):
        values.close()
        raise InvalidValueError(
            f"{path} holds several arrays, as an .npz file does; rename it to .npz."
        )
    return Table(*_all_pairs(values, roles))


def _read_npz(path: Path, roles: Roles) -> Table:
    loaded = _load_numpy(path)
    if isinstance(loaded, np.ndarray):
        raise InvalidValueError(f"{path} holds one array, as an .npy file does; rename it to .npy.")
    with loaded as arrays:
        names = arrays.files
        if {"format", "shape", "data"} <= set(names):
            return Table(_load_sparse(path), ["took the sparse matrix"])
        found = [name for name in names if name not in (roles.id, roles.label)]
        chosen = roles.key or ("X" if "X" in found else found[0] if len(found) == 1 else None)
        if chosen not in names:
            raise InvalidValueError(
                f"{path} holds the arrays {', '.join(names) or '(none)'}"
                + (f" but no {roles.key}" if roles.key else "")
                + "; name one of them by --key."
            )
        points, notes = _all_pairs(_array_of(arrays, str(chosen), path), roles)
        ids = beside(arrays, roles.id, "--id", len(points), path)
        labels = beside(arrays, roles.label, "--label", len(points), path)
    notes += [] if len(names) == 1 else [f"took the array {chosen}"]
    return Table(points, notes, None, ids, labels)


def _read_h5ad(path: Path, roles: Roles) -> Table:
    anndata, key = need("anndata", path), roles.key
    try:
        annotated = anndata.read_h5ad(path)
    except (OSError, KeyError, ValueError) as error:
        raise InvalidValueError(f"{path} could not be read as .h5ad: {error}") from error
    if key is not None and key not in annotated.obsm:
        raise InvalidValueError(
            f"{path} has no .obsm entry {key}; it has {', '.join(annotated.obsm) or 'none'}."
        )
    values = annotated.X if key is None else annotated.obsm[key]
    if values is None:
        raise InvalidValueError(f"{path} has no .X; name an entry of .obsm by --key.")
    n = annotated.n_obs
    ids = beside(annotated.obs, roles.id, "--id", n, path)
    labels = beside(annotated.obs, roles.label, "--label", n, path)
    return Table(
        values if hasattr(values, "toarray") else np.asarray(values),
        [f"took .obsm[{key!r}]" if key else "took .X"],
        list(map(str, annotated.var_names)) if key is None else None,
        np.asarray(annotated.obs_names) if ids is None else ids,
        labels,
    )


READERS = {
    ".csv": read_text,
    ".tsv": read_text,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".h5ad": _read_h5ad,
}


def _as_rows(table: Table, path: Path) -> Table:
    """The table with one row an entry: of a stack of pictures, each is a row of its pixels."""
    points = table.points
    if points.dtype.kind not in "buif":
        raise InvalidValueError(
            f"{path} holds values of type {points.dtype}, but real numbers are needed; encode them."
        )
    if points.ndim < 2:
        raise InvalidValueError(
            f"{path} holds an array of shape {points.shape}, but a table with a row for each point is "
            "needed; values.reshape(-1, 1) makes one of a list of values."
        )
    if points.ndim == 2:
        return table
    note = f"each entry of shape {points.shape[1:]} is a row of its values"
    rows = points.reshape(len(points), -1)
    images = points if points.ndim == 3 else None
    return table._replace(points=rows, notes=[*table.notes, note], images=images)


def _load_numpy(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (MemoryError, *UNREADABLE) as error:
        raise _no_arrays(path, error) from error


def _array_of(arrays: Any, name: str, path: Path) -> np.ndarray:
    try:
        return arrays[name]
    except (MemoryError, *UNREADABLE) as error:
        raise _no_arrays(path, error) from error


def _no_arrays(path: Path, error: Exception) -> ValueError:
    return InvalidValueError(
        f"{path} could not be read: {error} (a file that was cut short has to be made again; arrays "
        "of Python objects are not loaded, save numbers by numpy.save)."
    )


def _all_pairs(values: np.ndarray, roles: Roles) -> tuple[np.ndarray, list[str]]:
    """The matrix of distances that a list of them stands for, if it may and can be one."""
    n = round(np.sqrt(2 * values.size)) + 1
    if not roles.pairs or values.ndim != 1 or n * (n - 1) != 2 * values.size or n < 2:
        return values, []
    from scipy.spatial.distance import squareform

    return squareform(values, checks=False), [f"took the list for the distances of {n} items"]


def _load_sparse(path: Path) -> Any:
    from scipy import sparse

    try:
        return sparse.load_npz(path)
    except (KeyError, TypeError, OverflowError, NotImplementedError, *UNREADABLE) as error:
        raise InvalidValueError(f"{path} could not be read as a sparse matrix: {error}") from error


def full_table(points: Any, path: Path) -> np.ndarray:
    """A sparse table with all its zeros, if these fit into memory."""
    from vicinal._core.validation import require_memory

    n_rows, n_columns = points.shape
    require_memory(
        8.0 * n_rows * n_columns,
        f"{path}: the full table of {n_rows:,} rows and {n_columns:,} columns",
        "Reduce its columns first (sklearn.decomposition.TruncatedSVD does).",
    )
    return points.toarray()


def _refuse_gaps(points: Any, path: Path) -> None:
    if not isinstance(points, np.ndarray) or points.dtype.kind != "f":
        return
    missing, infinite = np.isnan(points).any(axis=1), np.isinf(points).any(axis=1)
    if missing.any() or infinite.any():
        first = int(np.argmax(missing | infinite))
        raise InvalidValueError(
            f"{path}: {missing.sum()} of {len(points)} rows have missing values and "
            f"{infinite.sum()} infinite ones, the first is data row {first + 1}; "
            "fill them in or remove these rows."
        )
