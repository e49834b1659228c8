"""Enough points that threads divide the work, each with a part of it."""

import vicinal
from vicinal import graphs, operators

from ..call import call, fit
from ..expect import array, graph, has
from ..inputs import N_LARGE, Input, large, large_labels

CONTEXTS = Input("large digraph", lambda: graphs.contextual(large.make(), 8))
TREE = Input("large tree", lambda: graphs.mst(large.make()))
DRAWN = graph(nodes=N_LARGE)

CALLS = [
    *(
        call(build, large, **options, expect=DRAWN)
        for build, options in [
            (graphs.knn, {}),
            (graphs.knn, {"metric": "chebyshev"}),
            (graphs.knn, {"method": "approximate"}),
            (graphs.mst, {}),
            (graphs.mst, {"metric": "manhattan"}),
            (graphs.disjoint_mst, {}),
            (graphs.perturbed_mst, {"n_trees": 4}),
            (graphs.epsilon_ball, {"radius": 0.5}),
            (graphs.gabriel, {}),
            (graphs.relative_neighborhood, {}),
        ]
    ),
    *(
        call(build, large, expect=graph(nodes=N_LARGE, directed=True))
        for build in (graphs.contextual, graphs.l1)
    ),
    *(
        fit(make, large, **options)
        for make, options in [
            (vicinal.SpectralClustering, {}),
            (vicinal.PerceptualClustering, {}),
            (vicinal.KernelKMeans, {"n_clusters": 3}),
            (vicinal.LaplacianEigenmaps, {}),
            (vicinal.DiffusionMaps, {}),
            (vicinal.Isomap, {"n_landmarks": 50}),
            (vicinal.PerceptualEmbedding, {}),
            (vicinal.ManifoldRanking, {}),
            (vicinal.PerceptualRanking, {"alpha": 0.9}),
            (vicinal.Reranker, {"n_neighbors": 10}),
            (vicinal.OutlierDetector, {}),
            (vicinal.KNNTransformer, {}),
            (vicinal.near_duplicates, {}),
        ]
    ),
    fit(vicinal.GraphClassifier, large, large_labels),
    fit(vicinal.LabelPropagation, large, large_labels),
    call(operators.leading_eigenpairs, TREE, n_pairs=5, expect=has(vectors=array(N_LARGE, 5))),
    call(operators.stationary_distribution, CONTEXTS, expect=array(N_LARGE)),
    call(operators.shortest_paths, TREE, sources=range(300), expect=array(300, N_LARGE)),
]
