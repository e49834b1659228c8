"""`Assignment`: new rows, assigned to the clusters of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal._core.pickles import Stamped
from vicinal.exceptions import MissingDependencyError
from vicinal.report._tables import Column, Table

MAX_SHOWN_COLUMNS = 20


@dataclass(frozen=True, repr=False)
class Assignment(Stamped):
    """Result of `PerceptionModel.assign`.

    Parameters
    ----------
    ids : list of str
        Names of the new rows.
    labels : ndarray of int (m,)
        Cluster of each new row; -1 is noise.
    probabilities : ndarray (m, n_clusters + 1)
        Membership in each cluster, and last in the noise; rows sum to 1.
    noise_score : ndarray (m,)
        From 0 (typical) to 1; above 0.5 for noise.
    nearest : ndarray of int (m, k)
        Row numbers of the nearest training rows, nearest first; duplicates count as one row.
    nearest_ids : ndarray of str (m, k)
        Their names.
    distances : ndarray (m, k)
        Distances to them, after scaling.
    known : ndarray of int (m,)
        Row number of the training row that a new row equals; -1 for none.
    drift : list of dict
        For each column, how the new values differ from the training values, largest difference first.
    noise_before : float
        Fraction of noise among the training rows.
    notes : list of str
        Columns that were not used.

    Examples
    --------
    >>> import vicinal
    >>> X, _ = vicinal.datasets.make_two_moons(120, noise=0.05, random_state=0)
    >>> vicinal.perceive(X[:100], n_clusters=2, sample=50).model().assign(X[100:])
    Assignment(20 rows, 0 noise rows, 0 of 2 columns changed)
    """

    ids: list[str]
    labels: np.ndarray
    probabilities: np.ndarray
    noise_score: np.ndarray
    nearest: np.ndarray
    nearest_ids: np.ndarray
    distances: np.ndarray
    known: np.ndarray
    drift: list[dict[str, Any]]
    noise_before: float
    notes: list[str]

    @property
    def noise(self) -> float:
        """Fraction of noise among the new rows."""
        return float(np.mean(self.labels < 0))

    def columns(self) -> dict[str, np.ndarray]:
        """Collect the results as columns of a table, one row per new row.

        Returns
        -------
        dict of ndarray
            ``id``, ``cluster``, ``probability`` of this cluster (or of noise), ``noise_score``, the
            probability of each cluster and of noise, and names and distances of the nearest training rows.
        """
        columns = label_columns(self.ids, self.labels, self.probabilities, self.noise_score)
        n_clusters = self.probabilities.shape[1] - 1
        for j in range(n_clusters):
            columns[f"probability_{j}"] = self.probabilities[:, j]
        columns["probability_noise"] = self.probabilities[:, -1]
        for j in range(self.nearest.shape[1]):
            columns[f"nearest_{j + 1}"] = self.nearest_ids[:, j]
            columns[f"distance_{j + 1}"] = self.distances[:, j]
        return columns

    def to_frame(self) -> Any:
        """Tabulate the results as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            The columns of `columns`.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError(
                "to_frame requires pandas: pip install 'vicinal[cli]'."
            ) from error
        return pandas.DataFrame(self.columns())

    def summary(self) -> str:
        """Summarise clusters, noise and drift as text.

        Returns
        -------
        str
            Sentences and a table of the columns.
        """
        from vicinal.report._summary_text import text_table

        changed = [record for record in self.drift if record["changed"]]
        shown = self.drift[: max(len(changed), MAX_SHOWN_COLUMNS)]
        lines = [*self.notes, *self.findings(), "", text_table(drift_table(shown))]
        return "\n".join(lines)

    def findings(self) -> list[str]:
        """Say in sentences how many rows are noise, and which columns changed.

        Returns
        -------
        list of str
            A sentence per finding.
        """
        n, n_known = len(self.labels), int(np.count_nonzero(self.known >= 0))
        lines = [
            f"{n:,} rows assigned, {n_known:,} of them equal to training rows.",
            f"{self.noise:.1%} of the new rows are noise; {self.noise_before:.1%} of the training rows were.",
        ]
        changed = [record for record in self.drift if record["changed"]]
        if not changed:
            return [*lines, "No column differs clearly from the training rows."]
        names = ", ".join(repr(record["column"]) for record in changed[:5])
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        return [
            *lines,
            f"{len(changed)} of {len(self.drift)} columns differ clearly from the training rows: "
            f"{names}{more}. Clusters of such rows are less reliable; consider a new analysis.",
        ]

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        noise = int(np.count_nonzero(self.labels < 0))
        changed = sum(record["changed"] for record in self.drift)
        return (
            f"Assignment({len(self.labels):,} rows, {noise:,} noise rows, {changed} of "
            f"{len(self.drift)} columns changed)"
        )


def label_columns(
    ids: list[str], labels: np.ndarray, probabilities: np.ndarray, noise_score: np.ndarray
) -> dict[str, np.ndarray]:
    """Id, cluster, probability of this cluster (or of noise) and noise score of each row."""
    probability = probabilities[np.arange(len(labels)), labels]
    return {
        "id": np.array(ids, dtype=object),
        "cluster": labels,
        "probability": probability,
        "noise_score": noise_score,
    }


def drift_table(records: list[dict[str, Any]]) -> Table:
    """How columns of new rows differ from those of training rows."""
    columns = [
        Column("column", "column", "{}", "text"),
        Column("difference", "difference", "{:.2f}"),
        Column("shift", "shift", "{:+.2f}"),
        Column("outside", "outside", "{:.1%}"),
        Column("missing_before", "missing before", "{:.1%}"),
        Column("missing", "missing now", "{:.1%}"),
        Column("changed", "", lambda changed: "changed" if changed else "", "text"),
    ]
    caption = (
        "Columns of the new rows beside those of the training rows. Difference: of the two "
        "distributions, from 0 to 1. Shift: of the median, in robust standard deviations. Outside: "
        "fraction of values outside the range of the training rows, or in categories they do not have."
    )
    return Table(columns, records, caption)
