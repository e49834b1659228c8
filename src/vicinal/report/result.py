"""`Perception`: all that was found in a table, as arrays, as a frame, as words and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vicinal.exceptions import MissingDependencyError
from vicinal.report._preprocessing import CleanTable
from vicinal.report._steps.clusters import Clusters
from vicinal.report._steps.exemplars import Exemplars
from vicinal.report._steps.graph_comparison import GraphComparison
from vicinal.report._steps.label_scores import LabelScores
from vicinal.report._steps.maps import Maps
from vicinal.report._steps.n_clusters import ClusterCount
from vicinal.report._steps.neighborhoods import Neighborhoods
from vicinal.report._steps.smoothing import Smoothing


class Origin(NamedTuple):
    """Where a table comes from: its name, the command, and lines of Python that read it as ``X``."""

    title: str = "a table"
    command: str | None = None
    reading: list[str] | None = None


@dataclass(frozen=True, repr=False)
class Perception:
    """What `vicinal.perceive` found.

    Attributes
    ----------
    data : Prepared
        The table as it was analysed, and what was done to it.
    neighborhoods : Neighborhoods
        Intrinsic dimension, hubs, duplicates.
    count : ClusterCount
        Number of clusters, with the curves it was read from.
    clusters : Clusters
        Clusters of every row by two methods, their agreement, noise scores.
    graphs : GraphComparison
    maps : Maps
        Coordinates of every row in the plane, by several methods.
    smoothing : Smoothing
        Similarities before and after self-smoothing.
    exemplars : Exemplars
        Typical and odd rows.
    scores : LabelScores or None
        With labels: each method against them.
    parameters : dict
    seconds : dict
        Time that each step took.
    failures : dict
        The error of each step that failed; what the step would have found is left neutral.
    origin : Origin
    """

    data: CleanTable
    neighborhoods: Neighborhoods
    count: ClusterCount
    clusters: Clusters
    graphs: GraphComparison
    maps: Maps
    smoothing: Smoothing
    exemplars: Exemplars
    scores: LabelScores | None
    parameters: dict[str, Any]
    seconds: dict[str, float]
    failures: dict[str, str]
    origin: Origin

    def failure(self, *steps: str) -> str | None:
        """That one of these steps failed, in words; None if none did."""
        for step in steps:
            if step in self.failures:
                return f"The step {step!r} failed: {self.failures[step]}"
        return None

    @property
    def n_clusters(self) -> int:
        """Number of clusters that were found; ``count.n_clusters`` were looked for."""
        return int(self.labels.max()) + 1

    @property
    def labels(self) -> np.ndarray:
        """Cluster of every row, -1 for noise."""
        return self.clusters.labels

    @property
    def noise_score(self) -> np.ndarray:
        """From 0, at home in the structure, to 1."""
        return self.clusters.noise_score

    def to_frame(self) -> Any:
        """A row for each row of the table: id, cluster, noise score, and its place in every map.

        Returns
        -------
        pandas.DataFrame
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError(
                "to_frame needs pandas: pip install 'vicinal[cli]'."
            ) from error
        columns: dict[str, Any] = {"id": self.data.ids}
        if self.data.labels is not None:
            columns[self.data.label_name] = [label or None for label in self.data.labels.tolist()]
        columns |= {
            "cluster": self.labels,
            "tree_cluster": self.clusters.tree_labels,
            "noise_score": self.noise_score,
        }
        for name, places in self.maps.coordinates.items():
            for axis, values in zip("xy", places.T, strict=True):
                columns[f"{name.replace(' ', '_')}_{axis}"] = values
        return pandas.DataFrame(columns)

    def to_html(self, path: Any) -> Path:
        """Write the report: one file that needs no network. All of it is written, or nothing.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        Path
        """
        from vicinal._core.files import atomic_write
        from vicinal.report._html.page import render

        path = Path(path)
        text = render(self)
        with atomic_write(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
        return path

    def summary(self) -> str:
        """What was found, in words and small tables."""
        from vicinal.report._summary_text import summary

        return summary(self)

    def snippet(self) -> str:
        """Lines of Python that get the same clusters."""
        from vicinal.report._snippet import snippet

        return snippet(self)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        n, d = self.data.points.shape
        noise = int(np.count_nonzero(self.labels < 0))
        return f"Perception({n:,} rows, {d:,} columns, {self.n_clusters} clusters, {noise:,} noise rows)"
