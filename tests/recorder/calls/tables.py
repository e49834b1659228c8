"""Tables with columns of any kind as points, and missing values."""

import datetime

import numpy as np

import vicinal

from .. import inputs
from ..call import call, fit, odd, on
from ..expect import array, error, every, has
from ..inputs import Input, mixed

KINDS = {
    "name": "ignore",
    "price": "numeric",
    "city": "categorical",
    "member": "boolean",
    "since": "date",
    "size": "ordinal",
}
SIZES = {"size": ["S", "M", "L"]}
POLARS = Input("polars", lambda: _polars(mixed.make()), lambda: _polars(mixed.new()))
RECORDS = Input("records", lambda: _records(mixed.make()), lambda: _records(mixed.new()))
NUMPY = Input("objects", lambda: _objects(mixed.make()), lambda: _objects(mixed.new()))


def _polars(table):
    import polars

    return polars.DataFrame(table)


def _records(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def _objects(table):
    return np.array([*table.values()], dtype=object).T


def typical(X):
    """A table of which some columns are nothing but one value or a date."""
    X = X | {"day": [datetime.date(2024, 1, 1 + i % 28) for i in range(90)], "same": [None] * 90}
    return vicinal.TableEncoder().fit(X)


def apart(X):
    """What tells the first rows from the others."""
    first, second = (
        {name: column[a:b] for name, column in X.items()} for a, b in ((0, 9), (9, 18))
    )
    return vicinal.TableEncoder().fit(X).differences(first, second)


CALLS = [
    fit(vicinal.TableEncoder, mixed, kinds=SIZES, expect=has(kinds_=KINDS)),
    *on([POLARS, RECORDS, NUMPY, inputs.holes, inputs.frame], fit, vicinal.TableEncoder),
    *on([inputs.single, inputs.integers, inputs.equal_rows], fit, vicinal.TableEncoder),
    *(
        fit(vicinal.TableEncoder, X, **options)
        for X in (mixed, inputs.holes)
        for options in (
            {"metric": "gower"},
            {"scaling": "standard"},
            {"scaling": "none"},
        )
    ),
    fit(vicinal.TableEncoder, mixed, weights={"price": 3.0, "city": 0.0}),
    call(typical, mixed, expect=has(n_features_in_=8)),
    fit(vicinal.TableEncoder, mixed, kinds={"prize": "numeric"}, expect=error("prize")),
    fit(vicinal.TableEncoder, mixed, kinds={"city": "numeric"}, expect=error("city")),
    fit(vicinal.TableEncoder, mixed, scaling="bogus", expect=error("bogus")),
    odd(vicinal.TableEncoder, inputs.ODD_TABLES),
    call(apart, mixed, expect=every({"price": array(9)})),
]
