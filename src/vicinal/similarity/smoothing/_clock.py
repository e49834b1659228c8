"""One clock or none: whether one number of steps can suit all items.

A walk leaves an item with a rate that its similarities to the others set. Among near-duplicates it moves
at once, and from items far from all others hardly ever. If these rates differ very much, a number of
steps that suits the slow has long mixed the fast. No number of steps then improves on the distances, nor
does the kernel, whose local scales make sparse items as similar to each other as dense ones are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal.similarity.smoothing._auto_t import GRID

# Typical factor between the rate of an item and the average; beyond, items have no common clock.
MAX_FACTOR = 8.0
# The kernel of distances that are not smoothed is so wide that the farthest pair keeps its place.
LARGEST_EXPONENT = 600.0


def rate_factor(weights: Any) -> float:
    """Typical factor by which walks leave an item faster or slower than the average: exp of the standard
    deviation of the logarithms of rates.

    Items that no number of steps would leave all count alike.
    """
    diagonal = weights.diagonal()
    rates = np.asarray(weights.sum(axis=1)).ravel() - diagonal
    own = np.where(diagonal > 0, diagonal, 1.0)
    return float(np.exp(np.log(np.maximum(rates / own, 1.0 / GRID[-1])).std()))


def plain_width(distances: Any, scales: np.ndarray, bandwidth: float) -> tuple[float, float]:
    """One scale for all items, and a bandwidth at which each keeps the order of its distances."""
    scale = float((scales / len(scales)).sum())
    values = distances.data if sparse.issparse(distances) else distances
    farthest = float(values.max(initial=0.0))
    needed = (farthest / scale) ** 2 / LARGEST_EXPONENT if scale > 0 else 0.0
    return scale, max(bandwidth, needed)
