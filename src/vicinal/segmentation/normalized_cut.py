"""Normalised cut of an image."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from vicinal._base.row_assignment import assign_rows, nearest_center
from vicinal._core.memory import require_memory
from vicinal._core.options import checked
from vicinal._core.parallel import one_blas_thread
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.operators._eigen.multilevel import multilevel_eigenpairs
from vicinal.operators.eigenpairs import leading_eigenpairs, random_walk_eigenvectors
from vicinal.operators.laplacians import degrees, normalized_affinity
from vicinal.segmentation._pixels import (
    TYPICAL_SHARE,
    check_image,
    comparable,
    grid_offsets,
    pixel_affinity,
    radius_offsets,
    smoothed,
    typical_difference,
    typical_step,
)
from vicinal.segmentation._smoothed_cut import smoothed_vectors

GRAPHS = ("grid", "radius")
# The rotation that reads segments off eigenvectors has few numbers: so many pixels settle it.
SAMPLE = 20_000
# Vectors are wanted for where their rows lie, not to the last digit.
ACCURACY = 1e-2
# Pixels that a blur may spread over.
WIDEST = 1e4


@checked
def segment(
    image: Any,
    n_segments: int,
    *,
    graph: str = "grid",
    radius: float = 3.0,
    scale: Any = "auto",
    spatial_scale: float | None = None,
    smoothing: float = 1.0,
    smooth: int = 0,
    random_state: int | None = None,
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> np.ndarray:
    """Cut an image into segments, inside which pixels resemble their neighbours.

    Pixels are the nodes of a graph whose affinities fall with the difference of their values; the
    normalised cut separates it where little affinity crosses, into parts that are not too small.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        Grey or colour, of any real type. Three channels are taken for sRGB, four for sRGB with alpha
        (seen on white), if they are bytes, 16-bit or between 0 and 1; colours are then compared in
        CIE L*a*b*, where distances follow the eye. Other channels are compared as they are.
    n_segments : int
        Number of segments. In rare cases some stay empty, and there are fewer.
    graph : {"grid", "radius"}, default="grid"
        Neighbours of a pixel: the 8 around it, or all within a radius, which costs more time and
        memory and looks over thin lines and gaps.
    radius : float, default=3.0
        In pixels, for ``graph="radius"``.
    scale : float or "auto", default="auto"
        Difference of two pixels at which their affinity has clearly dropped; of colours in units of
        L*a*b* (black to white is 100), else in those of the image. "auto" is 0.3 times the root mean
        square of the differences of pixels side by side, so that it follows contrast and units.
        However large the difference, 1e-4 of the affinity is left.
    spatial_scale : float, optional
        Distance in pixels at which affinity has clearly dropped, for ``graph="radius"``; by default
        half the radius.
    smoothing : float, default=1.0
        Width in pixels of the Gaussian that blurs the image first; 0 takes it as it is.
    smooth : int, default=0
        Number of steps of self-smoothing of the affinity before the cut, see `vicinal.self_smooth`; 0 is
        none. Its cost grows with the number and with the radius.
    random_state : int, optional
        Seed of the reading of segments off eigenvectors; None is 0.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        Above 0 a progress bar is shown.

    Returns
    -------
    ndarray of int of shape (height, width)
        Label of each pixel, numbered from 0 in the order in which segments are met from the top left
        corner. A segment need not be connected. An image of one colour gives no reason to cut
        anywhere: it falls into compact parts of about the same size.

    References
    ----------
    Shi and Malik, "Normalized cuts and image segmentation", IEEE PAMI 2000. Yu and Shi, "Multiclass
    spectral clustering", ICCV 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import segment
    >>> image = np.zeros((6, 8))
    >>> image[:, 5:] = 1.0
    >>> segment(image, 2, smoothing=0)[0]
    array([0, 0, 0, 0, 0, 1, 1, 1])
    """
    values, unit = comparable(check_image(image))
    height, width = values.shape[:2]
    n_segments = check_count(
        n_segments,
        "n_segments",
        high=height * width,
        remedy=f"The image has {height} x {width} pixels.",
    )
    check_choice(graph, "graph", GRAPHS)
    radius = check_real(radius, "radius", low=1.0, remedy="The next pixel is at distance 1.")
    reach = radius / 2 if spatial_scale is None else spatial_scale
    reach = check_real(reach, "spatial_scale", low=0.0, open_low=True)
    steps = check_count(smooth, "smooth", low=0)
    smoothing = check_real(smoothing, "smoothing", low=0.0, high=WIDEST)
    values = smoothed(values, smoothing)
    if isinstance(scale, str):
        check_choice(scale, "scale", ("auto",))
        width_of_gaussian = TYPICAL_SHARE * typical_difference(values)
    else:
        given = check_real(scale, "scale", low=0.0, open_low=True)
        width_of_gaussian = max(given / unit, np.finfo(float).tiny)
    if graph == "grid":
        offsets, nearness = grid_offsets()
    else:
        offsets, nearness = radius_offsets(min(radius, float(np.hypot(height, width))), reach)
    if n_segments == 1:
        return np.zeros((height, width), dtype=np.int64)
    weights = pixel_affinity(values, offsets, nearness, width_of_gaussian, n_jobs)
    progress = "segment" if verbose > 0 else None
    if steps > 0 and n_segments <= height * width // 4:
        step = typical_step(offsets, nearness)
        shape = height, width
        rows = smoothed_vectors(weights, shape, step, steps, n_segments, n_jobs, progress)
    else:
        rows = cut_vectors(weights, n_segments, n_jobs, progress)
    return read_segments(rows, n_segments, random_state or 0).reshape(height, width)


def cut_vectors(
    weights: sparse.csr_array, n_vectors: int, n_jobs: int | None, progress: str | None
) -> np.ndarray:
    """Leading generalised eigenvectors W v = value D v of a connected affinity, as columns."""
    n = weights.shape[0]
    require_memory(
        8.0 * n * 10 * n_vectors,
        f"{n_vectors} eigenvectors of {n:,} pixels",
        "Ask for fewer segments, or make the image smaller.",
    )
    sums = degrees(weights)
    if n_vectors > n // 10:
        vectors = leading_eigenpairs(weights, n_vectors, n_jobs=n_jobs).vectors
    else:
        _, vectors, _ = multilevel_eigenpairs(
            normalized_affinity(weights, sums),
            np.sqrt(sums),
            n_vectors,
            accuracy=ACCURACY,
            n_jobs=n_jobs,
            progress=progress,
        )
    return random_walk_eigenvectors(vectors, sums)


def read_segments(rows: np.ndarray, n_segments: int, seed: int) -> np.ndarray:
    """Segments of pixels whose eigenvector entries are nearly alike, numbered by their first pixels."""
    sample = rows
    if len(rows) > SAMPLE:
        chosen = np.random.default_rng(seed).choice(len(rows), SAMPLE, replace=False)
        sample = rows[np.sort(chosen)]
    # Hundreds of small products: threads of BLAS would mostly wait for each other.
    with one_blas_thread():
        found = assign_rows(sample, n_segments, "discretize", seed)
        labels = nearest_center(rows, found.centers, "discretize")
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]
