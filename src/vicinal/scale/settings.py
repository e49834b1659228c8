"""Where and how large inputs are processed."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from vicinal._core.large import limit_of
from vicinal._core.parallel import RUN, Run, use_run
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.scale.store import Store

# The compiled code and a few cells take about as much.
MIN_MEMORY = 10**8


def config(
    *,
    store: Store | str | os.PathLike[str] | None = None,
    client: Any = None,
    cell_size: int | None = None,
    memory: int | None = None,
) -> AbstractContextManager[Run]:
    """Set how dask arrays are processed within a ``with`` block.

    Parameters
    ----------
    store : Store, str or Path, optional
        Where intermediate results are kept. Work on the same input continues from the files found there.
        The default is a temporary folder, deleted with the results that refer to it.
    client : distributed.Client, optional
        The cluster that does the work. The default is the current client, if there is one, otherwise the
        threads of this process.
    cell_size : int, optional
        Mean number of points in a cell, the unit of work. A task holds a few cells in memory. The default
        is 40,000, or fewer if points are large.
    memory : int, optional
        Number of bytes by which the memory of this process should grow at most; at least 10^8. Neighbour
        lists, the state of spanning trees, and the neighbours and lengths of graphs are then in files of the
        store, whose pages leave memory, without effect on results. Other arrays, such as affinities and
        eigenvectors, stay in memory; steps that estimate how much they need raise an error if that exceeds
        the limit. Graphs built within the block may be used after it. The default sets no limit.

    Returns
    -------
    context manager
        Enters with the settings of the block, as attributes.

    Examples
    --------
    >>> import tempfile
    >>> import dask.array as da
    >>> from vicinal import graphs, scale
    >>> X = da.random.default_rng(0).normal(size=(1000, 3), chunks=(300, 3))
    >>> with scale.config(store=tempfile.mkdtemp(), cell_size=200):
    ...     graph = graphs.knn(X, n_neighbors=5)
    >>> graph == graphs.knn(X.compute(), n_neighbors=5)
    True
    """
    if not isinstance(store, (Store, str, os.PathLike, type(None))):
        raise InvalidTypeError(
            f"store={store!r}, but a Store, the name of a folder or a URL is needed."
        )
    given = {
        "store": store if store is None or isinstance(store, Store) else Store(store),
        "client": check_client(client),
        "cell_size": None if cell_size is None else check_count(cell_size, "cell_size"),
    }
    run = replace(RUN.get(), **{k: v for k, v in given.items() if v is not None})
    if memory is not None and check_count(memory, "memory", low=MIN_MEMORY) != run.memory:
        folder = None if run.store is None else run.store.local_folder
        run = replace(run, limit=limit_of(int(memory), folder))
    return use_run(run)


def check_client(client: Any) -> Any:
    """The client, unless it is something else, such as an address, or closed."""
    if client is not None and not callable(getattr(client, "scheduler_info", None)):
        raise InvalidTypeError(
            f"client={client!r}, but a distributed.Client is needed; for the address of a scheduler, "
            "Client(address) makes one."
        )
    if getattr(client, "status", None) in ("closed", "closing"):
        raise InvalidValueError("client is closed; connect again with Client(address).")
    return client


def change_settings(**values: Any) -> None:
    """Change settings until the end of the innermost ``with config(...)`` block."""
    RUN.set(replace(RUN.get(), **values))
