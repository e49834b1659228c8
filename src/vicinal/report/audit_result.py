"""`Audit`: the findings about a data set, as arrays, DataFrame, JSON, text and HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.exceptions import MissingDependencyError
from vicinal.report._document import Document

if TYPE_CHECKING:
    from vicinal.duplicates.result import NearDuplicates
    from vicinal.report._audit.copies import Leakage
    from vicinal.report._audit.label_doubts import LabelDoubts
    from vicinal.report._audit.rows import Hubs, Outliers, Typicality
    from vicinal.report._preprocessing import CleanTable
    from vicinal.report.result import Origin

# Labels that are wrong with a higher probability are doubtful.
MIN_DOUBT = 0.5


@dataclass(frozen=True, repr=False)
class Audit(Document):
    """Result of `vicinal.audit`.

    Printing it shows a summary; a notebook shows the report.

    Parameters
    ----------
    data : CleanTable
        The checked table, and what was done to it.
    duplicates : NearDuplicates
        Near-duplicate pairs and groups.
    outliers : Outliers
        Outlier scores and the outliers.
    label_doubts : LabelDoubts or None
        Probability that each label is wrong; None without labels.
    conflicts : ndarray of int or None
        Rows with a near-duplicate that has another label; None without labels.
    leakage : Leakage or None
        Near-duplicates between splits; None without splits.
    typicality : Typicality
        Typical and odd rows, of each class if there are labels.
    hubs : Hubs
        Rows in many neighbour lists.
    parameters : dict
        Parameters of the run.
    origin : Origin
        Name of the table and how to read it.

    Examples
    --------
    >>> import vicinal
    >>> X, y = vicinal.datasets.make_two_moons(100, noise=0.05, random_state=0)
    >>> vicinal.audit(X, y)
    Audit(100 rows: 0 near-duplicates, 0 outliers, 0 doubtful labels)
    """

    data: CleanTable
    duplicates: NearDuplicates
    outliers: Outliers
    label_doubts: LabelDoubts | None
    conflicts: np.ndarray | None
    leakage: Leakage | None
    typicality: Typicality
    hubs: Hubs
    parameters: dict[str, Any]
    origin: Origin

    @property
    def doubtful_rows(self) -> np.ndarray:
        """Rows whose label is more likely wrong than right, the most doubtful first."""
        if self.label_doubts is None:
            return np.empty(0, np.int64)
        probability, support = self.label_doubts.probability, self.label_doubts.support
        rows = np.flatnonzero(probability > MIN_DOUBT)
        return rows[np.lexsort([rows, support[rows], -probability[rows]])]

    @property
    def leaking_rows(self) -> np.ndarray:
        """Rows with a near-duplicate in another split."""
        return np.empty(0, np.int64) if self.leakage is None else self.leakage.rows

    def to_frame(self) -> Any:
        """Tabulate the findings, one row per row of the table.

        Returns
        -------
        pandas.DataFrame
            Columns ``id``, the label column and ``split`` if they were given, ``duplicate_group`` (-1 without
            near-duplicate), ``keep`` (False for rows that another row of their group represents),
            ``outlier``, ``outlier_score``, ``typicality``, ``neighbor_lists`` (occurrences among the 10
            nearest neighbours of other rows), with labels ``doubtful_label``,
            ``wrong_label_probability``, ``label_support``, ``suggested_label`` and
            ``conflicting_duplicate``, with splits ``leaks_to``.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError(
                "to_frame requires pandas: pip install 'vicinal[cli]'."
            ) from error
        return pandas.DataFrame(self.columns())

    def columns(self) -> dict[str, Any]:
        """Get the columns of `to_frame` by name.

        Returns
        -------
        dict
            One array or list per column.
        """
        n = len(self.data.ids)
        columns: dict[str, Any] = {"id": self.data.ids}
        if self.data.labels is not None:
            columns[self.data.label_name] = [label or None for label in self.data.labels.tolist()]
        if self.leakage is not None:
            columns["split"] = [split or None for split in self.leakage.splits.tolist()]
        columns |= {
            "duplicate_group": self.duplicates.labels,
            "keep": self.duplicates.keep,
            "outlier": np.isin(np.arange(n), self.outliers.rows),
            "outlier_score": self.outliers.score,
            "typicality": self.typicality.rank,
            "neighbor_lists": self.hubs.occurrences,
        }
        if self.label_doubts is not None:
            assert self.conflicts is not None
            columns |= {
                "doubtful_label": np.isin(np.arange(n), self.doubtful_rows),
                "wrong_label_probability": self.label_doubts.probability,
                "label_support": self.label_doubts.support,
                "suggested_label": [name or None for name in self.label_doubts.suggested.tolist()],
                "conflicting_duplicate": np.isin(np.arange(n), self.conflicts),
            }
        if self.leakage is not None:
            columns["leaks_to"] = [self.leakage.described(row) or None for row in range(n)]
        return columns

    def to_json(self) -> dict[str, Any]:
        """Collect the main figures and the listed rows for JSON.

        Returns
        -------
        dict
            Numbers, strings, lists and dicts only.
        """
        from vicinal.report._audit.tables import to_json

        return to_json(self)

    def _page(self) -> str:
        from vicinal.report._audit.page import render

        return render(self)

    def _summary(self) -> str:
        from vicinal.report._audit.text import summary

        return summary(self)

    def __repr__(self) -> str:
        from vicinal.report._summary_text import plural

        n_duplicates = int((self.duplicates.labels >= 0).sum())
        parts = [
            plural(n_duplicates, "near-duplicate"),
            plural(len(self.outliers.rows), "outlier"),
        ]
        if self.label_doubts is not None:
            parts.append(plural(len(self.doubtful_rows), "doubtful label"))
        if self.leakage is not None:
            parts.append(plural(len(self.leaking_rows), "leaking row"))
        return f"Audit({plural(len(self.data.ids), 'row')}: {', '.join(parts)})"

    def _repr_html_(self) -> str:
        from vicinal.report._audit.page import render_inline

        return render_inline(self)
