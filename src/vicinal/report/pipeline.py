"""`perceive`: every step from a table to what is in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from vicinal import __version__
from vicinal._core.options import seed_from
from vicinal._core.parallel import n_threads
from vicinal._core.validation import check_choice, check_count
from vicinal.report import fallbacks
from vicinal.report._checkpoints import CheckpointedRunner, fingerprint_of
from vicinal.report._preprocessing import CleanTable, RawTable, prepare, source_of
from vicinal.report._shared_inputs import SharedInputs
from vicinal.report._steps.clusters import Clusters, find_clusters
from vicinal.report._steps.exemplars import Exemplars, pick_exemplars
from vicinal.report._steps.graph_comparison import GraphComparison, compare_graphs
from vicinal.report._steps.label_scores import LabelScores, score_against
from vicinal.report._steps.maps import Maps, draw_maps
from vicinal.report._steps.n_clusters import ClusterCount, count_clusters
from vicinal.report._steps.neighborhoods import Neighborhoods, find_neighborhoods
from vicinal.report._steps.smoothing import Smoothing, smooth
from vicinal.report.result import Origin, Perception

SAMPLE = 2000
STEPS = [
    "neighbour structure",
    "number of clusters",
    "clusters and noise",
    "graphs compared",
    "maps",
    "smoothing",
    "typical and odd rows",
]


def perceive(
    X: Any,
    *,
    labels: Any = None,
    ids: Any = None,
    images: Any = None,
    n_clusters: int | str = "auto",
    scaling: str = "auto",
    sample: int = SAMPLE,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    verbose: int = 0,
    resume: Any = None,
) -> Perception:
    """Find what is in a table: its connections, clusters, noise, typical and odd rows, and how sure that is.

    Parameters
    ----------
    X : array (n, d), (n, height, width) or DataFrame
        Columns of a DataFrame that are not numbers are set aside and named. Missing and infinite values
        are replaced by the median of their column and counted, constant columns dropped and named.
    labels : array (n,) or str, optional
        Known classes, or the name of their column, to score the clusters against. Nothing else looks
        at them.
    ids : array (n,) or str, optional
        Names of the rows, or of the column that holds them; row numbers by default.
    images : array (n, height, width), optional
        Grey levels of a picture a row, which the report shows.
    n_clusters : int or "auto", default="auto"
        Number of clusters, noise not counted.
    scaling : {"auto", "none", "standard"}, default="auto"
        "auto" standardises columns unless their ranges are those of one unit.
    sample : int, default=2000
        Views that look at all pairs of rows take so many of them, drawn at random, if there are more.
        Clusters, noise scores and maps always cover all rows.
    random_state : int, RandomState or None, default=0
        Seed of all chance.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Above 0, tell each step and its time.
    resume : path, optional
        Folder in which results of finished steps are kept; a run with the same data and parameters takes
        them from there.

    Returns
    -------
    Perception
        Every table and array; prints as a summary, `Perception.to_html` writes the report. A step that
        fails does not end the run: its error is in ``failures``, and the report shows it in its place.

    Examples
    --------
    >>> import vicinal
    >>> X, arm = vicinal.datasets.make_two_moons(150, noise=0.05, random_state=0)
    >>> found = vicinal.perceive(X, labels=arm, sample=100)
    >>> found.n_clusters
    2
    >>> found.labels.shape, found.noise_score.shape
    ((150,), (150,))
    """
    source = source_of(X, labels, ids, images)
    return perceive_source(
        source,
        Origin(),
        n_clusters=n_clusters,
        scaling=scaling,
        sample=sample,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
        folder=None if resume is None else Path(resume),
    )


def perceive_source(
    source: RawTable,
    origin: Origin,
    *,
    n_clusters: int | str = "auto",
    scaling: str = "auto",
    sample: int = SAMPLE,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    verbose: int = 0,
    folder: Path | None = None,
) -> Perception:
    """`perceive` of a table that is known to come from ``origin``."""
    if isinstance(n_clusters, str):
        check_choice(n_clusters, "n_clusters", ("auto",))
    check_count(sample, "sample", low=50)
    n_threads(n_jobs)
    data = prepare(source, scaling)
    if not isinstance(n_clusters, str):
        remedy = f"There are {len(data.points)} rows."
        n_clusters = check_count(
            n_clusters, "n_clusters", high=len(data.points) // 3, remedy=remedy
        )
    # An int is kept as it is, so that the same number does the same in the snippet of the report.
    seed = random_state if isinstance(random_state, int) else seed_from(random_state)
    parameters = {
        "n_clusters": n_clusters,
        "scaling": scaling,
        "sample": sample,
        "random_state": seed,
    }
    names = [*STEPS, "scores against labels"] if data.labels is not None else STEPS
    fingerprint = fingerprint_of(
        [data.points, data.labels], {**parameters, "version": __version__, "names": data.names}
    )
    step = CheckpointedRunner(names, folder, fingerprint, verbose)
    scene = SharedInputs(data.points, sample, seed, n_jobs, verbose)
    # Threads are ours, over blocks; those inside matrix products would add in another order each time,
    # and on many small problems they only wait for each other.
    with threadpool_limits(limits=1):
        found = _walk(step, scene, data, n_clusters)
    return Perception(
        data=data,
        parameters=parameters,
        seconds=step.seconds,
        failures=step.failures,
        origin=origin,
        **found,
    )


def _walk(
    step: CheckpointedRunner, scene: SharedInputs, data: CleanTable, wanted: int | str
) -> dict[str, Any]:
    """All steps in their order; what each found, by the name it has in a `Perception`."""
    neighborhoods = step(
        "neighbour structure",
        Neighborhoods,
        lambda: find_neighborhoods(scene),
        lambda: fallbacks.no_neighborhoods(scene),
    )
    count = step(
        "number of clusters",
        ClusterCount,
        lambda: count_clusters(scene, wanted),
        lambda: fallbacks.no_count(wanted),
    )
    clusters = step(
        "clusters and noise",
        Clusters,
        lambda: find_clusters(scene, data, count.n_clusters),
        lambda: fallbacks.no_clusters(scene, data),
    )
    labels, score = clusters.labels, clusters.noise_score
    compared = step(
        "graphs compared",
        GraphComparison,
        lambda: compare_graphs(scene, labels),
        fallbacks.no_comparison,
    )
    maps = step("maps", Maps, lambda: draw_maps(scene), lambda: fallbacks.only_principal(scene))
    smoothing = step(
        "smoothing",
        Smoothing,
        lambda: smooth(scene, labels, score),
        lambda: fallbacks.no_smoothing(scene),
    )
    exemplars = step(
        "typical and odd rows",
        Exemplars,
        lambda: pick_exemplars(labels, score),
        fallbacks.no_exemplars,
    )
    scores = None
    if data.labels is not None:
        classes = data.labels
        scores = step(
            "scores against labels",
            LabelScores,
            lambda: score_against(classes, scene, clusters, count.n_clusters),
            lambda: LabelScores([], 0, 0),
        )
    return {
        "neighborhoods": neighborhoods,
        "count": count,
        "clusters": clusters,
        "graphs": compared,
        "maps": maps,
        "smoothing": smoothing,
        "exemplars": exemplars,
        "scores": scores,
    }
