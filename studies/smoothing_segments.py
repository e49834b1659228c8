"""Table 2 of the study of self-smoothing: segments of photographs compared with human maps."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from studies.experiments import progress_bar
from studies.self_smoothing import Outcome, Setting
from studies.smoothing_data import GreyImage, has_photographs, photographs
from vicinal import segment
from vicinal.metrics import global_consistency_error, local_consistency_error
from vicinal.operators.eigenpairs import leading_eigenpairs, random_walk_eigenvectors
from vicinal.operators.laplacians import degrees
from vicinal.segmentation._pixels import (
    AUTO_SCALE_FACTOR,
    grid_offsets,
    pixel_affinity,
    smoothed,
    typical_difference,
)

N_SEGMENTS, N_DIRECTIONS = 3, 10
METHODS = ("SSO", "diffusion maps")


def segments(setting: Setting, verbose: int = 0) -> Outcome:
    """Errors of three segments by cuts of the smoothed affinity, and by k-means on diffusion maps."""
    rows: list[dict[str, Any]] = []
    first_segmentations: dict[tuple[str, int], np.ndarray] = {}
    with progress_bar(setting.n_photographs, "segments", verbose) as bar:
        for i, photograph in enumerate(photographs(setting.data, setting.n_photographs)):
            segmentations = {("SSO", t): segment(photograph.grey, N_SEGMENTS, smooth=t)
                     for t in (0, *setting.cut_steps)}  # fmt: skip
            coordinates, values = diffusion_coordinates(photograph)
            for t in setting.cut_steps:
                with threadpool_limits(limits=1):  # k-means on few rows is faster with one thread
                    model = KMeans(N_SEGMENTS, n_init=3, random_state=0).fit(
                        coordinates * values**t
                    )
                labels = model.labels_.reshape(photograph.grey.shape)
                segmentations["diffusion maps", t] = labels
            rows += [_errors(i, *key, labels, photograph) for key, labels in segmentations.items()]
            if i == 0:
                first_segmentations = segmentations
                grey = photograph.grey
            bar.update()
    name = "Berkeley" if has_photographs(setting.data) else "three noisy regions"
    return Outcome(rows, {"grey": grey, "panels": first_segmentations, "name": name})


def diffusion_coordinates(photograph: GreyImage) -> tuple[np.ndarray, np.ndarray]:
    """Slowest modes of the random walk on pixels, and their eigenvalues."""
    values = smoothed(photograph.grey[..., None], 1.0)
    scale = AUTO_SCALE_FACTOR * typical_difference(values)
    weights = pixel_affinity(values, *grid_offsets(), scale)
    weights = sparse.csr_array(weights + sparse.eye_array(weights.shape[0]))
    pairs = leading_eigenpairs(weights, N_DIRECTIONS + 1, tolerance=1e-6)
    node_degrees = degrees(weights)
    coordinates = random_walk_eigenvectors(pairs.vectors[:, 1:], node_degrees) * np.sqrt(
        node_degrees.sum()
    )
    return coordinates, pairs.values[1:]


def _errors(
    i: int, method: str, t: int, labels: np.ndarray, photograph: GreyImage
) -> dict[str, Any]:
    return {
        "image": i,
        "method": method,
        "t": t,
        "gce": global_consistency_error(labels, photograph.maps),
        "lce": local_consistency_error(labels, photograph.maps),
        "largest_segment": np.bincount(labels.ravel()).max() / labels.size,
    }
