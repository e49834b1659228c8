"""Odd values that a parameter may be given: numbers, objects, and tables derived from a plausible one."""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
from scipy import sparse

from vicinal import Graph

HUGE = 1.7e308
TINY = 5e-324


class Anything:
    """An object that is nothing in particular."""


def nothing(*_: Any, **__: Any) -> None:
    """A function that takes anything and returns None."""


# Each is made anew for each call, so that a call that changes one spoils no other.
OBJECTS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "-1": lambda: -1,
    "0": lambda: 0,
    "1": lambda: 1,
    "3": lambda: 3,
    "-0.5": lambda: -0.5,
    "0.0": lambda: 0.0,
    "0.5": lambda: 0.5,
    "2.5": lambda: 2.5,
    "2**63": lambda: 2**63,
    "10**30": lambda: 10**30,
    "-10**30": lambda: -(10**30),
    "10**400": lambda: 10**400,
    "1.7e308": lambda: HUGE,
    "5e-324": lambda: TINY,
    "Fraction(1, 3)": lambda: fractions.Fraction(1, 3),
    "Fraction(3)": lambda: fractions.Fraction(3),
    "Decimal('0.5')": lambda: decimal.Decimal("0.5"),
    "True": lambda: True,
    "False": lambda: False,
    "numpy.True_": lambda: np.True_,
    "int64 2": lambda: np.int64(2),
    "uint8 3": lambda: np.uint8(3),
    "float32 0.5": lambda: np.float32(0.5),
    "float16 nan": lambda: np.float16("nan"),
    "longdouble 0.5": lambda: np.longdouble("0.5"),
    "1+2j": lambda: 1 + 2j,
    "'bogus'": lambda: "bogus",
    "''": lambda: "",
    "'auto'": lambda: "auto",
    "'precomputed'": lambda: "precomputed",
    "b'bytes'": lambda: b"bytes",
    "[]": list,
    "[0, 1]": lambda: [0, 1],
    "['a', None]": lambda: ["a", None],
    "[[1], [2, 3]]": lambda: [[1], [2, 3]],
    "()": lambda: (),
    "(1, 2, 3)": lambda: (1, 2, 3),
    "{}": dict,
    "{'bogus': 1}": lambda: {"bogus": 1},
    "set()": lambda: set(),
    "{1, 2}": lambda: {1, 2},
    "object()": Anything,
    "function": lambda: nothing,
    "generator": lambda: (i for i in range(3)),
    "range(3)": lambda: range(3),
    "datetime": lambda: datetime.datetime(2000, 1, 1),
    "datetime64": lambda: np.datetime64("2000-01-01"),
    "0-d array": lambda: np.array(2),
    "Generator": lambda: np.random.default_rng(0),
    "RandomState": lambda: np.random.RandomState(0),
    "graph without nodes": lambda: Graph([0], [], []),
    "graph without edges": lambda: Graph([0] * 13, [], []),
    "digraph": lambda: cycle([1.0] * 12, directed=True),
    "graph of zero lengths": lambda: cycle([0.0] * 12),
    "graph of zero strengths": lambda: cycle([1.0] * 12, [0.0] * 12),
    "graph of huge lengths": lambda: cycle([HUGE] * 12),
    "graph of tiny lengths": lambda: cycle([TINY] * 12),
    "graph of mixed lengths": lambda: cycle([TINY, 1.0, HUGE] * 4),
}


def cycle(lengths: list[float], strengths: list[float] | None = None, **options: Any) -> Graph:
    nodes = np.arange(len(lengths))
    edges = np.column_stack([nodes, np.roll(nodes, -1)])
    return Graph.from_edges(len(nodes), edges, lengths, strengths, **options)


def with_first(table: np.ndarray, value: Any) -> np.ndarray:
    """A copy as floats in which the first row, or number, is ``value``."""
    changed = table.astype(np.float64)
    changed[:1] = value
    return changed


def unit(table: np.ndarray) -> np.ndarray:
    """The table as floats whose largest modulus is 1."""
    values = table.astype(np.float64)
    return values / max(np.abs(values).max(initial=0.0), TINY)


def with_signs(table: np.ndarray) -> np.ndarray:
    """Every number at the largest distance from its neighbours."""
    signs = np.where(np.arange(table.size) % 2, HUGE, -HUGE)
    return signs.reshape(table.shape)


def read_only(table: np.ndarray) -> np.ndarray:
    frozen = table.copy()
    frozen.flags.writeable = False
    return frozen


def flat(table: np.ndarray) -> np.ndarray:
    """Two dimensions, as a matrix or a frame needs them."""
    return table.reshape(len(table), -1) if table.ndim else table.reshape(1, 1)


