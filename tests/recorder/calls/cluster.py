"""Clusters, their number, and noise."""

import vicinal
from vicinal import PerceptualClustering, SpectralClustering, cluster

from .. import inputs
from ..call import call, fit, odd, on
from ..expect import array, error, groups, has
from ..inputs import Input, dense, one_row

FOUND = has(labels_=groups(), n_clusters_=3)
MUST, CANNOT = [[0, 40], [1, 2]], [[0, 5], [31, 32]]
WITH_NOISE = Input(
    "half-cylinders",
    lambda: vicinal.datasets.make_half_cylinders(60, 40, random_state=0)[0],
    inputs.dense.new,
    n=160,
)


def _obeys(labels):
    assert all(labels[i] == labels[j] for i, j in MUST), labels
    assert all(labels[i] != labels[j] for i, j in CANNOT), labels


REFUSED_BY_KERNELS = [inputs.sparse, inputs.chunked, one_row]


def constrained(make, X, n_jobs=None):
    model = make(3, random_state=0, n_jobs=n_jobs)
    return model.fit(X, must_link=MUST, cannot_link=CANNOT)


CALLS = [
    *(
        call
        for make in (SpectralClustering, PerceptualClustering)
        for options in ({}, {"n_clusters": 3})
        for call in on(inputs.FORMS, fit, make, refuses=[one_row], **options)
    ),
    *on(inputs.MORE_FORMS[:5], fit, SpectralClustering, n_clusters=3, expect=FOUND),
    *(
        fit(SpectralClustering, X, n_clusters=3, **options, expect=FOUND)
        for X, options in [
            (inputs.graph, {}),
            (inputs.tree, {}),
            (inputs.path, {}),
            (inputs.distances, {"graph": "precomputed_distances"}),
            (inputs.affinity, {"graph": "precomputed_affinity"}),
            (inputs.sparse_affinity, {"graph": "precomputed_affinity"}),
            (dense, {"method": "ncut"}),
            (dense, {"assign": "discretize"}),
            (dense, {"graph": "disjoint_mst", "graph_params": {"n_trees": 2}}),
            (dense, {"graph": "perturbed_mst"}),
            (dense, {"graph": "gabriel"}),
            (dense, {"graph": "gaussian"}),
            (dense, {"graph": vicinal.path_similarity}),
            (dense, {"scale": "local"}),
            (dense, {"scale": 2.0}),
            (dense, {"min_cluster_size": 20, "max_cluster_size": 40}),
        ]
    ),
    fit(SpectralClustering, dense, n_clusters=2, disconnected="raise", expect=error("connected")),
    *(
        fit(PerceptualClustering, X, n_clusters=3, **options, expect=FOUND)
        for X, options in [
            (inputs.digraph, {}),
            (inputs.positive, {"metric": "cosine", "noise": 0.0}),
            (dense, {"assign": "kmeans"}),
            (dense, {"assign": "discretize"}),
            (dense, {"noise": 0.0}),
            (dense, {"laplacian": "aligned"}),
            (dense, {"descriptor": "centroid"}),
            (dense, {"n_neighbors": 6, "epsilon": 0.5, "beta": 0.99}),
            (dense, {"min_cluster_size": 20, "max_cluster_size": 40}),
        ]
    ),
    fit(SpectralClustering, WITH_NOISE),
    fit(PerceptualClustering, WITH_NOISE),
    fit(PerceptualClustering, WITH_NOISE, n_clusters=2, noise=0.3, expect=has(n_clusters_=2)),
    *(
        call(constrained, make, dense, expect=has(labels_=_obeys))
        for make in (SpectralClustering, PerceptualClustering)
    ),
    fit(vicinal.SparseSubspaceClustering, dense),
    fit(vicinal.SparseSubspaceClustering, dense, n_clusters=3),
    fit(vicinal.SparseSubspaceClustering, dense, n_clusters=3, equality=True, penalty=0.1),
    *on(inputs.FORMS, fit, vicinal.KernelKMeans, refuses=REFUSED_BY_KERNELS, n_clusters=3),
    *(
        fit(vicinal.KernelKMeans, X, n_clusters=3, **options, expect=has(labels_=groups()))
        for X, options in [
            (dense, {"gamma": 0.05, "n_init": 3}),
            (dense, {"kernel": "linear"}),
            (inputs.affinity, {"kernel": "precomputed"}),
        ]
    ),
    fit(vicinal.KernelKMeans, inputs.distances, kernel="precomputed", expect=error("psd")),
    fit(vicinal.KernelKMeans, inputs.distances, kernel="precomputed", psd="project"),
    *(call(cluster.estimate_clusters, X, expect=has(n_clusters=3)) for X in inputs.DENSE[:2]),
    call(cluster.estimate_clusters, WITH_NOISE, expect=has(n_clusters=1)),
    call(cluster.estimate_clusters, inputs.one_place, expect=has(n_clusters=1)),
    call(cluster.k_subspaces, dense, n_clusters=3, expect=has(bases=array(3, 1, 3))),
    call(cluster.k_subspaces, dense, n_clusters=2, dimension=2, expect=has(bases=array(2, 2, 3))),
    *(
        call(cluster.spectral_labels, W, n_clusters=3, **options, expect=groups())
        for W in (inputs.graph, inputs.affinity, inputs.sparse_affinity)
        for options in ({}, {"method": "ncut", "assign": "discretize"})
    ),
    *(
        odd(make, inputs.ODD)
        for make in (SpectralClustering, PerceptualClustering, vicinal.SparseSubspaceClustering)
    ),
    odd(vicinal.KernelKMeans, inputs.ODD, takes=[inputs.overflow]),
    odd(cluster.estimate_clusters, inputs.ODD),
    odd(SpectralClustering, inputs.ODD_DISTANCES, graph="precomputed_distances"),
    odd(SpectralClustering, inputs.ODD_AFFINITIES, graph="precomputed_affinity"),
    odd(cluster.spectral_labels, inputs.ODD_AFFINITIES, n_clusters=2),
    *(
        fit(make, dense, n_clusters=n, expect=error(f"n_clusters={n}"))
        for make in (SpectralClustering, PerceptualClustering, vicinal.KernelKMeans)
        for n in (0, 91)
    ),
    fit(SpectralClustering, dense, graph="bogus", expect=error("bogus")),
    fit(PerceptualClustering, dense, noise=2.0, expect=error("noise=2")),
]
