"""The rows in the plane, by methods that keep different things."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from vicinal import (
    ClusterPreservingEmbedding,
    Isomap,
    LaplacianEigenmaps,
    PerceptualEmbedding,
)
from vicinal.report._shared_inputs import NEIGHBORS, SharedInputs

# Up to so many rows the best path may take any step, above only steps along the spanning trees.
ALL_STEPS = 20_000
# Up to so many rows Isomap takes the paths between all of them, above those to some landmarks.
ALL_PATHS = 2000
N_LANDMARKS = 200


class Maps(NamedTuple):
    """Coordinates of every row.

    Attributes
    ----------
    coordinates : dict of str to ndarray (n, 2)
    about : dict of str to str
        What each map shows.
    """

    coordinates: dict[str, np.ndarray]
    about: dict[str, str]


ABOUT = {
    "cluster preserving": "Rows are near each other if a chain of strong links joins them, so a cluster "
    "of any shape becomes a compact group.",
    "isomap": "Distances along the spanning trees, not through empty space, are kept as well as the "
    "plane allows.",
    "laplacian": "The two slowest directions of a random walk on the spanning trees: what it takes long "
    "to leave lies together.",
    "perceptual": "The walk on the contextual digraph: each cluster lies along a ray, noise near the "
    "origin.",
    "principal": "The flat shadow of the data with the largest spread, for comparison.",
}


def draw_maps(scene: SharedInputs) -> Maps:
    """Embed all rows in the plane."""
    common: dict[str, Any] = {"random_state": scene.seed, "n_jobs": scene.n_jobs}
    landmarks = N_LANDMARKS if scene.n > ALL_PATHS else None
    coordinates = {
        "isomap": Isomap(2, n_landmarks=landmarks, **common).fit_transform(scene.trees),
        "cluster preserving": _cluster_preserving(scene, common),
        "laplacian": LaplacianEigenmaps(2, **common).fit_transform(scene.trees),
        "perceptual": _perceptual_plane(scene, common),
        "principal": principal_plane(scene.points),
    }
    return Maps(coordinates, {name: ABOUT[name] for name in coordinates})


def _cluster_preserving(scene: SharedInputs, common: dict[str, Any]) -> np.ndarray:
    model = ClusterPreservingEmbedding(
        n_components=2, n_neighbors=min(NEIGHBORS, scene.n - 1), **common
    )
    with warnings.catch_warnings():
        # A direction without extent is a flat map, as anyone can see.
        warnings.simplefilter("ignore", UserWarning)
        return model.fit_transform(scene.points if scene.n <= ALL_STEPS else scene.trees)


def _perceptual_plane(scene: SharedInputs, common: dict[str, Any]) -> np.ndarray:
    """The perceptual embedding; two distinct rows have one direction only."""
    model = PerceptualEmbedding(min(2, len(scene.distinct) - 1), **common)
    found = model.fit_transform(scene.digraph)[scene.copies.group]
    return np.pad(found, ((0, 0), (0, 2 - found.shape[1])))


def principal_plane(points: np.ndarray) -> np.ndarray:
    """The first two principal components; the second is 0 for a single column."""
    from sklearn.decomposition import PCA

    plane = np.zeros((len(points), 2))
    # The smaller of the two Gram matrices: a wide table has far too many pairs of columns.
    solver = "covariance_eigh" if points.shape[0] >= points.shape[1] else "full"
    found = PCA(min(2, *points.shape), svd_solver=solver).fit_transform(points)
    plane[:, : found.shape[1]] = found
    return plane