TABLES: dict[str, Callable[[np.ndarray], Any]] = {
    "as it is": np.copy,
    "list": lambda a: a.tolist(),
    "empty": lambda a: np.empty(0),
    "no rows": lambda a: a[:0].copy(),
    "no columns": lambda a: flat(a)[:, :0].copy(),
    "one row": lambda a: a[:1].copy(),
    "two rows": lambda a: a[:2].copy(),
    "first column": lambda a: flat(a)[:, 0].copy(),
    "one dimension more": lambda a: a[..., None].copy(),
    "three dimensions": lambda a: np.zeros((2, 2, 2)),
    "transposed": lambda a: np.ascontiguousarray(a.T),
    "fortran": np.asfortranarray,
    "read-only": read_only,
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "float16": lambda a: a.astype(np.float16),
    "float32": lambda a: a.astype(np.float32),
    "longdouble": lambda a: a.astype(np.longdouble),
    "int64": lambda a: a.astype(np.int64),
    "uint8": lambda a: np.abs(a).astype(np.uint8),
    "bool": lambda a: a > np.median(a),
    "complex": lambda a: a + 1j,
    "objects": lambda a: a.astype(object),
    "strings": lambda a: a.astype(str),
    "words": lambda a: np.full(a.shape, "a"),
    "bytes": lambda a: a.astype(bytes),
    "None in it": lambda a: np.where(np.arange(a.size).reshape(a.shape) == 1, None, a),
    "objects of objects": lambda a: np.full(a.shape, Anything(), dtype=object),
    "fractions": lambda a: np.full(a.shape, fractions.Fraction(1, 3), dtype=object),
    "large integers": lambda a: np.full(a.shape, 10**30, dtype=object),
    "dates": lambda a: np.full(a.shape, np.datetime64("2000-01-01")),
    "records": lambda a: np.zeros(len(a), dtype=[("a", float), ("b", int)]),
    "masked": lambda a: np.ma.masked_array(a, mask=np.arange(a.size).reshape(a.shape) == 0),
    "nothing masked": lambda a: np.ma.masked_array(a),
    "matrix": lambda a: np.matrix(flat(a)),
    "frame": lambda a: pandas.DataFrame(flat(a)),
    "frame of words": lambda a: pandas.DataFrame(flat(a)).assign(word="a"),
    "frame of categories": lambda a: pandas.DataFrame(flat(a)).astype("category"),
    "series": lambda a: pandas.Series(flat(a)[:, 0]),
    "NaN row": lambda a: with_first(a, np.nan),
    "infinite row": lambda a: with_first(a, np.inf),
    "zeros": lambda a: np.zeros(a.shape),
    "all equal": lambda a: np.ones(a.shape),
    "equal rows": lambda a: np.repeat(a[:1], len(a), axis=0),
    "duplicate rows": lambda a: np.repeat(a[::2], 2, axis=0)[: len(a)],
    "negative": lambda a: -np.abs(unit(a)) - 1,
    "huge": lambda a: unit(a) * HUGE,
    "opposite huge": with_signs,
    "one huge row": lambda a: with_first(a, HUGE),
    "tiny": lambda a: unit(a) * 1e-310,
    "denormals": lambda a: np.full(a.shape, TINY) * (np.arange(a.size).reshape(a.shape) % 3),
    "all magnitudes": lambda a: unit(a) * 10.0 ** np.linspace(-320, 300, a.size).reshape(a.shape),
    "integers beyond": lambda a: np.full(a.shape, 2**63, dtype=np.uint64),
    "csr": lambda a: sparse.csr_array(flat(a)),
    "csr matrix": lambda a: sparse.csr_matrix(flat(a)),
    "csc": lambda a: sparse.csc_array(flat(a)),
    "coo": lambda a: sparse.coo_array(flat(a)),
    "lil": lambda a: sparse.lil_array(flat(a)),
    "dok": lambda a: sparse.dok_array(flat(a)),
    "dia": lambda a: sparse.dia_array(flat(a)),
    "bsr": lambda a: sparse.bsr_array(flat(a)),
    "csr of integers": lambda a: sparse.csr_array(flat(a).astype(np.int64)),
    "csr of complex": lambda a: sparse.csr_array(flat(a) + 1j),
    "csr of NaN": lambda a: sparse.csr_array(flat(with_first(a, np.nan))),
    "csr without entries": lambda a: sparse.csr_array(flat(a).shape),
    "csr of no rows": lambda a: sparse.csr_array((0, 0)),
    "csr of huge values": lambda a: sparse.csr_array(flat(unit(a) * HUGE)),
}


def odd_values(typical: np.ndarray) -> dict[str, Callable[[], Any]]:
    """All odd values of a parameter, by name; tables are derived from a typical one."""
    table = np.asarray(typical)

    def derived(change: Callable[[np.ndarray], Any]) -> Callable[[], Any]:
        return lambda: change(table)

    return {**OBJECTS, **{f"table: {name}": derived(TABLES[name]) for name in TABLES}}
