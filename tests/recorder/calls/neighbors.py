"""Nearest points and points within a radius, in every form and metric."""

import vicinal
from vicinal.neighbors import NeighborSearch

from .. import inputs
from ..call import call, fit, odd, on
from ..expect import error, has
from ..inputs import dense, one_row, positive, sparse

EXACT = has(n_points=90, recall_=1.0)

CALLS = [
    *on(inputs.IN_MEMORY, fit, NeighborSearch, expect=has(recall_=1.0)),
    fit(NeighborSearch, inputs.distances, metric="precomputed", expect=EXACT),
    fit(NeighborSearch, inputs.stored_distances, metric="precomputed", expect=EXACT),
    fit(NeighborSearch, inputs.lists, expect=has(n_points=90)),
    *(
        fit(NeighborSearch, X, metric=metric, expect=EXACT)
        for X, metric in [
            (dense, "manhattan"),
            (positive, "cosine"),
            (sparse, "cosine"),
            (dense, "chebyshev"),
            (inputs.huge, "euclidean"),
            (inputs.tiny, "euclidean"),
        ]
    ),
    fit(NeighborSearch, inputs.wide, expect=has(n_points=600, recall_=1.0)),
    fit(NeighborSearch, inputs.wide, metric="cosine", expect=has(n_points=600, recall_=1.0)),
    call(NeighborSearch, sparse, metric="manhattan", expect=error("needs dense points")),
    fit(NeighborSearch, inputs.wide, method="approximate", recall=0.9, expect=has(n_points=600)),
    odd(NeighborSearch, inputs.ODD),
    odd(NeighborSearch, inputs.ODD_DISTANCES, metric="precomputed"),
    call(NeighborSearch, dense, method="bogus", expect=error("bogus")),
    *on(inputs.IN_MEMORY, fit, vicinal.KNNTransformer, refuses=[sparse, one_row]),
    fit(vicinal.KNNTransformer, inputs.distances, metric="precomputed"),
    fit(vicinal.KNNTransformer, dense, n_neighbors=90, expect=error("89")),
]
