"""Small inputs in every form that calls take, and odd ones; each is made anew for each call."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse as sp

from vicinal import Graph, graphs, path_similarity

N, N_NEW, N_LARGE = 90, 6, 2400
GROUPS = np.repeat([0, 1, 2], N // 3)


@dataclass(frozen=True)
class Input:
    """Something to pass to a call; ``new`` makes new points in the same form."""

    name: str
    make: Callable[[], Any]
    new: Callable[[], Any] | None = None
    # Number of rows, for what is expected of a result.
    n: int = N
    # A pattern that an error about it contains.
    says: str = ""


def _points(n: int = N, seed: int = 0, spread: float = 1.0) -> np.ndarray:
    """Three groups of equal size, far from each other."""
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0, 0], [9, 2, 1], [1, 10, -3]])
    return np.repeat(centers, n // 3, axis=0) + spread * rng.normal(size=(n, 3))


def _new() -> np.ndarray:
    return _points(N_NEW, seed=1)


def _wide(n: int, seed: int = 0) -> np.ndarray:
    """More points than a search looks at one by one, in many columns."""
    return np.random.default_rng(seed).normal(size=(n, 40)) + np.arange(n)[:, None] % 3


def _form(name: str, of: Callable[[np.ndarray], Any], says: str = "") -> Input:
    """The points in another form."""
    return Input(name, lambda: of(_points()), lambda: of(_new()), says=says)


def _thinned(X: np.ndarray) -> np.ndarray:
    return np.where(np.abs(X) < 0.4, 0.0, X)


def _frame(X: np.ndarray) -> Any:
    import pandas

    return pandas.DataFrame(X, columns=["a", "b", "c"])


def chunks_of(X: np.ndarray, rows: int = 40) -> Any:
    import dask.array as da

    return da.from_array(X, chunks=(rows, X.shape[1]))


dense = _form("dense", lambda X: X)
single = _form("float32", lambda X: X.astype(np.float32))
fortran = _form("Fortran order", np.asfortranarray)
sparse = _form("sparse", lambda X: sp.csr_array(_thinned(X)), says="[Ss]parse")
sparse_single = _form("sparse float32", lambda X: sp.csr_array(_thinned(X).astype(np.float32)))
columns = _form("csc", lambda X: sp.csc_matrix(_thinned(X)))
listed = _form("list", lambda X: X.tolist())
frame = _form("DataFrame", _frame)
integers = _form("integers", lambda X: np.rint(3 * X).astype(np.int32))
# Every row occurs twice, the second time far from the first.
equal_rows = _form("equal rows", lambda X: np.vstack([X[::2], X[::2]]))
far = _form("far offset", lambda X: X + 1e7)
huge = _form("huge units", lambda X: X * 1e200)
tiny = _form("tiny units", lambda X: X * 1e-200)
positive = _form("positive", lambda X: X - X.min() + 1.0)
strided = _form("strided", lambda X: np.repeat(X, 2, axis=0)[::2, ::-1])
wide = Input("wide", lambda: _wide(600), lambda: _wide(6, seed=1), n=600)
chunked = _form("dask", chunks_of, says="dask")
chunked_single = _form("dask float32", lambda X: chunks_of(X.astype(np.float32)))
line = _form("one column", lambda X: X[:, :1].copy())
one_row = Input("one row", lambda: _points()[:1], _new, n=1, says="1")
two_rows = Input("two rows", lambda: _points()[[0, 40]], _new, n=2)
one_place = Input("one place", lambda: np.ones((12, 2)), lambda: np.ones((2, 2)), n=12)
# The forms that everything which takes points is called with, and others.
DENSE = [dense, single, fortran, equal_rows, far]
IN_MEMORY = [*DENSE, sparse, one_row]
FORMS = [*IN_MEMORY, chunked]
MORE_FORMS = [listed, frame, strided, huge, tiny, line, columns, sparse_single, chunked_single]
many = Input("many", lambda: _points(600), n=600)
large = Input("large", lambda: _points(N_LARGE), _new, n=N_LARGE)


def _table(n: int, seed: int = 0) -> dict[str, Any]:
    """Columns of every kind; three groups of rows differ in all but the names."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    start = datetime.datetime(2024, 1, 1)
    price = 100.0 * (1 + group) + rng.normal(size=n)
    return {
        "name": [f"customer {i}" for i in range(n)],
        "price": [None if i % 17 == 5 else f"${value:,.2f}" for i, value in enumerate(price)],
        "city": [("Rome", "Oslo", "Lima")[g] for g in group],
        "member": ["yes" if g == 2 else "no" for g in group],
        "since": [start + datetime.timedelta(days=40 * int(g)) for g in group],
        "size": [("S", "M", "L")[g] for g in group],
    }


def _with_holes(X: np.ndarray) -> np.ndarray:
    return np.where(np.arange(X.size).reshape(X.shape) % 11 == 3, np.nan, X)


mixed = Input("mixed table", lambda: _table(N), lambda: _table(N_NEW, seed=1))
holes = _form("holes", _with_holes)


def _between(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(X[:, None] - Y).sum(axis=2))


def _distances() -> np.ndarray:
    return _between(_points(), _points())


def _stored(k: int = 20) -> sp.csr_array:
    return graphs.knn(_points(), k).to_scipy("lengths")


