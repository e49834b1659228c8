"""Self-smoothing and similarities along paths."""

import numpy as np

import vicinal
from vicinal import similarity

from .. import inputs
from ..call import call, fit, odd, on
from ..expect import array, each, error, has
from ..inputs import Input, dense

SMOOTH = has(similarity_=array(90, 90))
PATHS = [*inputs.IN_MEMORY, inputs.graph, inputs.tree]
FUSED = each(SMOOTH, each(array(90, 4), array(90, 4, dtype=np.int64)))
SOURCES = Input("two affinities", lambda: [inputs.affinity.make(), inputs.affinity.make() ** 2])


def fused(sources, how, weights=None, n_jobs=None):
    model = vicinal.SelfSmoothing(6, n_jobs=n_jobs).fuse(sources, how=how, weights=weights)
    return [model, model.kneighbors(n_neighbors=4)]


CALLS = [
    *on(inputs.IN_MEMORY, fit, vicinal.SelfSmoothing),
    fit(vicinal.SelfSmoothing, dense, t=5, expect=SMOOTH),
    fit(vicinal.SelfSmoothing, dense, t=5, width="global", bandwidth=0.5, expect=SMOOTH),
    fit(vicinal.SelfSmoothing, dense, n_clusters=3, expect=SMOOTH),
    fit(vicinal.SelfSmoothing, dense, method="sparse", n_neighbors=8),
    fit(vicinal.SelfSmoothing, inputs.sparse, metric="cosine"),
    fit(vicinal.SelfSmoothing, inputs.distances, metric="precomputed", expect=SMOOTH),
    fit(vicinal.SelfSmoothing, inputs.affinity, metric="similarity", expect=SMOOTH),
    fit(vicinal.SelfSmoothing, inputs.chunked, t=5, n_neighbors=8),
    odd(vicinal.SelfSmoothing, inputs.ODD),
    odd(vicinal.SelfSmoothing, inputs.ODD_DISTANCES, metric="precomputed"),
    fit(vicinal.SelfSmoothing, dense, t=-1.0, expect=error("t=-1")),
    *(call(fused, SOURCES, how=how, expect=FUSED) for how in ("before", "after", "cross")),
    call(fused, SOURCES, how="before", weights=[3, 1], expect=FUSED),
    call(fused, Input("nothing", list), how="before", expect=error("sources")),
    *(
        call(similarity.smoothing_kernel, X, n_neighbors=8, expect=array(90, 90))
        for X in (inputs.distances, inputs.stored_distances)
    ),
    call(similarity.smoothing_kernel, inputs.distances, width="global", expect=array(90, 90)),
    odd(similarity.smoothing_kernel, inputs.ODD_DISTANCES),
    call(vicinal.self_smooth, inputs.affinity, t=5, expect=array(90, 90)),
    call(vicinal.self_smooth, inputs.affinity, t=2.5, psd=True, expect=array(90, 90)),
    call(vicinal.self_smooth, inputs.affinity, t=5, psd=True, rank=4, expect=array(90, 90)),
    call(vicinal.self_smooth, inputs.affinity, t=5, normalize=False, expect=array(90, 90)),
    call(vicinal.self_smooth, inputs.sparse_affinity, t=5, expect=array(90, 90)),
    odd(vicinal.self_smooth, inputs.ODD_AFFINITIES, t=3),
    *on(PATHS, fit, vicinal.path_similarity, refuses=[inputs.sparse]),
    fit(vicinal.path_similarity, dense, robust=False),
    fit(vicinal.path_similarity, dense, sigma=2.0, n_neighbors=5),
    fit(vicinal.path_similarity, inputs.positive, metric="cosine"),
    fit(vicinal.path_similarity, inputs.distances, metric="precomputed"),
    odd(vicinal.path_similarity, inputs.ODD),
    odd(vicinal.path_similarity, inputs.ODD_DISTANCES, metric="precomputed"),
]
