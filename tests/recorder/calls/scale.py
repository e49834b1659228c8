"""Dask arrays in cells on a store: the results are those of memory."""

import tempfile
import warnings
from pathlib import Path

import numpy as np

import vicinal
from vicinal import graphs, scale

from .. import inputs
from ..call import call
from ..expect import anything, array, equal, error, every
from ..inputs import many

CHUNKED = inputs.Input("many, dask", lambda: inputs.chunks_of(many.make(), 140))


def in_cells(make, X, attribute=None, n_jobs=None, **options):
    """What a function gives, or an attribute of a fitted estimator, in cells of about 100 points."""
    with tempfile.TemporaryDirectory() as folder, scale.config(store=folder, cell_size=100):
        return _result(make, X, attribute, n_jobs, options)


def in_little_memory(make, X, n_jobs=None, **options):
    with tempfile.TemporaryDirectory() as folder, scale.config(store=folder, memory=10**8):
        return _result(make, X, None, n_jobs, options)


def on_cluster(make, X, n_jobs=None, **options):
    """The same by the threads of a worker."""
    from distributed import Client

    alone = {"processes": False, "n_workers": 1, "dashboard_address": None}
    with Client(**alone) as client, scale.config(client=client, cell_size=100):
        return _result(make, X, None, n_jobs, options)


def _result(make, X, attribute, n_jobs, options):
    if attribute is not None:
        return np.asarray(getattr(make(n_jobs=n_jobs, **options).fit(X), attribute))
    result = make(X, n_jobs=n_jobs, **options)
    return tuple(map(np.asarray, result)) if isinstance(result, tuple) else result


def _as_in_memory(make, attribute=None, **options):
    def check(found):
        anything(found)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = _result(make, many.make(), attribute, 2, options)
        same = found == expected if isinstance(found, graphs.Graph) else _equal(found, expected)
        assert same, f"{found} instead of {expected}"

    return check


def _equal(found, expected):
    return all(map(np.array_equal, found, expected))


def stored():
    """What a store does."""
    values = np.arange(12.0).reshape(6, 2)
    with tempfile.TemporaryDirectory() as folder:
        store = scale.Store(folder)
        store.save("a", values)
        store.save("b", values[:2])
        store.join("all", ["a", "b"])
        inner = store.folder({"kind": "test"}, "inner")
        inner.save("c", values)
        results = {
            "all": np.array(store.load("all")),
            "part": np.array(store.load("a", 1, 3)),
            "whole": [store.is_whole("a", "b"), store.is_whole("c"), inner.is_whole("c")],
            "local": store.local_folder == Path(folder),
        }
        store.remove("a", "nothing")
        inner.delete()
        left = sorted(p.name for p in Path(folder).rglob("*"))
    with_temporary = scale.Store.temporary()
    with_temporary.save("d", values)
    return results | {"left": left, "temporary": np.array(with_temporary.load("d"))}


def npy(chunk_rows=None):
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/points.npy", many.make())
        found = scale.read_npy(f"{folder}/points.npy", chunk_rows)
        return {"chunks": found.chunks, "values": found.compute()}


CALLS = [
    *(
        call(in_cells, build, CHUNKED, **options, expect=_as_in_memory(build, **options))
        for build, options in [
            (graphs.knn, {"n_neighbors": 5}),
            (graphs.knn, {"n_neighbors": 5, "metric": "cosine"}),
            (graphs.knn, {"n_neighbors": 5, "metric": "manhattan"}),
            (graphs.mst, {}),
            (graphs.disjoint_mst, {"n_trees": 3}),
            (graphs.perturbed_mst, {"n_trees": 3, "random_state": 0}),
            (graphs.contextual, {"n_neighbors": 6}),
            (graphs.contextual_distance, {"n_neighbors": 6}),
            (graphs.l1, {}),
        ]
    ),
    *(
        call(in_cells, make, CHUNKED, name, **options, expect=_as_in_memory(make, name, **options))
        for make, name, options in [
            (vicinal.SpectralClustering, "labels_", {"n_clusters": 3, "random_state": 0}),
            (vicinal.PerceptualClustering, "labels_", {"n_clusters": 3, "random_state": 0}),
            (vicinal.PerceptualClustering, "noise_score_", {"random_state": 0}),
            (vicinal.OutlierDetector, "outlier_score_", {}),
            (vicinal.LaplacianEigenmaps, "embedding_", {"random_state": 0}),
            (vicinal.ClusterPreservingEmbedding, "embedding_", {"random_state": 0}),
        ]
    ),
    *(
        call(in_little_memory, build, CHUNKED, expect=_as_in_memory(build))
        for build in (graphs.knn, graphs.mst)
    ),
    call(on_cluster, graphs.disjoint_mst, CHUNKED, expect=_as_in_memory(graphs.disjoint_mst)),
    call(stored, expect=every({"all": array(8, 2), "left": equal(["all.npy", "b.npy"])})),
    call(npy, expect=every({"values": array(600, 3)})),
    call(npy, chunk_rows=100, expect=every({"values": array(600, 3)})),
    call(scale.config, cell_size=0, expect=error("cell_size=0")),
    call(scale.config, memory=5, expect=error("memory=5")),
    call(scale.read_npy, "nothing.npy", expect=error("nothing.npy", OSError, ValueError)),
]
