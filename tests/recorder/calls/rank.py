"""Rows in the order of their similarity to queries."""

import vicinal

from .. import inputs
from ..call import call, fit, odd, on
from ..expect import array, each, error, has
from ..inputs import chunked, dense, sparse

FORMS = [X for X in inputs.FORMS if X is not inputs.one_row]
RERANKED = has(n_items_=90)


def diverse(X, new, n_jobs=None):
    return vicinal.Reranker(n_neighbors=8, n_jobs=n_jobs).fit(X).rank(new, 5, diversity=0.5)


def with_queries(X, n_jobs=None):
    ranking = vicinal.ManifoldRanking(n_jobs=n_jobs).fit(X)
    return ranking.rank([0, 40], 5, include_queries=True)


def _ranked(n_queries):
    return each(array(n_queries, 5, dtype=int), array(n_queries, 5))


CALLS = [
    *on(FORMS, fit, vicinal.ManifoldRanking, refuses=[chunked]),
    *on(FORMS, fit, vicinal.PerceptualRanking),
    *on(FORMS, fit, vicinal.Reranker, refuses=[chunked, sparse], expect=RERANKED),
    *(
        fit(vicinal.ManifoldRanking, X, **options)
        for X, options in [
            (inputs.graph, {}),
            (inputs.distances, {"graph": "precomputed_distances"}),
            (inputs.sparse_affinity, {"graph": "precomputed_affinity"}),
            (dense, {"alpha": 0.5, "scale": "local"}),
            (dense, {"graph": "mst"}),
        ]
    ),
    *(
        fit(vicinal.PerceptualRanking, X, **options)
        for X, options in [
            (inputs.digraph, {}),
            (dense, {"alpha": 0.9, "laplacian": "aligned"}),
            (dense, {"descriptor": "centroid", "n_neighbors": 6}),
            (dense, {"n_neighbors": 90}),
            (inputs.positive, {"metric": "cosine"}),
        ]
    ),
    *(
        fit(vicinal.Reranker, dense, method=method, n_neighbors=8, expect=RERANKED)
        for method in ("smoothed", "k_reciprocal", "query_expansion", "distance")
    ),
    fit(vicinal.Reranker, inputs.lists, n_neighbors=8, expect=RERANKED),
    fit(vicinal.Reranker, inputs.positive, metric="cosine", keep_nearest=False, list_size=20),
    call(diverse, dense, inputs.new_points, expect=_ranked(6)),
    call(with_queries, dense, expect=_ranked(2)),
    *(
        odd(make, inputs.ODD)
        for make in (vicinal.ManifoldRanking, vicinal.PerceptualRanking, vicinal.Reranker)
    ),
    fit(vicinal.ManifoldRanking, dense, alpha=1.0, expect=error("alpha=1")),
    fit(vicinal.Reranker, dense, method="bogus", expect=error("bogus")),
    fit(vicinal.PerceptualRanking, dense, n_neighbors=0, expect=error("n_neighbors=0")),
]