def _lists(X: np.ndarray, k: int = 20) -> tuple[np.ndarray, np.ndarray]:
    between = _between(X, _points())
    order = np.argsort(between, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(between, order, axis=1)


def _affinities(X: np.ndarray) -> np.ndarray:
    return np.exp(-np.square(_between(X, _points())) / 4)


distances = Input("distances", _distances, lambda: _between(_new(), _points()))
stored_distances = Input("sparse distances", _stored, lambda: _between(_new(), _points()))
lists = Input("lists", lambda: _lists(_points()), lambda: _lists(_new()))
affinity = Input("affinity", lambda: _affinities(_points()), lambda: _affinities(_new()))
sparse_affinity = Input(
    "sparse affinity", lambda: graphs.knn(_points(), 8).affinity(), lambda: _affinities(_new())
)
graph = Input("Graph", lambda: graphs.knn(_points(), 6), _new)
digraph = Input("digraph", lambda: graphs.contextual(_points(), 8), _new)
tree = Input("tree", lambda: graphs.mst(_points()), _new)
loose_graph = Input("Graph without points", lambda: _loose(graphs.knn(_points(), 6)), _new)
path = Input("path similarity", lambda: path_similarity(_points()), _new)


def _loose(graph: Graph) -> Graph:
    return Graph(graph.indptr, graph.indices, graph.lengths, graph.strengths)


groups = Input("groups", GROUPS.copy)
names = Input("names", lambda: np.array(["ape", "bee", "cat"])[GROUPS])
few_labels = Input("few labels", lambda: np.where(np.arange(N) % 7 == 0, GROUPS, -1))
large_labels = Input(
    "few labels",
    lambda: np.where(np.arange(N_LARGE) % 7 == 0, np.repeat([0, 1, 2], N_LARGE // 3), -1),
)
flipped = Input("labels with errors", lambda: np.where(np.arange(N) % 9 == 4, 0, GROUPS))
no_labels = Input("no labels", lambda: np.full(N, -1))
too_few_labels = Input("too few labels", lambda: GROUPS[:5])
no_values = Input("no values", lambda: np.full(N, np.nan))
new_points = Input("new points", _new, n=N_NEW)
values = Input("values", lambda: np.where(np.arange(N) % 3 == 0, _points()[:, 0], np.nan))


def _spoiled(value: Any) -> np.ndarray:
    X = _points().astype(object if isinstance(value, str) else type(value))
    X[3, 1] = value
    return X


def _broken() -> sp.csr_array:
    matrix = sp.csr_array(_points())
    matrix.indices[5] = 7
    return matrix


overflow = Input("overflow", lambda: _points() * 1e307, says="divide|overflow|large")
ODD = [
    Input("NaN", lambda: _spoiled(np.nan), says="NaN"),
    Input("infinity", lambda: _spoiled(np.inf), says="inf"),
    Input("complex", lambda: _spoiled(1j), says="[Cc]omplex"),
    Input("text", lambda: _spoiled("pro"), says="'pro'|numbers are needed"),
    Input("None", lambda: None, says="None|nan"),
    Input("empty", lambda: np.empty((0, 3)), n=0, says="shape|point"),
    Input("no columns", lambda: np.empty((9, 0)), n=9, says="shape|column|feature"),
    Input("flat list", lambda: np.arange(9.0), n=9, says="shape|dim|1D"),
    Input("cube", lambda: np.zeros((3, 3, 3)), n=3, says="shape|dim"),
    Input("ragged", lambda: [[1.0, 2.0], [3.0]], n=2, says="rows have different|inhomogeneous"),
    Input("name of a file", lambda: "points.csv", n=10, says="points.csv"),
    overflow,
    Input("broken sparse", _broken, says="sparse|indices|column"),
]


def _changed(i: int, j: int, value: float) -> np.ndarray:
    between = _distances()
    between[i, j] = value
    return between


ODD_DISTANCES = [
    Input("not square", lambda: _distances()[:, :-1], says="square|shape"),
    Input("negative", lambda: -_distances(), says="negative|>= 0"),
    Input("asymmetric", lambda: _changed(3, 5, 99.0), says="symmetric"),
    Input("NaN between", lambda: _changed(3, 5, np.nan), says="NaN"),
    Input("diagonal", lambda: _changed(4, 4, 1.0), says="diagonal"),
]
ODD_AFFINITIES = [
    Input("not square", lambda: _affinities(_points())[:, :-1], says="square|shape"),
    Input("negative", lambda: -_affinities(_points()), says="negative|>= 0"),
    Input("NaN", lambda: _affinities(_points()) * np.nan, says="NaN"),
    Input("one number", lambda: 3.0, says="shape|dimension|matrix"),
    Input("no nodes", lambda: Graph([0], [], []), says="without nodes|real numbers"),
]
ODD_TABLES = [
    Input("None", lambda: None, says="table|real numbers"),
    Input("no rows", lambda: {"a": [], "b": []}, says="0 sample"),
    Input("no columns", dict, says="0 sample|column|shape"),
    Input("different lengths", lambda: {"a": [1, 2], "b": [1]}, says="length|rows"),
    Input("one number", lambda: 3.0, says="table|dimension"),
    Input("name of a file", lambda: "points.csv", says="points.csv"),
    Input("constant columns", lambda: np.ones((12, 2)), says="constant"),
]
