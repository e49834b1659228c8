"""Coordinates in few dimensions."""

import numpy as np

import vicinal
from vicinal import embed

from .. import inputs
from ..call import call, fit, odd, on
from ..expect import array, error, has
from ..inputs import Input, chunked, dense, one_row, single, sparse

PLANE = has(embedding_=array(90, 2))
SINGLE_PLANE = has(embedding_=array(90, 2, dtype=np.float32))
OF_GRAPHS = [vicinal.LaplacianEigenmaps, vicinal.DiffusionMaps, vicinal.Isomap]
REFUSED = {
    vicinal.LaplacianEigenmaps: [one_row],
    vicinal.DiffusionMaps: [one_row, chunked],
    vicinal.Isomap: [one_row, chunked],
    vicinal.PerceptualEmbedding: [one_row, chunked],
    vicinal.ClusterPreservingEmbedding: [one_row, sparse],
}
FORMS = [X for X in inputs.FORMS if X is not single]
SCALING = Input("scaling", lambda: embed.classical_scaling(inputs.distances.make(), 2))
NEW = Input("new distances", inputs.distances.new)

CALLS = [
    *(
        call
        for make, refused in REFUSED.items()
        for call in on(FORMS, fit, make, refuses=refused, expect=PLANE)
    ),
    *(fit(make, single, expect=SINGLE_PLANE) for make in [*REFUSED, vicinal.NeighborMap]),
    *on([dense, sparse, inputs.graph], fit, vicinal.NeighborMap, n_iter=50, expect=PLANE),
    *(
        fit(make, X, **options, expect=PLANE)
        for make in OF_GRAPHS
        for X, options in [
            (inputs.graph, {}),
            (inputs.distances, {"graph": "precomputed_distances"}),
            (dense, {"graph": "disjoint_mst"}),
        ]
    ),
    *(
        fit(make, inputs.affinity, graph="precomputed_affinity", expect=PLANE)
        for make in OF_GRAPHS[:2]
    ),
    fit(vicinal.LaplacianEigenmaps, dense, n_components=5, scale="local"),
    fit(vicinal.LaplacianEigenmaps, dense, disconnected="raise", expect=error("connected")),
    fit(vicinal.DiffusionMaps, dense, t="auto", expect=PLANE),
    fit(vicinal.DiffusionMaps, dense, t=3.0, alpha=1.0, expect=PLANE),
    fit(vicinal.Isomap, dense, n_landmarks=20, expect=PLANE),
    fit(vicinal.Isomap, dense, n_components=3, graph_params={"n_neighbors": 20}),
    fit(vicinal.PerceptualEmbedding, inputs.digraph, expect=PLANE),
    fit(vicinal.PerceptualEmbedding, dense, laplacian="aligned", expect=PLANE),
    fit(vicinal.PerceptualEmbedding, inputs.positive, metric="cosine", expect=PLANE),
    fit(vicinal.PerceptualEmbedding, dense, descriptor="centroid", n_neighbors=6, expect=PLANE),
    *(
        fit(vicinal.ClusterPreservingEmbedding, X, y, **options, expect=PLANE)
        for X, y, options in [
            (dense, None, {"method": "mds"}),
            (dense, None, {"method": "mds", "dissimilarity": "plain"}),
            (dense, None, {"robust": False, "sigma": 3.0}),
            (dense, inputs.groups, {"between_classes": 0.0}),
            (inputs.graph, None, {}),
            (inputs.path, None, {}),
            (inputs.distances, None, {"metric": "precomputed"}),
        ]
    ),
    *(odd(make, inputs.ODD) for make in REFUSED),
    odd(vicinal.Isomap, inputs.ODD_DISTANCES, graph="precomputed_distances"),
    fit(vicinal.LaplacianEigenmaps, dense, n_components=0, expect=error("n_components=0")),
    fit(vicinal.Isomap, dense, n_landmarks=91, expect=error("n_landmarks=91")),
    call(
        embed.classical_scaling,
        inputs.distances,
        n_components=3,
        expect=has(coordinates=array(90, 3)),
    ),
    odd(embed.classical_scaling, inputs.ODD_DISTANCES),
    call(embed.landmark_mds_transform, SCALING, NEW, expect=array(6, 2)),
    call(embed.diffusion_distance, inputs.affinity, t=2.0, expect=array(90, 90)),
    call(embed.diffusion_distance, inputs.tree, alpha=1.0, expect=array(90, 90)),
]
