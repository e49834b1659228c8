"""Why a row is unusual, in terms of distances and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from vicinal.outliers._voices import VOICES

SENTENCES = {
    "global": "far from all regions",
    "local": "far from its neighbours, relative to their distances from each other",
    "shape": "an unusual combination of values",
}


class Reason(NamedTuple):
    """Why a row is as unusual as it is.

    Attributes
    ----------
    voice : str
        The distance with the largest part in the score: "global", "local" or "shape".
    parts : dict
        The parts of all three.
    columns : list of (name, share)
        The columns with the largest parts in this distance.
    """

    voice: str
    parts: dict[str, float]
    columns: list[tuple[Any, float]]

    def __str__(self) -> str:
        named = ", ".join(f"{name} ({share:.0%})" for name, share in self.columns)
        return f"{SENTENCES[self.voice]}{f', mostly by {named}' if named else ''}"


def reason_of(
    parts: np.ndarray,
    shares: Callable[[str], np.ndarray | None],
    names: Sequence[Any],
    n_columns: int,
) -> Reason:
    """The reason of one row, from the parts of the voices and the function that tells those of the
    columns."""
    voice = VOICES[int(np.argmax(parts))]
    found = shares(voice)
    columns: list[tuple[Any, float]] = []
    if found is not None:
        largest = np.argsort(-found, kind="stable")[:n_columns]
        columns = [(names[i], float(found[i])) for i in largest if found[i] > 0]
    return Reason(voice, dict(zip(VOICES, parts.tolist(), strict=True)), columns)
