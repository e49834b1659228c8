"""Which modes of the density are clusters, over several numbers of neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vicinal.cluster._density_modes import DensityModes

# Prominence, in units of the largest sampling error, from which a mode is a cluster: in compact data and on
# curves. One cluster of any shape stays below (docs/guides/number-of-clusters.md).
PROMINENT, PROMINENT_IF_THIN = 1.5, 1.9
# Thinness of compact data (a square has 1.3) and of curves.
COMPACT, THIN = 1.3, 2.0
# Prominences that fall by this factor, as eigenvalues do, end the clusters there.
STEEP = 2.5
# Least log number of errors as large as that of the last mode, or one standard error would be enough.
LEAST = 0.32
# Modes are clear if the weakest cluster is this many times as prominent as the strongest mode left out.
CLEAR = 2.0


class ModeChoice(NamedTuple):
    """The scale and the number of clusters that the density speaks for.

    It is certain if the fine scales agree on a steep fall of prominences.
    """

    view: DensityModes
    number: int
    is_certain: bool

    @property
    def is_clear(self) -> bool:
        return self.is_certain or clearness(self.view, self.number) >= CLEAR


def choose_modes(views: list[DensityModes]) -> ModeChoice:
    """The scale and number of clusters that speak for all scales.

    A steep fall at the finest scale decides if half of the scales show it; coarse ones alone miss small
    clusters. Otherwise it is the upper quartile of the scales that show clusters.
    """
    found = [(view, n_prominent(view)) for view in views]
    several = [item for item in found if item[1] > 1]
    if not several:
        return ModeChoice(*found[0], False)
    steep = [(view, _n_steep(view)) for view in views]
    agreeing = [item for item in steep if item[1] == steep[0][1] > 1]
    if 2 * len(agreeing) >= len(views):
        return ModeChoice(*max(agreeing, key=lambda item: clearness(*item)), True)
    several.sort(key=lambda item: (item[1], clearness(*item)))
    return ModeChoice(*several[(3 * len(several) - 1) // 4], False)


def n_prominent(view: DensityModes) -> int:
    """Number of clusters that the density speaks for at one scale.

    The first mode has to exceed what the largest of all errors may reach. If prominences fall steeply after
    some mode, that is the last. Otherwise the r-th mode has to exceed the r-th largest error, so that the
    fraction of false ones is bounded (as Benjamini and Hochberg do), not the chance of any.
    """
    found = view.prominence
    least = _required(view)
    if len(found) == 0 or found[0] < least:
        return 1
    steep = _n_steep(view)
    if steep > 1:
        return steep
    m = len(view.edges[2]) / view.n_neighbors
    rest = np.log(m / np.arange(1, len(found) + 1))
    needed = least * np.sqrt(np.maximum(rest, LEAST) / np.log(m))
    return int(np.flatnonzero(found >= needed)[-1]) + 2


def _n_steep(view: DensityModes) -> int:
    """Number of clusters after which prominences fall steeply; 1 if they do nowhere."""
    found = view.prominence
    if len(found) == 0 or found[0] < _required(view):
        return 1
    falls = found / np.maximum(np.append(found[1:], 0.0), 1.0)
    return int(np.argmax(falls)) + 2 if falls.max() >= STEEP else 1


def _required(view: DensityModes) -> float:
    """Prominence that chance does not reach at this scale."""
    return float(np.interp(view.thinness, [COMPACT, THIN], [PROMINENT, PROMINENT_IF_THIN]))


def clearness(view: DensityModes, number: int) -> float:
    """How many times as prominent as the next mode the weakest of this many clusters is."""
    if number < 2:
        return 0.0
    rest = view.prominence[number - 1] if number - 1 < len(view.prominence) else 0.0
    return float(view.prominence[number - 2] / max(rest, 0.5))
