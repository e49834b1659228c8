"""Which density modes are clusters, over several numbers of neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.cluster._density_modes import DensityModes, basins, thinness_within

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
    several = [item for view in views if (item := prominent_modes(view))[1] > 1]
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
        row[: len(view.prominence)] = view.prominence / _required_prominence(view.thinness)
    two_clearest = np.sort(relative, axis=0)[-2:].sum(axis=0) / min(len(views), 2)
    return int(np.count_nonzero(two_clearest >= 1.0)) + 1


def prominent_modes(view: DensityModes) -> tuple[DensityModes, int]:
    """The view with the modes that count first, and the number of clusters by the density at one scale.

    If prominences fall steeply after some mode, that mode is the last; otherwise all significant ones count.
    """
    steep = _n_steep(view)
    if steep > 1:
        return view, steep
    modes = _significant_modes(view)
    order = np.append(modes, np.setdiff1d(np.arange(len(view.prominence)), modes))
    peaks = np.append(view.peaks[0], view.peaks[1:][order])
    return view._replace(prominence=view.prominence[order], peaks=peaks), len(modes) + 1


def n_significant(view: DensityModes) -> int:
    """Number of clusters at one scale if all significant modes count."""
    return len(_significant_modes(view)) + 1


def _significant_modes(view: DensityModes) -> np.ndarray:
    """Modes after the densest that are significant at one scale, the most prominent first.

    The first mode has to exceed the largest possible error. After it, the r-th mode has to exceed the r-th
    largest error, which bounds the fraction of false modes (as Benjamini and Hochberg do) instead of the
    probability of any. On a curve more is required; so it is in a cluster that is a curve, even if all points
    together are compact: two nested rings fill a disc.
    """
    if _first_prominence(view) < 1.0:
        return np.empty(0, np.int64)
    prominence, required = view.prominence, _required_prominence(view.thinness)
    m = len(view.edges[2]) / view.n_neighbors
    log_ratios = np.log(m / np.arange(1, len(prominence) + 1))
    errors = np.sqrt(np.maximum(log_ratios, MIN_LOG_RATIO) / np.log(m))
    last = int(np.flatnonzero(prominence >= required * errors)[-1])
    significant = [0]
    labels, n_labelled = np.zeros(len(view.edges[2]), np.int64), 0
    for r in range(1, last + 1):
        if prominence[r] < MIN_PROMINENCE_ON_CURVES * errors[r]:
            if n_labelled < len(significant):
                n_labelled = len(significant)
                labels = basins(view, view.peaks[[0, *(i + 1 for i in significant)]])
            members = labels == labels[view.peaks[r + 1]]
            within = _required_prominence(thinness_within(view, members))
            if within > required and prominence[r] < within * errors[r]:
                continue
        significant.append(r)
    return np.array(significant)


def _agreed_fall(view: DensityModes, is_finest: bool) -> float:
    """Minimum fall of a scale that agrees with others, if it ends at a mode by chance.

    On curves, modes by chance are more prominent, so the fall to them is smaller by as much. Larger
    neighbourhoods reach from one curve to the next and lower the prominence of clusters, but hardly that of
    modes by chance; so coarser scales only have to have their largest fall at the same number.
    """
    if not is_finest and view.thinness >= THINNESS_OF_CURVES:
        return 1.0
    return MIN_PROMINENCE_FALL * MIN_PROMINENCE / _required_prominence(view.thinness)


def _n_steep(view: DensityModes, min_fall_to_chance: float = MIN_PROMINENCE_FALL) -> int:
    """Number of clusters before the steepest fall of the prominences; 1 if no fall is steep."""
    if _first_prominence(view) < 1.0:
        return 1
    next_modes = np.append(view.prominence[1:], 0.0)
    falls = view.prominence / np.maximum(next_modes, 1.0)
    steepest = int(np.argmax(falls))
    is_to_chance = next_modes[steepest] < _required_prominence(view.thinness)
    min_fall = min_fall_to_chance if is_to_chance else MIN_PROMINENCE_FALL
    return steepest + 2 if falls[steepest] >= min_fall else 1


def _first_prominence(view: DensityModes) -> float:
    """Prominence of the first mode after the densest, relative to the required one."""
    return (
        float(view.prominence[0]) / _required_prominence(view.thinness)
        if len(view.prominence)
        else 0.0
    )


def _required_prominence(thinness: float) -> float:
    """Prominence that sampling error does not reach in data of this thinness."""
    return float(
        np.interp(
            thinness,
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
