"""``vicinal warm``: compile kernels in advance, e.g. for containers and shared installations."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from vicinal.cli.cluster import METHODS as CLUSTERS
from vicinal.cli.embed import METHODS as EMBEDDINGS
from vicinal.cli.kinds import KINDS
from vicinal.cli.options import new_command
from vicinal.cli.rank import METHODS as RANKINGS

if TYPE_CHECKING:
    from vicinal._core.types import DescriptorLike

EXAMPLES = """\
examples:
  vicinal warm
  RUN vicinal warm                              # in a Dockerfile, as the user who will run the container
  NUMBA_CACHE_DIR=/srv/vicinal vicinal warm     # set the same variable at run time
"""
# Required arguments of some graphs, for the points below.
REQUIRED = {"epsilon": {"radius": 0.3}, "beta": {"beta": 1.5}}
# Graphs that are slow on many points and use the same kernels on few.
SMALL_ONLY = ("complete", "gaussian", "l1", "structure-aware-l1")
# Beyond the sizes at which searches and trees change their method.
N_LARGE, N_SMALL, N_COLUMNS, N_APPROXIMATE = 3000, 300, 30, 12_000


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    new_command(
        commands,
        "warm",
        run,
        "compile kernels in advance",
        "Compile all but rarely used kernels in advance and print where they are cached. Later processes\n"
        "load them if they may write to that folder, which numba asks for.",
        EXAMPLES,
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Call everything on a few points; returns counts of compiled and cached kernels, and the folders."""
    from vicinal._core import jit as _jit

    start = time.perf_counter()
    with warnings.catch_warnings():
        # Only warnings about the cache matter here, not those about the data.
        warnings.filterwarnings("ignore")
        warnings.filterwarnings("default", message="compiled code")
        for call in calls():
            call()
    used = [kernel.stats for kernel in _jit.KERNELS if kernel.signatures]
    folders = {stats.cache_path for stats in used} - {None}
    return {
        "compiled": sum(sum(stats.cache_misses.values()) for stats in used),
        "already_compiled": sum(sum(stats.cache_hits.values()) for stats in used),
        "seconds": round(time.perf_counter() - start, 1),
        "folders": [{"folder": folder} for folder in sorted(folders)],
    }


def calls() -> Iterator[Callable[[], Any]]:
    """Calls that together use all but rare kernels, with their usual types."""
    import numpy as np

    import vicinal

    rng = np.random.default_rng(0)
    centers = 4.0 * rng.random((3, N_COLUMNS))
    classes = np.arange(N_LARGE) % 3
    clusters = centers[classes] + rng.normal(0, 0.3, (N_LARGE, N_COLUMNS))
    # Without structure, a tree does not prune, so all pairs are compared.
    noise = rng.normal(size=(N_APPROXIMATE, N_COLUMNS))
    yield from _graphs(clusters, noise)
    yield from _similarities(clusters[:, :3])
    yield from _estimators(clusters[:N_SMALL, :3], classes[:N_SMALL])
    # Contexts of fewer members than columns.
    yield partial(_fit_and_predict, vicinal.PerceptualClustering(3), clusters[:N_SMALL], None)
    # Corrections on coarser levels, which need many nodes.
    yield lambda: vicinal.ManifoldRanking(alpha=0.999).fit(noise[:, :3]).rank([0], 5)
    if find_spec("dask"):
        yield from _cells(clusters[:, :3], noise[:N_LARGE])


def _graphs(wide: Any, noise: Any) -> Iterator[Callable[[], Any]]:
    import numpy as np

    from vicinal import graphs, operators
    from vicinal.neighbors import NeighborSearch

    points, small = wide[:, :3], wide[:N_SMALL, :3]
    for name, kind in KINDS.items():
        build = partial(getattr(graphs, kind.builder), **kind.fixed, **REQUIRED.get(name, {}))
        yield partial(build, small)
        if name not in SMALL_ONLY:
            yield partial(build, points)
    for builder in (graphs.knn, graphs.mst, graphs.disjoint_mst, graphs.relative_neighborhood):
        yield partial(builder, wide)
        yield partial(builder, small, metric="manhattan")
    yield partial(graphs.knn, noise[:N_LARGE], method="exact")
    yield partial(graphs.knn, noise, method="approximate")
    yield partial(NeighborSearch(np.tile(noise, (3, 1))).nearest, 5, noise[:1])
    yield partial(graphs.mst, noise[:N_LARGE])
    yield partial(graphs.epsilon_ball, noise[:N_LARGE], radius=5.0)
    yield partial(graphs.structure_aware_l1, small, n_neighbors=10)
    yield partial(graphs.structure_aware_l1, points[:1000], 10)
    yield partial(graphs.knn, np.repeat(small, 20, axis=0))
    digraph = graphs.knn(points, 10, directed=True)
    for size in (N_SMALL, N_LARGE):
        yield partial(operators.stationary_distribution, digraph.subgraph(np.arange(size)))
    yield partial(graphs.contextual_distance, wide[:N_SMALL], 10)
    yield partial(operators.aligned_digraph_laplacian, digraph)
    yield partial(operators.shortest_paths, graphs.knn(points), [0, 1])


