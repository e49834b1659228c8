"""`PerceptionModel`: what is kept of an analysis to assign new rows."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._base.contextual_extension import (
    NewContexts,
    TrainingContexts,
    new_contexts,
    symmetric_rows,
)
from vicinal._core.boxplot_scores import BoxplotScale, score_of
from vicinal._core.options import entry
from vicinal._core.pickles import Stamped
from vicinal._core.scalar_checks import check_count
from vicinal._core.suggestions import listing
from vicinal.cluster._noise_score import Unusualness, fit_unusualness
from vicinal.exceptions import InvalidValueError
from vicinal.graphs._build.duplicates import find_duplicates
from vicinal.neighbors import NeighborSearch
from vicinal.operators.eigenpairs import nystrom
from vicinal.report._drift import (
    Profile,
    compare_columns,
    profile_of,
    profiles_from_json,
    profiles_to_json,
)
from vicinal.report._model_check import ARRAY_TYPES, NOISE_TYPES, check_model
from vicinal.report._model_file import READ_ERRORS, read_model, reject, write_model
from vicinal.report._preparation import preparation_from_json, preparation_of
from vicinal.report._preprocessing import row_names
from vicinal.report.assignment import Assignment

if TYPE_CHECKING:
    from os import PathLike

    from vicinal._core.types import ArrayLike, NJobs, TableLike
    from vicinal.report.result import Perception

# A new row is outside if it is more unusual than all clustered training rows by this many quartile distances.
OUTSIDE_MARGIN = 1.0
# Probabilities that differ by less are equal.
TIE_WEIGHT = 1e-9
CLUSTERING = ("number of clusters", "clusters and noise")


class PerceptionModel(Stamped):
    """The clusters of an analysed table, to which new rows can be assigned.

    It is made by `Perception.save` and read by `load`. New rows belong to the clusters of their nearest
    training rows, weighted by contextual affinity, as in `vicinal.PerceptualClustering.predict_proba`.
    A new row is noise if the walk on contexts hardly visits it, as in `vicinal.PerceptualClustering.predict`,
    or if it is clearly farther out than every training row in a cluster. Training rows keep their clusters.

    Parameters
    ----------
    document : dict
        Description of the model, as in its file.
    arrays : dict of ndarray
        Arrays of the model, as in its file.

    Attributes
    ----------
    ids : list of str
        Names of the training rows.
    id_name : str or None
        The column that held them.
    labels : ndarray of int (n,)
        Their clusters; -1 is noise.
    noise_score : ndarray (n,)
        Their noise scores, from 0 (typical) to 1.
    probabilities : ndarray (n, n_clusters + 1)
        Their membership in each cluster, and last in the noise.
    n_clusters : int
        Number of clusters.
    names : list of str
        Columns that new rows need.

    Examples
    --------
    >>> import vicinal
    >>> X, _ = vicinal.datasets.make_two_moons(120, noise=0.05, random_state=0)
    >>> result = vicinal.perceive(X[:100], n_clusters=2, sample=50)
    >>> model = result.model()
    >>> model.assign(X[100:]).labels.shape
    (20,)
    """

    def __init__(self, document: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self._document, self._arrays = document, arrays
        self.ids: list[str] = document["ids"]
        self.id_name: str | None = document.get("id_name")
        self.labels = arrays["labels"]
        self.noise_score = arrays["noise_score"]
        self.probabilities = arrays["probabilities"]
        self.n_clusters = self.probabilities.shape[1] - 1
        self.names: list[str] = document["preparation"]["names"]
        self._preparation = preparation_from_json(document["preparation"])
        if arrays["points"].shape[1] != self._preparation.n_coordinates:
            raise InvalidValueError(
                "the columns and the points have different numbers of coordinates"
            )
        self._profiles: dict[str, Profile] = profiles_from_json(document["columns"])
        self._unusualness = Unusualness(*(BoxplotScale(*s) for s in document["noise_scales"]))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> PerceptionModel:
        """Read a model that `Perception.save` wrote.

        Reading runs no code: a file that is damaged, hostile or of a newer version raises an error.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        PerceptionModel
            The model.
        """
        path = Path(path)
        document, arrays = read_model(path, ARRAY_TYPES | NOISE_TYPES)
        try:
            check_model(document, arrays)
            return cls(document, arrays)
        except (AttributeError, *READ_ERRORS) as error:
            reject(path, str(error) if isinstance(error, ValueError) else f"damaged ({error!r})")

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the model as one file of arrays and JSON.

        Parameters
        ----------
        path : str or Path
            File to write, usually with the extension .vicinal.

        Returns
        -------
        Path
            The file.
        """
        path = Path(path)
        write_model(path, self._document, self._arrays)
        return path

    @entry
    def assign(
        self,
        X: TableLike,
        *,
        ids: ArrayLike | str | None = None,
        n_neighbors: int = 5,
        n_jobs: NJobs = -1,
    ) -> Assignment:
        """Assign new rows to the clusters.

        Parameters
        ----------
        X : DataFrame, dict of columns, list of dicts or array
            New rows. Columns are matched by name; other columns are not used. The columns of an array are
            those of the training table, in its order.
        ids : array (m,) or str, optional
            Names of the new rows, or the name of their column; by default the column of the names of the
            training rows, if X has it, otherwise row numbers.
        n_neighbors : int, default=5
            Number of nearest training rows in the result.
        n_jobs : int or None, default=-1
            Number of threads; -1 uses all cores. The result does not depend on it.

        Returns
        -------
        Assignment
            Cluster, probabilities, noise score and nearest training rows of each new row, and how the new
            rows differ from the training rows.
        """
        n_distinct = len(self._points)
        k = min(check_count(n_neighbors, "n_neighbors"), n_distinct)
        rows, names = self._read(X, ids)
        points = rows.points
        _check_reach(points, names)
        search = NeighborSearch(self._points, n_jobs=n_jobs)
        nearest, distances = search.nearest(k, queries=points)
        contexts = self._contexts(points, search, n_jobs)
        probabilities = contexts.steps.means(self.probabilities[self._representative])
        unusual = self._unusualness.of_new(self._points, search, points, n_jobs)
        is_noise = unusual > self._document["most_unusual_clustered"] + OUTSIDE_MARGIN
        is_noise |= self._hardly_visited(contexts)
        probabilities = _decided(probabilities, is_noise)
        # The nearest row decides a tie.
        first = np.eye(self.n_clusters + 1)[self.labels[self._representative[nearest[:, 0]]]]
        best = (probabilities + TIE_WEIGHT * first)[:, :-1].argmax(axis=1)
        labels = np.where(is_noise, -1, best)
        score = score_of(unusual, is_noise)
        known = self._training_rows(points)
        is_known = known >= 0
        labels[is_known] = self.labels[known[is_known]]
        score[is_known] = self.noise_score[known[is_known]]
        probabilities[is_known] = self.probabilities[known[is_known]]
        return Assignment(
            ids=names,
            labels=labels,
            probabilities=probabilities,
            noise_score=score,
            nearest=self._representative[nearest],
            nearest_ids=np.array(self.ids, dtype=object)[self._representative[nearest]],
            distances=distances,
            known=known,
            drift=compare_columns(self._profiles, rows.columns, len(self.labels)),
            noise_before=float(np.mean(self.labels < 0)),
            notes=rows.notes,
        )

    def _contexts(
        self, points: np.ndarray, search: NeighborSearch, n_jobs: int | None
    ) -> NewContexts:
        """Contexts of new rows among the distinct training rows, and those that they enter if known."""
        members = self._arrays.get("contexts")
        known = TrainingContexts(
            self._points,
            search,
            min(self._document["context"], len(self._points)),
            self._document["context_scale"],
            {"descriptor": "coding_length"},
            members,
        )
        return new_contexts(known, points, entered=members is not None)

    def _hardly_visited(self, contexts: NewContexts) -> np.ndarray:
        """Whether new rows are noise: nearer to the origin than the threshold, or mostly next to noise."""
        steps = contexts.steps
        if contexts.entered is None:
            return np.zeros(len(steps.indices), dtype=bool)
        rows = symmetric_rows(contexts, self._arrays["masses"], self._document["beta"])
        extended = nystrom(rows.means(self._arrays["directions"]), self._arrays["eigenvalues"])
        near = np.linalg.norm(extended, axis=1) < self._document["norm_threshold"]
        training_noise = self._arrays["labels"][self._representative] < 0
        return near | (steps.only(training_noise).values.sum(axis=1) > 0.5)

    @cached_property
    def _representative(self) -> np.ndarray:
        """First training row at each distinct point."""
        return np.unique(self._arrays["group"], return_index=True)[1]

    @property
    def _points(self) -> np.ndarray:
        return self._arrays["points"]

    def _read(self, X: Any, ids: Any) -> tuple[Any, list[str]]:
        from vicinal.tables._reading import column_names, read_columns

        if ids is None and self.id_name is not None:
            ids = self.id_name if self.id_name in (column_names(X) or ()) else None
        names = None if ids is None or isinstance(ids, str) else np.asarray(ids)
        if isinstance(ids, str):
            columns = {column.name: column.values for column in read_columns(X)}
            if ids not in columns:
                raise InvalidValueError(
                    f"ids={ids!r}, but the columns of X are {listing(columns)}."
                )
            names = columns[ids]
        rows = self._preparation.read(X)
        if isinstance(ids, str):
            rows = rows._replace(notes=[note for note in rows.notes if repr(ids) not in note])
        return rows, row_names(names, len(rows.points))

    def _training_rows(self, points: np.ndarray) -> np.ndarray:
        """The first training row at the point of each new row; -1 for none. Equal rows have equal points."""
        first = dict(zip(_keys(self._points), self._representative.tolist(), strict=True))
        return np.array([first.get(key, -1) for key in _keys(points)], dtype=np.int64)

    def __repr__(self) -> str:
        noise = int(np.count_nonzero(self.labels < 0))
        return (
            f"PerceptionModel({len(self.labels):,} rows, {len(self.names):,} columns, "
            f"{self.n_clusters} clusters, {noise:,} noise rows)"
        )


