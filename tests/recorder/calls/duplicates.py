"""Pairs of rows that are almost equal."""

import numpy as np

import vicinal

from .. import inputs
from ..call import call, fit, odd, on
from ..expect import equal, error, has
from ..inputs import Input, dense, equal_rows


def _with_copies():
    X = np.random.default_rng(0).normal(size=(90, 5))
    X[60:65] = X[:5] + 1e-4
    return X


copies = Input("copies", _with_copies)
PAIRS = np.column_stack([np.arange(5), np.arange(60, 65)])
# The nearest pair comes first, and the five are about equally near.
FOUND = has(pairs=lambda pairs: equal(PAIRS)(pairs[np.argsort(pairs[:, 0])]))

CALLS = [
    fit(vicinal.near_duplicates, copies, expect=FOUND),
    *on(inputs.FORMS, fit, vicinal.near_duplicates, refuses=[inputs.chunked]),
    fit(
        vicinal.near_duplicates,
        Input("copies float32", lambda: _with_copies().astype("f4")),
        expect=FOUND,
    ),
    fit(vicinal.near_duplicates, copies, threshold=0.01, expect=FOUND),
    fit(vicinal.near_duplicates, copies, threshold=1.0, linkage="complete"),
    fit(vicinal.near_duplicates, copies, metric="cosine", expect=FOUND),
    fit(vicinal.near_duplicates, copies, metric="manhattan", expect=FOUND),
    fit(vicinal.near_duplicates, equal_rows, threshold=0.0, expect=has(n_pairs=45)),
    fit(vicinal.near_duplicates, copies, against=Input("some", lambda: _with_copies()[60:65])),
    fit(vicinal.near_duplicates, inputs.wide, method="approximate"),
    fit(vicinal.near_duplicates, copies, threshold=1.0, max_pairs=3, expect=error("max_pairs=3")),
    odd(vicinal.near_duplicates, inputs.ODD),
    call(vicinal.near_duplicates, dense, threshold=-1.0, expect=error("threshold=-1")),
]
