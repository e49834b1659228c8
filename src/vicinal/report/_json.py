"""The main figures and tables of a report, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.report import _tables
from vicinal.report._conclusion import conclusion, defining_columns
from vicinal.report._summary_text import explain_n_clusters

if TYPE_CHECKING:
    from vicinal.report.result import Perception


def to_json(result: Perception) -> dict[str, Any]:
    """Figures by name, and tables as lists of records."""
    return {
        "conclusion": conclusion(result),
        "rows": len(result.labels),
        "columns": result.data.n_used,
        "notes": [*result.data.notes, result.data.why_scaling],
        "clusters": result.n_clusters,
        "why": explain_n_clusters(result),
        "stability": result.count.stability_of(result.count.n_clusters),
        "defining_columns": [column._asdict() for column in defining_columns(result)],
        "noise": int(np.count_nonzero(result.labels < 0)),
        "agreement": result.clusters.adjusted_rand,
        "dimension": result.neighborhoods.dimension,
        "duplicates": result.neighborhoods.n_duplicates,
        "columns_read": _tables.columns(result).to_json(),
        "sizes": _tables.clusters(result).to_json(),
        "explanations": result.explanations.clusters,
        "noise_reasons": result.explanations.noise,
        "scores": [] if result.scores is None else _tables.label_scores(result).to_json(),
        "parameters": result.parameters,
        "step_seconds": result.seconds,
        "failures": result.failures,
        "ids": list(result.data.ids),
        "labels": result.labels.tolist(),
    }
