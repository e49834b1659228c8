"""`segment`: normalised cut of an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from vicinal._base.row_assignment import assign_rows, nearest_center
from vicinal._core.memory import require_memory
from vicinal._core.options import entry
from vicinal._core.parallel import one_blas_thread
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal.operators._eigen.multilevel import multilevel_eigenpairs
from vicinal.operators.eigenpairs import leading_eigenpairs, random_walk_eigenvectors
from vicinal.operators.laplacians import degrees, normalized_affinity
from vicinal.segmentation._pixels import (
    AUTO_SCALE_FACTOR,
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

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, NJobs

GRAPHS = ("grid", "radius")
# Number of pixels that determine the rotation from eigenvectors to segments, which has few parameters.
N_SAMPLED_PIXELS = 20_000
# Residual of the eigenvectors; segments do not need more digits.
ACCURACY = 1e-2
# Largest width of the blur, in pixels.
MAX_SMOOTHING = 1e4


@entry
def segment(
    image: ArrayLike,
    n_segments: int,
    *,
    graph: Literal["grid", "radius"] = "grid",
    radius: float = 3.0,
    scale: float | Literal["auto"] = "auto",
    spatial_scale: float | None = None,
    smoothing: float = 1.0,
    smooth: int = 0,
    random_state: int | None = None,
    n_jobs: NJobs = -1,
    verbose: int = 0,
) -> np.ndarray:
    """Segment an image by a normalised cut of its pixel graph.

    Pixels are the nodes of a graph whose affinities decrease with the difference of their values. The
    normalised cut separates it where little affinity is cut, into segments that are not too small.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        Grey or colour, of any real dtype. Three channels are interpreted as sRGB, four as sRGB with alpha
        (blended with white), if they are bytes, 16-bit or between 0 and 1; colours are then compared in
        CIE L*a*b*, where distances approximate perception. Other channels are compared as they are.
    n_segments : int
        Number of segments. In rare cases some are empty, and there are fewer.
    graph : {"grid", "radius"}, default="grid"
        Neighbours of a pixel: the 8 around it, or all within a radius, which takes more time and memory but
        bridges thin lines and gaps.
    radius : float, default=3.0
        Radius in pixels, for ``graph="radius"``.
    scale : float or "auto", default="auto"
        Standard deviation of the Gaussian of pixel differences; for colours in units of L*a*b* (black to
        white is 100), otherwise in units of the image. "auto" is 0.3 times the root mean squared difference
        of adjacent pixels, so it adapts to contrast and units. Affinities are at least 1e-4.
    spatial_scale : float, optional
        Standard deviation of the Gaussian of distances in pixels, for ``graph="radius"``; half the radius by
        default.
    smoothing : float, default=1.0
        Width in pixels of the Gaussian blur of the image; 0 disables it.
    smooth : int, default=0
        Number of self-smoothing steps of the affinity before the cut, see `vicinal.self_smooth`; 0 disables
        it. The cost grows with the number of steps and the radius.
    random_state : int, optional
        Seed of the rotation from eigenvectors to segments; None means 0.
    n_jobs : int or None, default=-1
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : int, default=0
        If positive, a progress bar is shown.

    Returns
    -------
    ndarray of int of shape (height, width)
        Label of each pixel, numbered from 0 in reading order. A segment need not be connected. An image of
        one colour is split into compact segments of about the same size.

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
    radius = check_real(radius, "radius", low=1.0, remedy="Adjacent pixels are at distance 1.")
    spatial_scale = radius / 2 if spatial_scale is None else spatial_scale
    spatial_scale = check_real(spatial_scale, "spatial_scale", low=0.0, open_low=True)
    steps = check_count(smooth, "smooth", low=0)
    smoothing = check_real(smoothing, "smoothing", low=0.0, high=MAX_SMOOTHING)
    values = smoothed(values, smoothing)
    if isinstance(scale, str):
        check_choice(scale, "scale", ("auto",))
        value_scale = AUTO_SCALE_FACTOR * typical_difference(values)
    else:
        scale = check_real(scale, "scale", low=0.0, open_low=True)
        value_scale = max(scale / unit, np.finfo(float).tiny)
    if graph == "grid":
        offsets, proximity = grid_offsets()
    else:
        diagonal = float(np.hypot(height, width))
        offsets, proximity = radius_offsets(min(radius, diagonal), spatial_scale)
    if n_segments == 1:
        return np.zeros((height, width), dtype=np.int64)
    weights = pixel_affinity(values, offsets, proximity, value_scale)
    if steps > 0 and n_segments <= height * width // 4:
        step = typical_step(offsets, proximity)
        shape = height, width
        rows = smoothed_vectors(weights, shape, step, steps, n_segments)
    else:
        rows = cut_vectors(weights, n_segments)
    return read_segments(rows, n_segments, random_state or 0).reshape(height, width)


def cut_vectors(weights: sparse.csr_array, n_vectors: int) -> np.ndarray:
    """Leading generalised eigenvectors W v = value D v of a connected affinity, as columns."""
    n = weights.shape[0]
    require_memory(
        8.0 * n * 10 * n_vectors,
        f"{n_vectors} eigenvectors of {n:,} pixels",
        "Use fewer segments or a smaller image.",
    )
    sums = degrees(weights)
    if n_vectors > n // 10:
        vectors = leading_eigenpairs(weights, n_vectors).vectors
    else:
        _, vectors, _ = multilevel_eigenpairs(
            normalized_affinity(weights, sums),
            np.sqrt(sums),
            n_vectors,
            accuracy=ACCURACY,
        )
    return random_walk_eigenvectors(vectors, sums)


def read_segments(rows: np.ndarray, n_segments: int, seed: int) -> np.ndarray:
    """Segments of pixels with similar eigenvector entries, numbered by first pixel."""
    sample = rows
    if len(rows) > N_SAMPLED_PIXELS:
        chosen = np.random.default_rng(seed).choice(len(rows), N_SAMPLED_PIXELS, replace=False)
        sample = rows[np.sort(chosen)]
    # Hundreds of small products, for which BLAS threads would mostly wait for each other.
    with one_blas_thread():
        assignment = assign_rows(sample, n_segments, "discretize", seed)
        labels = nearest_center(rows, assignment.centers, "discretize")
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]
