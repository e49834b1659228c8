"""Table 2 of the study of self-smoothing: segments of photographs compared with human maps."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from vicinal import segment
from vicinal._core.parallel import progress_bar
from vicinal.metrics import global_consistency_error, local_consistency_error
from vicinal.operators.eigenpairs import leading_eigenpairs, random_walk_eigenvectors
from vicinal.operators.laplacians import degrees
from vicinal.segmentation._pixels import (
    TYPICAL_SHARE,
    grid_offsets,
    pixel_affinity,
    smoothed,
    typical_difference,
)
from vicinal.studies.self_smoothing import Outcome, Setting
from vicinal.studies.smoothing_data import GreyImage, has_photographs, photographs

SEGMENTS, DIRECTIONS = 3, 10
METHODS = ("SSO", "diffusion maps")


def segments(setting: Setting, verbose: int = 0) -> Outcome:
    """Errors of three segments by the cut of a smoothed affinity, and by k-means on diffusion maps."""
    rows: list[dict[str, Any]] = []
    shown: dict[tuple[str, int], np.ndarray] = {}
    title = "segments" if verbose > 0 else None
    with progress_bar(setting.n_photographs, title) as bar:
        for number, photograph in enumerate(photographs(setting.data, setting.n_photographs)):
            found = {("SSO", t): segment(photograph.grey, SEGMENTS, smooth=t)
                     for t in (0, *setting.cut_steps)}  # fmt: skip
            places, values = diffusion_places(photograph)
            for t in setting.cut_steps:
                with threadpool_limits(limits=1):  # few rows are faster with one thread
                    model = KMeans(SEGMENTS, n_init=3, random_state=0).fit(places * values**t)
                labels = model.labels_.reshape(photograph.grey.shape)
                found["diffusion maps", t] = labels
            rows += [_errors(number, *key, labels, photograph) for key, labels in found.items()]
            if number == 0:
                shown = found
                grey = photograph.grey
            bar.update()
    name = "Berkeley" if has_photographs(setting.data) else "three parts in noise"
    return Outcome(rows, {"grey": grey, "shown": shown, "name": name})


def diffusion_places(photograph: GreyImage) -> tuple[np.ndarray, np.ndarray]:
    """Slowest modes of the random walk on pixels, and their eigenvalues."""
    values = smoothed(photograph.grey[..., None], 1.0)
    scale = TYPICAL_SHARE * typical_difference(values)
    weights = pixel_affinity(values, *grid_offsets(), scale)
    weights = sparse.csr_array(weights + sparse.eye_array(weights.shape[0]))
    pairs = leading_eigenpairs(weights, DIRECTIONS + 1, tolerance=1e-6)
    sums = degrees(weights)
    places = random_walk_eigenvectors(pairs.vectors[:, 1:], sums) * np.sqrt(sums.sum())
    return places, pairs.values[1:]


def _errors(
    number: int, method: str, t: int, labels: np.ndarray, photograph: GreyImage
) -> dict[str, Any]:
    return {
        "image": number,
        "method": method,
        "t": t,
        "gce": global_consistency_error(labels, photograph.maps),
        "lce": local_consistency_error(labels, photograph.maps),
        "largest_segment": np.bincount(labels.ravel()).max() / labels.size,
    }
