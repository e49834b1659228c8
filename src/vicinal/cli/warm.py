"""``vicinal warm``: compile everything once, for images, containers and shared installations."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from vicinal.cli.cluster import METHODS as CLUSTERS
from vicinal.cli.embed import METHODS as EMBEDDINGS
from vicinal.cli.kinds import KINDS
from vicinal.cli.options import new_command
from vicinal.cli.rank import METHODS as RANKINGS

EXAMPLES = """\
examples:
  vicinal warm
  RUN vicinal warm                                    # in a Dockerfile, as the user who installs
  NUMBA_CACHE_DIR=/var/cache/vicinal vicinal warm     # set the same when it is used
"""
# Arguments that some graphs need, for the points below.
NEEDED = {"epsilon": {"radius": 0.3}, "beta": {"beta": 1.5}}
# Past the sizes at which searches and trees change their method.
MANY, FEW, WIDE = 3000, 300, 30


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    new_command(
        commands,
        "warm",
        run,
        "compile everything once and say where it is kept",
        "Compile everything once and keep it, so that no later call has to. Later processes load it from\n"
        "where it is kept, also those of users who cannot write there.",
        EXAMPLES,
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Call everything on a few points; count what was compiled, what was there, and where it is."""
    from vicinal._core import jit as _jit

    start = time.perf_counter()
    with warnings.catch_warnings():
        # What these points are like is no news; where their kernels cannot be kept is.
        warnings.filterwarnings("ignore")
        warnings.filterwarnings("default", message="compiled code")
        for call in calls():
            call()
    folders = {kernel._cache.cache_path for kernel in _jit.KERNELS} - {None}
    return {
        "compiled": sum(sum(kernel._cache_misses.values()) for kernel in _jit.KERNELS),
        "already_compiled": sum(sum(kernel._cache_hits.values()) for kernel in _jit.KERNELS),
        "seconds": round(time.perf_counter() - start, 1),
        "folders": [{"folder": folder} for folder in sorted(folders)],
    }


def calls() -> Iterator[Callable[[], Any]]:
    """Calls that between them use every kernel with the types it usually meets."""
    import numpy as np

    import vicinal
    from vicinal import graphs, semi

    rng = np.random.default_rng(0)
    centers = 4.0 * rng.random((3, WIDE))
    classes = np.arange(MANY) % 3
    wide = centers[classes] + rng.normal(0, 0.3, (MANY, WIDE))
    points, few, few_classes = wide[:, :3], wide[:FEW, :3], classes[:FEW]
    some_known = np.where(np.arange(FEW) < 30, few_classes, -1)

    for name, kind in KINDS.items():
        build = partial(getattr(graphs, kind.builder), **kind.fixed, **NEEDED.get(name, {}))
        yield partial(build, few)
        if name not in (
            "complete",
            "gaussian",
            "l1",
            "structure-aware-l1",
        ):  # slow with many points
            yield partial(build, points)
    for builder in (graphs.knn, graphs.mst, graphs.relative_neighborhood):
        yield partial(builder, wide)
        yield partial(builder, few, metric="manhattan")
    for method in CLUSTERS.values():
        yield partial(getattr(vicinal, method.estimator)(n_clusters=3, **method.fixed).fit, few)
    for method in (*EMBEDDINGS.values(), *RANKINGS.values()):
        yield partial(getattr(vicinal, method.estimator)(**method.fixed).fit, few)
    for learner in (semi.LabelPropagation, semi.GraphClassifier, semi.SimilarityVoteClassifier):
        yield partial(_fit_and_predict, learner(), few, some_known)
    yield partial(_fit_and_predict, semi.GraphRegressor(), few, few[:, 0])
    yield lambda: vicinal.SelfSmoothing().fit(few).transform(few[:5] + 0.01)
    yield lambda: vicinal.self_smooth(np.exp(-((few[:, None] - few) ** 2).sum(axis=2)), t=4)
    yield partial(vicinal.path_similarity, points)
    yield partial(vicinal.contextual_distance, few)
    yield lambda: vicinal.pagerank(graphs.knn(few))
    yield partial(vicinal.segment, rng.random((32, 32, 3)), 3)
    yield partial(vicinal.perceive, few, labels=few_classes)


def _fit_and_predict(model: Any, X: Any, y: Any) -> None:
    model.fit(X, y).predict(X[:5] + 0.01)
