"""`perceive`: run every analysis step on a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from threadpoolctl import threadpool_limits

from vicinal import __version__
from vicinal._core.options import entry, seed_from
from vicinal._core.parallel import together
from vicinal._core.scalar_checks import check_choice, check_count
from vicinal._core.tables import RawTable
from vicinal.report import fallbacks
from vicinal.report._checkpoints import CheckpointedRunner, fingerprint_of
from vicinal.report._preprocessing import CleanTable, prepare, raw_table
from vicinal.report._shared_inputs import SharedInputs
from vicinal.report._steps.clusters import Clusters, find_clusters
from vicinal.report._steps.exemplars import Exemplars, pick_exemplars
from vicinal.report._steps.explanations import Explanations, explain
from vicinal.report._steps.label_scores import LabelScores, score_against
from vicinal.report._steps.layers import Layers, find_layers
from vicinal.report._steps.maps import Maps, draw_maps
from vicinal.report._steps.n_clusters import ClusterCount, count_clusters
from vicinal.report._steps.neighborhoods import Neighborhoods, find_neighborhoods
from vicinal.report.result import Origin, Perception

if TYPE_CHECKING:
    from os import PathLike

    from vicinal._core.types import ArrayLike, NJobs, RandomStateLike, TableLike

N_SAMPLE = 2000
STEPS = [
    "neighbour structure",
    "number of clusters",
    "clusters and noise",
    "layers",
    "typical and atypical rows",
    "maps",
    "explanations",
]


@entry
def perceive(
    X: TableLike,
    *,
    labels: ArrayLike | str | None = None,
    ids: ArrayLike | str | None = None,
    images: ArrayLike | None = None,
    n_clusters: int | Literal["auto"] = "auto",
    scaling: Literal["auto", "none", "standard"] = "auto",
    kinds: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
    sample: int = N_SAMPLE,
    random_state: RandomStateLike = 0,
    n_jobs: NJobs = -1,
    verbose: int = 0,
    resume: str | PathLike[str] | None = None,
) -> Perception:
    """Analyse the structure of a table: graphs, clusters, noise, typical rows, and their reliability.

    Parameters
    ----------
    X : array (n, d), (n, height, width), DataFrame, dict of columns or list of dicts
        Columns of any kind, compared as `vicinal.TableEncoder` does; columns of an array have no names. A
        missing value counts as what the other columns lead to expect; constant columns, row names and free
        text are not used. The report says in one line per column what was done.
    labels : array (n,) or str, optional
        Known classes, or the name of their column. They are only used to score the clusters.
    ids : array (n,) or str, optional
        Names of the rows, or the name of their column; row numbers by default.
    images : array (n, height, width), optional
        One grey-level image per row, shown in the report.
    n_clusters : int or "auto", default="auto"
        Number of clusters, not counting noise.
    scaling : {"auto", "none", "standard"}, default="auto"
        "auto" takes numbers in robust units, weighted by what other columns say about them; images are taken
        as they are. "none" takes numbers as they are: use it for coordinates in one unit, such as places or
        embeddings. "standard" takes them in standard deviations.
    kinds : dict, optional
        Kinds of columns that are guessed otherwise, by name: see `vicinal.TableEncoder`.
    weights : dict, optional
        Weights of columns that are automatic otherwise, by name.
    sample : int, default=2000
        Number of rows sampled to measure how stable the clusters are, at most 1,000 of which are used;
        clusters, noise scores and maps always use all rows.
    random_state : int, Generator, RandomState or None, default=0
        Random seed.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Above 0, print each step and its time.
    resume : str or Path, optional
        Folder where finished steps are cached; a run with the same data and parameters reuses them.

    Returns
    -------
    Perception
        All tables and arrays. It prints as a summary; `Perception.to_html` writes the report. A failed
        step does not end the run: its error is in ``failures`` and in the report.

    Examples
    --------
    >>> import vicinal
    >>> X, arm = vicinal.datasets.make_two_moons(150, noise=0.05, random_state=0)
    >>> result = vicinal.perceive(X, labels=arm, sample=100)
    >>> result.n_clusters
    2
    >>> result.labels.shape, result.noise_score.shape
    ((150,), (150,))
    """
    return perceive_table(
        raw_table(X, labels, ids, images),
        Origin(),
        n_clusters=n_clusters,
        scaling=scaling,
        kinds=kinds,
        weights=weights,
        sample=sample,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
        folder=None if resume is None else Path(resume),
    )


@entry
def perceive_table(
    table: RawTable,
    origin: Origin,
    *,
    n_clusters: int | str = "auto",
    scaling: str = "auto",
    kinds: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None,
    sample: int = N_SAMPLE,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    verbose: int = 0,
    folder: Path | None = None,
) -> Perception:
    """`perceive` for a table whose ``origin`` is known."""
    if isinstance(n_clusters, str):
        check_choice(n_clusters, "n_clusters", ("auto",))
    check_count(sample, "sample", low=50)
    data = prepare(table, scaling, kinds=kinds, weights=weights)
    if not isinstance(n_clusters, str):
        remedy = f"There are {len(data.points)} rows."
        n_clusters = check_count(
            n_clusters, "n_clusters", high=len(data.points) // 3, remedy=remedy
        )
    # An int is passed on unchanged, so that the snippet of the report can use it.
    seed = random_state if isinstance(random_state, int) else seed_from(random_state)
    parameters = {
        "n_clusters": n_clusters,
        "scaling": scaling,
        **({"kinds": dict(kinds)} if kinds else {}),
        **({"weights": dict(weights)} if weights else {}),
        "sample": sample,
        "random_state": seed,
    }
    names = [*STEPS, "scores against labels"] if data.labels is not None else STEPS
    fingerprint = fingerprint_of(
        [data.points, data.labels], {**parameters, "version": __version__, "names": data.names}
    )
    step = CheckpointedRunner(names, folder, fingerprint, verbose)
    requested = None if isinstance(n_clusters, str) else n_clusters
    # Rows of rare categories are far from all others, but they are not noise.
    noise: Literal["auto", 0] = 0 if data.categories else "auto"
    inputs = SharedInputs(
        data.points, sample, seed, n_jobs, verbose, n_clusters=requested, noise=noise
    )
    # Threads inside matrix products would change the order of summation, and slow down small problems.
    with threadpool_limits(limits=1):
        results = run_steps(step, inputs, data, n_clusters)
    return Perception(
        data=data,
        parameters=parameters,
        seconds={name: step.seconds[name] for name in names},
        failures=step.failures,
        origin=origin,
        **results,
    )


def run_steps(
    step: CheckpointedRunner, inputs: SharedInputs, data: CleanTable, requested: int | str
) -> dict[str, Any]:
    """Run all steps; results by attribute of `Perception`."""
    neighborhoods = step(
        "neighbour structure",
        Neighborhoods,
        lambda: find_neighborhoods(inputs),
        lambda: fallbacks.no_neighborhoods(inputs),
    )
    count = step(
        "number of clusters",
        ClusterCount,
        lambda: count_clusters(inputs, requested),
        lambda: fallbacks.no_count(requested),
    )
    inputs.n_clusters = count.n_clusters
    clusters = step(
        "clusters and noise",
        Clusters,
        lambda: find_clusters(inputs, data, count.n_clusters),
        lambda: fallbacks.no_clusters(inputs, data),
    )
    layers = step(
        "layers",
        Layers,
        lambda: find_layers(inputs, clusters),
        lambda: fallbacks.only_reported(clusters),
    )
    inputs.release_walk()
    exemplars = step(
        "typical and atypical rows",
        Exemplars,
        lambda: pick_exemplars(clusters.labels, clusters.noise_score),
        fallbacks.no_exemplars,
    )
    # These do not depend on each other, and each of them is serial in part.
    independent: list[Callable[[], Any]] = [
        lambda: step(
            "maps", Maps, lambda: draw_maps(inputs), lambda: fallbacks.only_principal(inputs)
        ),
        lambda: step(
            "explanations",
            Explanations,
            lambda: explain(data, clusters, exemplars, inputs.seed, inputs.n_jobs),
            fallbacks.no_explanations,
        ),
    ]
    maps, explanations = together(*independent)
    scores = None
    if data.labels is not None:
        classes = data.labels
        scores = step(
            "scores against labels",
            LabelScores,
            lambda: score_against(classes, inputs, clusters, count.n_clusters),
            lambda: LabelScores([], 0, 0),
        )
    return {
        "neighborhoods": neighborhoods,
        "count": count,
        "clusters": clusters,
        "layers": layers,
        "maps": maps,
        "exemplars": exemplars,
        "explanations": explanations,
        "scores": scores,
    }
