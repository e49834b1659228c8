"""Which density modes are clusters, over several numbers of neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.cluster._density_modes import DensityModes

# Minimum prominence of a cluster, in units of the largest sampling error, in compact data and on curves,
# where both the peak and the saddle can be errors. One cluster of any shape stays below on average over its
# two clearest scales (docs/guides/number-of-clusters.md).
MIN_PROMINENCE, MIN_PROMINENCE_ON_CURVES = 1.6, 2.2
# Thinness of compact data (a square has 1.3) and of curves.
THINNESS_OF_COMPACT, THINNESS_OF_CURVES = 1.3, 2.0
# A fall of the prominences by this factor separates clusters from modes by chance, as an eigengap does.
MIN_PROMINENCE_FALL = 2.5
# Lower bound of log(m / r) for late modes; without it less than one standard error would be enough.
MIN_LOG_RATIO = 0.32
# Modes are well separated if the weakest cluster is this many times as prominent as the next mode.
MIN_SEPARATION = 2.0


class ModeChoice(NamedTuple):
    """The scale and the number of clusters chosen by the density.

    The choice is certain if the fine scales agree on a steep fall of prominences.
    """

    view: DensityModes
    number: int
    is_certain: bool

    @property
    def is_separated(self) -> bool:
        return self.is_certain or separation(self.view, self.number) >= MIN_SEPARATION


def choose_modes(views: list[DensityModes]) -> ModeChoice:
    """Choose the scale and number of clusters from all scales.

    There is more than one cluster if the first mode is prominent enough on average over its two clearest
    scales. Then a steep fall at the finest scale decides if half of the scales agree; coarse scales alone
    miss small clusters. Modes after the fall count if they are as prominent as the first one has to be,
    except on curves, along which densities vary. Otherwise the number is the upper quartile over the scales
    with more than one cluster.
    """
    certain = _n_certain(views)
    if certain == 1:
        return ModeChoice(views[0], 1, False)
    several = [(view, number) for view in views if (number := n_prominent(view)) > 1]
    steep = [(view, _n_steep(view, _agreed_fall(view, view is views[0]))) for view in views]
    agreeing = [item for item in steep if item[1] == steep[0][1] > 1]
    if 2 * len(agreeing) >= len(views):
        if certain > steep[0][1] and views[0].thinness < THINNESS_OF_CURVES:
            agreeing = [(view, certain) for view in views if len(view.prominence) >= certain - 1]
        return ModeChoice(*max(agreeing, key=lambda item: separation(*item)), True)
    several.sort(key=lambda item: (item[1], separation(*item)))
    return ModeChoice(*several[(3 * len(several) - 1) // 4], False)


def _n_certain(views: list[DensityModes]) -> int:
    """Number of clusters that are prominent enough on average over the two clearest scales of each."""
    width = max(len(view.prominence) for view in views)
    relative = np.zeros((max(len(views), 2), width))
    for row, view in zip(relative, views, strict=False):
        row[: len(view.prominence)] = view.prominence / _required_prominence(view)
    two_clearest = np.sort(relative, axis=0)[-2:].sum(axis=0) / min(len(views), 2)
    return int(np.count_nonzero(two_clearest >= 1.0)) + 1


def n_prominent(view: DensityModes) -> int:
    """Number of clusters by the density at one scale.

    If prominences fall steeply after some mode, that mode is the last; otherwise the last significant one.
    """
    steep = _n_steep(view)
    return steep if steep > 1 else n_significant(view)


def n_significant(view: DensityModes) -> int:
    """Number of significant modes at one scale.

    The first mode has to exceed the largest possible error. After it, the r-th mode has to exceed the r-th
    largest error, which bounds the fraction of false modes (as Benjamini and Hochberg do) instead of the
    probability of any.
    """
    if _first_prominence(view) < 1.0:
        return 1
    prominence, required = view.prominence, _required_prominence(view)
    m = len(view.edges[2]) / view.n_neighbors
    log_ratios = np.log(m / np.arange(1, len(prominence) + 1))
    thresholds = required * np.sqrt(np.maximum(log_ratios, MIN_LOG_RATIO) / np.log(m))
    return int(np.flatnonzero(prominence >= thresholds)[-1]) + 2


def _agreed_fall(view: DensityModes, is_finest: bool) -> float:
    """Minimum fall of a scale that agrees with others, if it ends at a mode by chance.

    On curves, modes by chance are more prominent, so the fall to them is smaller by as much. Larger
    neighbourhoods reach from one curve to the next and lower the prominence of clusters, but hardly that of
    modes by chance; so coarser scales only have to have their largest fall at the same number.
    """
    if not is_finest and view.thinness >= THINNESS_OF_CURVES:
        return 1.0
    return MIN_PROMINENCE_FALL * MIN_PROMINENCE / _required_prominence(view)


def _n_steep(view: DensityModes, min_fall_to_chance: float = MIN_PROMINENCE_FALL) -> int:
    """Number of clusters before the steepest fall of the prominences; 1 if no fall is steep."""
    if _first_prominence(view) < 1.0:
        return 1
    next_modes = np.append(view.prominence[1:], 0.0)
    falls = view.prominence / np.maximum(next_modes, 1.0)
    steepest = int(np.argmax(falls))
    is_to_chance = next_modes[steepest] < _required_prominence(view)
    min_fall = min_fall_to_chance if is_to_chance else MIN_PROMINENCE_FALL
    return steepest + 2 if falls[steepest] >= min_fall else 1


def _first_prominence(view: DensityModes) -> float:
    """Prominence of the first mode after the densest, relative to the required one."""
    return float(view.prominence[0]) / _required_prominence(view) if len(view.prominence) else 0.0


def _required_prominence(view: DensityModes) -> float:
    """Prominence that sampling error does not reach at this scale."""
    return float(
        np.interp(
            view.thinness,
            [THINNESS_OF_COMPACT, THINNESS_OF_CURVES],
            [MIN_PROMINENCE, MIN_PROMINENCE_ON_CURVES],
        )
    )


def separation(view: DensityModes, number: int) -> float:
    """Prominence of the weakest of this many clusters, relative to the next mode."""
    if number < 2:
        return 0.0
    following = view.prominence[number - 1] if number - 1 < len(view.prominence) else 0.0
    return float(view.prominence[number - 2] / max(following, 0.5))
