"""Maps of the rows in the plane, by methods that preserve different properties."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from vicinal import ClusterPreservingEmbedding, Graph, Isomap, NeighborMap
from vicinal._core.parallel import together
from vicinal.exceptions import MissingDependencyError
from vicinal.operators.eigenpairs import random_walk_eigenvectors
from vicinal.operators.laplacians import degrees
from vicinal.report._shared_inputs import N_NEIGHBORS, SharedInputs

# Up to this many rows, cluster-preserving paths may use any edge; above, only those of the spanning trees.
COMPLETE_GRAPH_MAX_ROWS = 20_000
# Up to this many rows Isomap uses all shortest paths; above, only those to landmarks.
ALL_PATHS_MAX_ROWS = 2000
N_LANDMARKS = 200
# Iterations of the map of neighbours; of more rows than this, half as many: neighbours and clusters are then
# in place, and the remaining iterations only spread the clusters further.
N_ITER, MAX_FULL_LAYOUT_ROWS = 500, 20_000
NEIGHBORS = "neighbours"


class Maps(Mapping[str, np.ndarray]):
    """Coordinates (n, 2) of every row, by the name of the map.

    Parameters
    ----------
    coordinates : dict of str to ndarray (n, 2)
        Coordinates by map.
    about : dict of str to str
        What each map shows.
    notes : list of str
        Which maps are missing, and why.
    """

    def __init__(
        self, coordinates: dict[str, np.ndarray], about: dict[str, str], notes: list[str]
    ) -> None:
        self.coordinates, self.about, self.notes = coordinates, about, notes

    def __getitem__(self, name: str) -> np.ndarray:
        return self.coordinates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.coordinates)

    def __len__(self) -> int:
        return len(self.coordinates)

    def _asdict(self) -> dict[str, Any]:
        """Contents, as of the results of the other steps."""
        return {"coordinates": self.coordinates, "about": self.about, "notes": self.notes}


ABOUT = {
    NEIGHBORS: "Keeps the nearest rows of each row close to it, so groups separate. Sizes of groups, and "
    "distances between far ones, mean little.",
    "cluster preserving": "Rows are close if a chain of strong links connects them, so a cluster of any "
    "shape becomes a compact group.",
    "isomap": "Preserves distances along the spanning trees instead of straight-line distances.",
    "laplacian": "The two slowest modes of a random walk on the spanning trees: regions that the walk "
    "rarely leaves are compact.",
    "perceptual": "A random walk on the contextual digraph: each cluster lies along a ray, noise near "
    "the origin.",
    "principal": "The first two principal components, for comparison.",
}


def draw_maps(inputs: SharedInputs) -> Maps:
    """Embed all rows in the plane."""
    common: dict[str, Any] = {"random_state": inputs.seed, "n_jobs": inputs.n_jobs}
    # What the maps share is computed here, so that threads do not compute it twice.
    _ = inputs.neighbors, inputs.distinct, inputs.duplicates, inputs.trees
    with warnings.catch_warnings():
        # Separate groups of rows, and a map without extent in one direction, are visible on the maps and need
        # no warning. Filters are those of the process, so threads must not change them.
        warnings.simplefilter("ignore", UserWarning)
        # Much of the layout is serial, so the other maps are drawn beside it.
        (coordinates, notes), (others, _) = together(
            lambda: _neighbor_map(inputs, common), lambda: _other_maps(inputs, common)
        )
    coordinates |= others
    return Maps(coordinates, {name: ABOUT[name] for name in coordinates}, notes)


def _other_maps(
    inputs: SharedInputs, common: dict[str, Any]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """All maps but the layout of the neighbour graph."""
    landmarks = N_LANDMARKS if inputs.n > ALL_PATHS_MAX_ROWS else None
    maps = {
        "isomap": Isomap(2, n_landmarks=landmarks, **common).fit_transform(inputs.trees),
        "cluster preserving": _cluster_preserving(inputs, common),
        "laplacian": _laplacian_plane(inputs),
        "perceptual": inputs.perceptual_plane,
        "principal": principal_plane(inputs.points),
    }
    return maps, []


def _neighbor_map(
    inputs: SharedInputs, common: dict[str, Any]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The layout of the neighbour graph; equal rows share a position."""
    n_neighbors = min(N_NEIGHBORS, len(inputs.distinct) - 1)
    graph = Graph.from_kneighbors(
        *inputs.neighbors, n_neighbors, points=inputs.distinct, n_jobs=inputs.n_jobs
    )
    n_components = min(2, len(inputs.distinct) - 1)
    n_iter = N_ITER if len(inputs.distinct) <= MAX_FULL_LAYOUT_ROWS else N_ITER // 2
    try:
        layout = NeighborMap(n_components, n_iter=n_iter, **common).fit_transform(graph)
    except MissingDependencyError as error:
        return {}, [f"the map of neighbours is missing: {error}"]
    plane = np.pad(layout, ((0, 0), (0, 2 - n_components)))
    return {NEIGHBORS: plane[inputs.duplicates.group]}, []


def _cluster_preserving(inputs: SharedInputs, common: dict[str, Any]) -> np.ndarray:
    model = ClusterPreservingEmbedding(
        n_components=2, n_neighbors=min(N_NEIGHBORS, inputs.n - 1), **common
    )
    return model.fit_transform(
        inputs.points if inputs.n <= COMPLETE_GRAPH_MAX_ROWS else inputs.trees
    )


def _laplacian_plane(inputs: SharedInputs) -> np.ndarray:
    """The embedding by `vicinal.LaplacianEigenmaps`, from eigenvectors that are known already."""
    plane = random_walk_eigenvectors(
        inputs.tree_pairs.vectors[:, 1:3], degrees(inputs.tree_affinity)
    )
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))


def principal_plane(points: np.ndarray) -> np.ndarray:
    """First two principal components; the second is 0 for a single column."""
    from sklearn.decomposition import PCA

    plane = np.zeros((len(points), 2))
    # The covariance of a wide table would be larger than the table.
    solver = "covariance_eigh" if points.shape[0] >= points.shape[1] else "full"
    scores = PCA(min(2, *points.shape), svd_solver=solver).fit_transform(points)
    plane[:, : scores.shape[1]] = scores
    return plane
