"""Dictionaries of the points of a dask array, in files."""

from __future__ import annotations

import hashlib

import numpy as np

from vicinal._core.memory import require_memory
from vicinal.codes._chunked_codes import AtomFile, NeighborAtoms
from vicinal.codes._dictionaries import Ranking
from vicinal.scale._approximate import fill_exact
from vicinal.scale._engine import current_engine
from vicinal.scale.stored_points import StoredPoints

# Atoms as they are ranked, and once more as they are written.
BYTES_PER_ATOM = 16.0


def stored_atoms(
    points: StoredPoints, ranking: Ranking
) -> tuple[AtomFile | NeighborAtoms | None, float]:
    """Atoms of all points and their recall; None if there is no other point.

    The nearest points are read from the neighbour lists of cells. Other rankings are computed on the graph of
    all points, in memory, and their atoms are gathered.
    """
    n, size, cells = len(points), ranking.n_atoms, points.cells
    if size == 0:
        return None, 1.0
    if ranking.name == "euclidean":
        engine = current_engine()
        return NeighborAtoms(cells, fill_exact(cells, size, engine.n_workers, engine), size), 1.0
    key = hashlib.sha256(repr(ranking).encode()).hexdigest()[:16]
    store = cells.store.folder(ranking._asdict(), f"atoms-{key}")
    if not store.is_whole("atoms", "recall"):
        require_memory(
            BYTES_PER_ATOM * n * size,
            f"{n:,} dictionaries of {size:,} atoms",
            "Lower n_atoms, or use ranking='euclidean', which needs no more memory for more points.",
        )
        atoms, recall = ranking.atoms(points)
        store.save("atoms", atoms)
        store.save("recall", np.array([recall]))
    return AtomFile(store, size), float(store.load("recall")[0])
