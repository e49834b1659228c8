"""Tables larger than memory: ``--store`` reads them in chunks and works by cells on disk.

A chunk is read by the task that needs it, wherever that runs, so that no rows pass through the scheduler.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.foreign_files import reading
from vicinal._core.parallel import n_threads
from vicinal._core.tables import RawTable
from vicinal.cli.column_options import given_column_options
from vicinal.cli.frames import is_parquet_folder
from vicinal.exceptions import InvalidTypeError, InvalidValueError, MissingDependencyError
from vicinal.scale._read_npy import read_npy, rows_of_file

# Bytes that a thread needs per value of a cell: a few cells, their trees and lists.
BYTES_PER_VALUE = 400
MIN_CELL_SIZE, MIN_MEMORY = 1000, 2**28
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
FORMATS = "a .npy file, a zarr store, a .parquet file or folder, or a dense array of an .h5ad file"

Run = Callable[[argparse.Namespace], dict[str, Any]]


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the options of tables larger than memory; `out_of_core` and `read_large` read them."""
    group = parser.add_argument_group("tables larger than memory")
    group.add_argument(
        "--store",
        metavar="DIR",
        help=f"work in chunks, with intermediate results in this folder: {FORMATS}; an interrupted command "
        "continues from it",
    )
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="dask cluster that does the work, with --store"
    )
    group.add_argument(
        "--memory",
        type=memory_size,
        metavar="SIZE",
        help="limit of memory with --store, such as 4GB or 500MB; large arrays are then kept in the store",
    )


def memory_size(text: str) -> int:
    """Argument type of a number of bytes, such as 4GB."""
    number, unit = text[:-2], text[-2:].upper()
    try:
        size = int(float(number) * UNITS[unit])
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a size; give a number with a unit, such as 4GB or 500MB"
        ) from None
    if size < MIN_MEMORY:
        raise argparse.ArgumentTypeError(f"{text!r} is too little; at least 300MB are needed")
    return size


def out_of_core(run: Run) -> Run:
    """Decorate the function of a command so that it uses the store, the cluster and the memory limit."""

    @wraps(run)
    def run_with_store(arguments: argparse.Namespace) -> dict[str, Any]:
        for option in ("scheduler", "memory"):
            if getattr(arguments, option) is not None and arguments.store is None:
                raise InvalidValueError(f"--{option} needs --store DIR; add it.")
        if arguments.store is None:
            return run(arguments)
        if getattr(arguments, "plot", None) is not None:
            raise InvalidValueError("--plot needs all rows in memory; remove it, or --store.")
        try:
            import dask.array  # noqa: F401
        except ImportError as error:
            raise MissingDependencyError(
                "--store needs dask: pip install 'vicinal[dask]'."
            ) from error
        from vicinal import scale

        with ExitStack() as stack:
            client = None
            if arguments.scheduler is not None:
                client = stack.enter_context(_connect(arguments.scheduler))
            memory = arguments.memory
            if memory is not None:
                stack.enter_context(_limited(memory))
            stack.enter_context(scale.config(store=arguments.store, client=client, memory=memory))
            return run(arguments)

    return run_with_store


def read_large(arguments: argparse.Namespace) -> RawTable:
    """The table given by the options, as a dask array."""
    path: Path = arguments.data
    given = given_column_options(arguments)
    for option in ("id", "label"):
        given += [f"--{option}"] if getattr(arguments, option) is not None else []
    given += ["--standardize"] if arguments.standardize else []
    if given:
        raise InvalidValueError(
            f"{given[0]} needs all rows in memory; remove it and prepare the columns first."
        )
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist (looked in {path.parent.resolve()}).")
    notes: list[str] = []
    if path.suffix.lower() == ".npy":
        points = read_npy(path)
    elif path.suffix.lower() == ".h5ad":
        points = _from_h5ad(path, arguments.key or "X")
    elif path.suffix.lower() == ".parquet" or is_parquet_folder(path):
        points = _from_parquet(path, notes)
    elif path.is_dir() and any(
        (path / name).exists() for name in ("zarr.json", ".zarray", ".zgroup")
    ):
        points = _from_zarr(path, arguments.key)
    else:
        raise InvalidValueError(f"{path} cannot be read in chunks; --store needs {FORMATS}.")
    if points.ndim != 2 or points.dtype.kind not in "buif":
        raise InvalidTypeError(
            f"{path} contains an array of shape {points.shape} and type {points.dtype}, but a table of "
            "numbers with one row per point is needed."
        )
    if arguments.memory is not None:
        limit_cells(arguments.memory, points.shape[1], arguments.jobs)
    return RawTable(points, notes)


