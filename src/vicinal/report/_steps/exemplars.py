"""Typical and atypical rows of each cluster."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

N_LISTED = 5


class Exemplars(NamedTuple):
    """Rows to look at.

    Attributes
    ----------
    clusters : list of dict
        For each cluster, the rows with the lowest noise scores (``typical``) and with the highest
        (``atypical``), most extreme first.
    noise : list of int
        Rows with the highest noise scores overall.
    """

    clusters: list[dict[str, Any]]
    noise: list[int]


def pick_exemplars(labels: np.ndarray, noise_score: np.ndarray) -> Exemplars:
    """Pick rows by noise score; ties go to the first row."""
    picked = []
    for label in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == label)
        order = members[np.argsort(noise_score[members], kind="stable")]
        # In a cluster too small for two full lists, no row is in both.
        half = min(N_LISTED, len(order) // 2)
        picked.append(
            {
                "cluster": label,
                "typical": order[: max(half, 1)].tolist(),
                "atypical": order[::-1][:half].tolist(),
            }
        )
    return Exemplars(picked, np.argsort(-noise_score, kind="stable")[:N_LISTED].tolist())