def model_of(result: Perception, n_jobs: int | None = -1) -> PerceptionModel:
    """The model of an analysis whose clustering did not fail."""
    failure = result.failure(*CLUSTERING, "neighbour structure")
    if failure is not None:
        raise InvalidValueError(f"there are no clusters to keep. {failure}")
    data, clusters = result.data, result.clusters
    representative, group = find_duplicates(data.points)
    points = data.points[representative]
    scales, unusual = fit_unusualness(points, n_jobs)
    clustered = unusual[result.labels[representative] >= 0]
    profiles = {name: profile_of(values) for name, values in data.given.items()}
    document = {
        "title": result.origin.title,
        "parameters": result.parameters,
        "method": clusters.method,
        "noise_threshold": clusters.noise_threshold,
        "context": result.neighborhoods.context,
        "context_scale": clusters.context_scale,
        "noise_scales": [list(scale) for scale in scales],
        "most_unusual_clustered": float(clustered.max()),
        "ids": list(data.ids),
        "preparation": preparation_of(data).to_json(),
        "columns": profiles_to_json(profiles),
    }
    arrays = {
        "points": points,
        "group": group.astype(np.int64),
        "labels": result.labels.astype(np.int64),
        "noise_score": result.noise_score,
        "probabilities": clusters.probabilities,
    }
    if data.id_name is not None:
        document["id_name"] = data.id_name
    walk = clusters.noise_walk
    if walk is not None:
        arrays |= {name: np.asarray(walk[name]) for name in NOISE_TYPES}
        document |= {"beta": walk["beta"], "norm_threshold": walk["threshold"]}
    return PerceptionModel(document, arrays)


def _decided(probabilities: np.ndarray, is_noise: np.ndarray) -> np.ndarray:
    """Probabilities in which noise is certain where a row is noise, and at most half elsewhere."""
    noise = np.where(is_noise, 1.0, np.minimum(probabilities[:, -1], 0.5))
    clusters = probabilities[:, :-1]
    total = clusters.sum(axis=1, keepdims=True)
    fallback = np.full_like(clusters, 1.0 / clusters.shape[1])
    fractions = np.divide(clusters, total, out=fallback, where=total > 0)
    return np.column_stack([fractions * (1.0 - noise)[:, None], noise])


def _keys(rows: np.ndarray) -> list[bytes]:
    # Adding 0 makes negative zeros positive.
    return [row.tobytes() for row in rows + 0.0]


def _check_reach(points: np.ndarray, names: list[str]) -> None:
    far = ~np.isfinite(points).all(axis=1)
    if far.any():
        raise InvalidValueError(
            f"row {names[int(np.argmax(far))]!r} has values so large that distances to it overflow; "
            "correct them."
        )
