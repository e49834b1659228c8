"""Automatic kernel width for path-based similarities.

If the kernel is so wide that 1 - s is small everywhere, -log s is proportional to the squared length of
the worst step of the best path. Differences between clusters stay proportional, and a wider kernel changes
only the unit. With a narrow kernel all similarities of outliers vanish, so each becomes a cluster of its
own. The chosen width gives an average pair 0.9 of the largest similarity: nearly wide, but narrow enough
that points far from everything saturate instead of dominating.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.similarity.paths._merge_tree import MergeTree

# Mean similarity of a pair, relative to the largest similarity, at the chosen width.
TARGET_MEAN_SIMILARITY = 0.9
# Widths of the stored curve, relative to the chosen one.
RELATIVE_WIDTHS = 2.0 ** np.linspace(-4, 4, 17)
MAX_NEWTON_STEPS = 100
# Heights that differ by less, relative to the range of heights, are equal.
HEIGHT_TOLERANCE = 1e-9


class SigmaCurve(NamedTuple):
    """Mean similarity of a pair at each width; the chosen width is where it crosses 0.9."""

    sigmas: np.ndarray
    mean_similarity: np.ndarray


def choose_sigma(tree: MergeTree) -> tuple[float, SigmaCurve]:
    """Width at which an average pair has 0.9 of the largest similarity, and the curve around it.

    Pairs as similar as the most similar pair, for example duplicates, are ignored.

    Parameters
    ----------
    tree : MergeTree
        Its heights are the costs -2 sigma^2 log s in the limit of a wide kernel.
    """
    joined = np.isfinite(tree.heights)
    heights = tree.heights[joined]
    pairs = tree.n_pairs[joined]
    above = heights - heights.min(initial=np.inf)
    largest = above.max(initial=0.0)
    # Pairs tied with the most similar one are tied at any width.
    not_tied = above > HEIGHT_TOLERANCE * largest
    if not not_tied.any():
        sigma = float(np.sqrt(heights[0])) if len(heights) and heights[0] > 0 else 1.0
        return sigma, SigmaCurve(sigma * RELATIVE_WIDTHS, np.ones(len(RELATIVE_WIDTHS)))
    above, pairs = above[not_tied] / largest, pairs[not_tied] / pairs[not_tied].sum()

    def mean_similarity(rate: float) -> tuple[float, float]:
        """Mean of exp(-rate * height), and its negative derivative."""
        with np.errstate(under="ignore"):
            terms = pairs * np.exp(-rate * above)
        return float(terms.sum()), float(terms @ above)

    # The mean is convex in the rate, and by Jensen's inequality the start is below the root: Newton's method
    # approaches the root without overshooting.
    rate = -np.log(TARGET_MEAN_SIMILARITY) / float(pairs @ above)
    for _ in range(MAX_NEWTON_STEPS):
        mean, slope = mean_similarity(rate)
        if mean - TARGET_MEAN_SIMILARITY <= 1e-12:
            break
        rate += (mean - TARGET_MEAN_SIMILARITY) / slope
    sigma = float(np.sqrt(largest) * np.sqrt(0.5 / rate))
    curve = np.array([mean_similarity(rate / width**2)[0] for width in RELATIVE_WIDTHS])
    return sigma, SigmaCurve(sigma * RELATIVE_WIDTHS, curve)
