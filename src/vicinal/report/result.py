"""`Perception`: the results of an analysis, as arrays, DataFrame, text and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vicinal._core.options import entry
from vicinal.exceptions import MissingDependencyError
from vicinal.report._document import Document
from vicinal.report._preprocessing import CleanTable
from vicinal.report._steps.clusters import Clusters
from vicinal.report._steps.exemplars import Exemplars
from vicinal.report._steps.explanations import Explanations
from vicinal.report._steps.label_scores import LabelScores
from vicinal.report._steps.layers import Layers
from vicinal.report._steps.maps import Maps
from vicinal.report._steps.n_clusters import ClusterCount
from vicinal.report._steps.neighborhoods import Neighborhoods

if TYPE_CHECKING:
    from os import PathLike

    from vicinal._core.types import NJobs
    from vicinal.report.model import PerceptionModel


class Origin(NamedTuple):
    """Origin of a table: its name, the command, and lines of Python that read it as ``X``."""

    title: str = "Table"
    command: str | None = None
    reading: list[str] | None = None


@dataclass(frozen=True, repr=False)
class Perception(Document):
    """Result of `vicinal.perceive`.

    Printing it shows a summary; a notebook shows the report.

    Parameters
    ----------
    data : CleanTable
        The analysed table, and what was done to it.
    neighborhoods : Neighborhoods
        Nearest rows, intrinsic dimension, hubs and duplicates.
    count : ClusterCount
        Number of clusters and the evidence for it.
    clusters : Clusters
        Clusters of every row by two methods, their agreement, and noise scores.
    layers : Layers
        The clusters merged into fewer, and divided into more.
    maps : Maps
        Coordinates of every row in the plane by several methods.
    exemplars : Exemplars
        Typical and atypical rows.
    explanations : Explanations
        What distinguishes each cluster, rules for clusters, and why rows are noise.
    scores : LabelScores or None
        Every method scored against known labels; None without labels.
    parameters : dict
        Parameters of the run.
    seconds : dict
        Wall time per step; some steps run at the same time.
    failures : dict
        Error message of each failed step, whose result is a neutral placeholder.
    origin : Origin
        Name of the table and how to read it.

    Examples
    --------
    >>> import vicinal
    >>> X, _ = vicinal.datasets.make_two_moons(100, noise=0.05, random_state=0)
    >>> vicinal.perceive(X, n_clusters=2, sample=50)
    Perception(100 rows, 2 columns, 2 clusters, 0 noise rows)
    """

    data: CleanTable
    neighborhoods: Neighborhoods
    count: ClusterCount
    clusters: Clusters
    layers: Layers
    maps: Maps
    exemplars: Exemplars
    explanations: Explanations
    scores: LabelScores | None
    parameters: dict[str, Any]
    seconds: dict[str, float]
    failures: dict[str, str]
    origin: Origin

    def failure(self, *steps: str) -> str | None:
        """Describe the failure of the first of these steps that failed.

        Parameters
        ----------
        *steps : str
            Names of steps.

        Returns
        -------
        str or None
            A sentence; None if all of them succeeded.
        """
        for step in steps:
            if step in self.failures:
                return f"The step {step!r} failed: {self.failures[step]}"
        return None

    @property
    def n_clusters(self) -> int:
        """Number of clusters found; ``count.n_clusters`` is the number requested or estimated."""
        return int(self.labels.max()) + 1

    @property
    def labels(self) -> np.ndarray:
        """Cluster of every row; -1 is noise."""
        return self.clusters.labels

    @property
    def noise_score(self) -> np.ndarray:
        """Noise score of every row, from 0 (typical) to 1 (outside the structure)."""
        return self.clusters.noise_score

    @property
    def probabilities(self) -> np.ndarray:
        """Membership of every row in each cluster, and last in the noise; rows sum to 1."""
        return self.clusters.probabilities

    @entry
    def model(self, *, n_jobs: NJobs = -1) -> PerceptionModel:
        """Keep what is needed to assign new rows to the clusters.

        Parameters
        ----------
        n_jobs : int or None, default=-1
            Number of threads; -1 uses all cores. The result does not depend on it.

        Returns
        -------
        PerceptionModel
            The model; its `PerceptionModel.assign` assigns new rows.
        """
        from vicinal.report.model import model_of

        return model_of(self, n_jobs)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write what is needed to assign new rows as one file of arrays and JSON.

        Maps and the report are not part of it: it holds the prepared rows, their clusters,
        probabilities and noise scores. `PerceptionModel.load` reads it, without running any code from it.

        Parameters
        ----------
        path : str or Path
            File to write, usually with the extension .vicinal.

        Returns
        -------
        Path
            The file.
        """
        return self.model().save(path)

    def to_frame(self) -> Any:
        """Tabulate id, cluster, noise score and map coordinates, one row per row of the table.

        Returns
        -------
        pandas.DataFrame
            Columns ``id``, the label column if there is one, ``cluster``, ``other_cluster``,
            ``noise_score``, and two columns per map.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError(
                "to_frame requires pandas: pip install 'vicinal[cli]'."
            ) from error
        columns: dict[str, Any] = {"id": self.data.ids}
        if self.data.labels is not None:
            columns[self.data.label_name] = [label or None for label in self.data.labels.tolist()]
        columns |= {
            "cluster": self.labels,
            "other_cluster": self.clusters.other_labels,
            "noise_score": self.noise_score,
        }
        for name, coordinates in self.maps.coordinates.items():
            for axis, values in zip("xy", coordinates.T, strict=True):
                columns[f"{name.replace(' ', '_')}_{axis}"] = values
        return pandas.DataFrame(columns)

    def _page(self) -> str:
        from vicinal.report._html.page import render

        return render(self)

    def _summary(self) -> str:
        from vicinal.report._summary_text import summary

        return summary(self)

    def snippet(self) -> str:
        """Write Python code that reproduces the clusters.

        Returns
        -------
        str
            Code that uses the estimator only.
        """
        from vicinal.report._snippet import snippet

        return snippet(self)

    def __repr__(self) -> str:
        n, d = len(self.labels), self.data.n_used
        noise = int(np.count_nonzero(self.labels < 0))
        return f"Perception({n:,} rows, {d:,} columns, {self.n_clusters} clusters, {noise:,} noise rows)"

    def _repr_html_(self) -> str:
        from vicinal.report._html.page import render_inline

        return render_inline(self)