def _similarities(points: Any) -> Iterator[Callable[[], Any]]:
    import numpy as np

    import vicinal

    small = points[:N_SMALL]
    distances = np.sqrt(((small[:, None] - small) ** 2).sum(axis=2))
    descriptors: dict[DescriptorLike, int] = {"coding_length": 10, "centroid": 10, "trivial": 1}
    for descriptor, k in descriptors.items():
        context = partial(vicinal.contextual_distance, n_neighbors=k, descriptor=descriptor)
        yield partial(context, small)
        if descriptor != "trivial":
            yield partial(context, distances, metric="precomputed", n_features=3)
    yield lambda: vicinal.SelfSmoothing().fit(small).transform(small[:5] + 0.01)
    yield lambda: vicinal.SelfSmoothing().fit(small).kneighbors(n_neighbors=5)
    yield lambda: vicinal.SelfSmoothing(method="sparse").fit(points).kneighbors(n_neighbors=5)
    yield partial(vicinal.self_smooth, np.exp(-(distances**2)), t=4)
    paths = vicinal.path_similarity(points)
    yield partial(paths.rows, [0, 1])
    yield partial(paths.pairs, [0], [1])
    yield partial(paths.clusters, 0.5)


def _estimators(small: Any, classes: Any) -> Iterator[Callable[[], Any]]:
    import numpy as np

    import vicinal
    from vicinal import semi_supervised

    partial_labels = np.where(np.arange(len(small)) < 30, classes, -1)
    for method in CLUSTERS.values():
        yield partial(getattr(vicinal, method.estimator)(n_clusters=3, **method.fixed).fit, small)
    for estimator in (vicinal.SpectralClustering, vicinal.PerceptualClustering):
        yield partial(estimator().fit, small)  # estimates the number of clusters
    for estimator in (vicinal.SpectralClustering, vicinal.PerceptualClustering):
        yield partial(_fit_and_predict, estimator(3), small, None)
    # Components that are merged have no eigenvectors, so the labels of neighbours are counted.
    apart = np.concatenate([small, small + 100.0])
    yield partial(_fit_and_predict, vicinal.SpectralClustering(1), apart, None)
    yield partial(vicinal.OutlierDetector().fit, small)
    yield partial(vicinal.near_duplicates, small)
    for method in (*EMBEDDINGS.values(), *RANKINGS.values()):
        yield partial(getattr(vicinal, method.estimator)(**method.fixed).fit, small)
    yield lambda: vicinal.LaplacianEigenmaps().fit(small).transform(small[:5] + 0.01)
    yield lambda: vicinal.Isomap(n_landmarks=50).fit(small).transform(small[:5] + 0.01)
    yield lambda: vicinal.ClusterPreservingEmbedding().fit(small).transform(small[:5] + 0.01)
    yield partial(vicinal.ClusterPreservingEmbedding(between_classes=0).fit, small, classes)
    for learner in (
        semi_supervised.LabelPropagation,
        semi_supervised.GraphClassifier,
        semi_supervised.SimilarityVoteClassifier,
    ):
        yield partial(_fit_and_predict, learner(), small, partial_labels)
    yield partial(_fit_and_predict, semi_supervised.GraphRegressor(), small, small[:, 0])
    yield lambda: vicinal.Reranker().fit(small).rank(small[:5] + 0.01, 5)
    yield partial(vicinal.segment, np.random.default_rng(0).random((32, 32, 3)), 3)
    yield partial(vicinal.perceive, small, labels=classes)


def _cells(points: Any, noise: Any) -> Iterator[Callable[[], Any]]:
    """Graphs of dask arrays, by cells on disk."""
    import dask.array as da

    from vicinal import graphs, scale

    def build(builder: Callable[..., Any], X: Any) -> None:
        with scale.config(cell_size=N_LARGE // 2):
            builder(da.from_array(X, chunks=(N_SMALL, -1)))

    for X in (points, noise):
        yield partial(build, graphs.knn, X)
        yield partial(build, graphs.mst, X)


def _fit_and_predict(model: Any, X: Any, y: Any) -> None:
    model.fit(X, y).predict(X[:5] + 0.01)
    model.predict(X[:1] + 0.01)  # one point has kernels of its own