def in_memory(values: Any) -> Any:
    """Results of a command, which are dask arrays if its table was."""
    return values.compute() if hasattr(values, "dask") else values


def limit_cells(memory: int, n_columns: int, n_jobs: int | None) -> None:
    """Make cells small enough for the memory, for the rest of the ``with`` block of `scale.config`."""
    from vicinal.scale.settings import change_settings

    fitting = memory // (n_threads(n_jobs) * BYTES_PER_VALUE * n_columns)
    change_settings(max_cell_size=max(MIN_CELL_SIZE, fitting))


def _from_h5ad(path: Path, key: str) -> Any:
    import h5py

    name = key if key == "X" else f"obsm/{key}"
    with reading(path, ".h5ad"), h5py.File(path, "r") as file:
        if not isinstance(file.get(name), h5py.Dataset):
            raise InvalidValueError(
                f"{path} has no dense array {name}; choose one of .obsm with --key, such as X_pca."
            )
        shape, dtype = file[name].shape, file[name].dtype
    return rows_of_file(_load_h5, path, shape, dtype, name)


def _load_h5(path: Path, name: str, first: int, last: int) -> np.ndarray:
    import h5py

    with h5py.File(path, "r") as file:
        return file[name][first:last]


def _from_zarr(path: Path, key: str | None) -> Any:
    import dask.array as da

    with reading(path, "a zarr array", "a group needs the name of an array as --key"):
        try:
            return da.from_zarr(str(path), component=key)
        except ImportError as error:
            raise MissingDependencyError(f"{path} is a zarr store: pip install zarr.") from error


def _from_parquet(path: Path, notes: list[str]) -> Any:
    import dask.array as da
    import pyarrow as pa
    import pyarrow.parquet as pq
    from dask import delayed

    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    with reading(path, "parquet"):
        opened = [pq.ParquetFile(file) for file in files]
        schema = opened[0].schema_arrow
    names = [f.name for f in schema if pa.types.is_integer(f.type) or pa.types.is_floating(f.type)]
    skipped = [name for name in schema.names if name not in names]
    if not names:
        raise InvalidValueError(f"{path} has no columns of numbers.")
    if skipped:
        notes.append(f"skipped {len(skipped)} column(s) that are not numbers: {', '.join(skipped)}")
    for file, known in zip(files, opened, strict=True):
        if not set(names) <= set(known.schema_arrow.names):
            raise InvalidValueError(f"{file} lacks columns of {files[0].name}: {', '.join(names)}.")
    single = all(schema.field(name).type == pa.float32() for name in names)
    dtype = np.dtype(np.float32 if single else np.float64)
    parts = [
        da.from_delayed(
            delayed(_load_row_group)(file, group, names, dtype),
            (known.metadata.row_group(group).num_rows, len(names)),
            dtype=dtype,
        )
        for file, known in zip(files, opened, strict=True)
        for group in range(known.num_row_groups)
    ]
    return da.concatenate(parts)


def _load_row_group(path: Path, group: int, names: list[str], dtype: Any) -> np.ndarray:
    import pyarrow.parquet as pq

    with reading(path, "parquet"):
        table = pq.ParquetFile(path).read_row_group(group, columns=names)
    columns = [table.column(name).to_numpy().astype(dtype) for name in names]
    return np.stack(columns, axis=1)


@contextmanager
def _connect(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependencyError(
            "--scheduler needs distributed: pip install 'vicinal[dask]'."
        ) from error
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"--scheduler {address}: {error}.") from error
    with client:
        yield client


@contextmanager
def _limited(memory: int) -> Iterator[None]:
    """Limit the data of this process that is not in files; what would not fit is then an error."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        yield
        return
    from vicinal._core.memory import data_bytes

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    new = data_bytes() + memory
    if hard != resource.RLIM_INFINITY:
        new = min(new, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (new, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
