"""The width of the kernel behind path-based similarities, read off the data.

With a kernel so wide that 1 - s is small everywhere, -log s is in proportion to the squared length of the
worst step of the best path, so differences between clusters are kept in proportion too, and widening
the kernel further changes nothing but the unit. Narrow kernels turn outliers into clusters of their own: all
their similarities vanish. The choice is the width at which an average pair has nine tenths of the
largest similarity: near the wide end, while what is far from everything saturates instead of taking over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.similarity.paths._merge_tree import MergeTree

# Mean similarity of a pair, relative to the largest, that the width is chosen for.
TYPICAL = 0.9
# Widths of the stored curve, in units of the chosen one.
WIDTHS = 2.0 ** np.linspace(-4, 4, 17)
STEPS = 100
TIED = 1e-9


class SigmaCurve(NamedTuple):
    """Widths, and the mean similarity of a pair at each; the choice is where it crosses 0.9."""

    sigmas: np.ndarray
    mean_similarity: np.ndarray


def choose_sigma(tree: MergeTree) -> tuple[float, SigmaCurve]:
    """The width at which an average pair has 0.9 of the largest similarity, and the curve around it.

    Pairs that are as similar as the most similar one, duplicates for instance, are not counted.

    Parameters
    ----------
    tree : MergeTree
        Of the costs in the limit of a wide kernel, which are -2 sigma^2 log s.
    """
    joined = np.isfinite(tree.heights)
    heights = tree.heights[joined]
    pairs = tree.n_pairs[joined]
    above = heights - heights.min(initial=np.inf)
    largest = above.max(initial=0.0)
    # Pairs that tie with the most similar one would stay so at any width.
    apart = above > TIED * largest
    if not apart.any():
        sigma = float(np.sqrt(heights[0])) if len(heights) and heights[0] > 0 else 1.0
        return sigma, SigmaCurve(sigma * WIDTHS, np.ones(len(WIDTHS)))
    above, pairs = above[apart] / largest, pairs[apart] / pairs[apart].sum()

    def mean_similarity(rate: float) -> tuple[float, float]:
        """Mean of exp(-rate * height), and how fast it falls."""
        with np.errstate(under="ignore"):
            shares = pairs * np.exp(-rate * above)
        return float(shares.sum()), float(shares @ above)

    # The mean is convex in the rate: from below the root, where Jensen's inequality puts the start, Newton's
    # steps approach it without passing it.
    rate = -np.log(TYPICAL) / float(pairs @ above)
    for _ in range(STEPS):
        mean, fall = mean_similarity(rate)
        if mean - TYPICAL <= 1e-12:
            break
        rate += (mean - TYPICAL) / fall
    sigma = float(np.sqrt(largest) * np.sqrt(0.5 / rate))
    curve = np.array([mean_similarity(rate / width**2)[0] for width in WIDTHS])
    return sigma, SigmaCurve(sigma * WIDTHS, curve)
