"""Affinities for spectral methods: a sparse matrix, or an operator whose matrix is never formed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from vicinal._base.merge_components import merge_components
from vicinal.graphs.graph import Graph
from vicinal.operators._components import AffinityStructure, affinity_components
from vicinal.operators.eigenpairs import Eigenpairs, normalized_pairs
from vicinal.operators.laplacians import degrees

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@runtime_checkable
class SpectralAffinity(Protocol):
    """A symmetric affinity W of n points whose normalised eigenpairs can be computed."""

    has_eigengap: bool
    """Whether gaps between eigenvalues indicate the number of clusters."""

    def components(self) -> np.ndarray:
        """Component of each point, numbered from 0."""

    def degrees(self) -> np.ndarray:
        """Row sums of W, up to a common positive factor."""

    def eigenpairs(self, n_pairs: int, *, tolerance: float, random_state: int) -> Eigenpairs:
        """Leading eigenpairs of D^-1/2 W D^-1/2."""

    def merge(self, n_clusters: int) -> np.ndarray:
        """Labels after merging the nearest components until ``n_clusters`` remain."""


@runtime_checkable
class AffinityOperator(SpectralAffinity, Protocol):
    """An affinity that estimators use in place of a graph, and that extends to new points.

    A function that returns one is accepted as the ``graph`` of `SpectralClustering`.
    """

    shape: tuple[int, int]
    sigma: float

    def extend(
        self,
        X: ArrayLike,
        vectors: np.ndarray,
        eigenvalues: np.ndarray,
    ) -> np.ndarray:
        """Nyström extension of eigenvectors of the random walk D^-1 W; training points keep their entries."""

    def extend_labels(self, X: ArrayLike, labels: np.ndarray) -> np.ndarray:
        """Labels of new points, from the labels of the training points."""


class SparseAffinity:
    """A sparse affinity matrix as a `SpectralAffinity`; degrees and components are computed once.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        Symmetric and nonnegative.
    graph : Graph or None
        Graph of the weights; `merge` needs its points to find the nearest components.
    """

    has_eigengap = True

    def __init__(self, weights: sparse.csr_array, graph: Graph | None = None) -> None:
        self.weights, self.graph = weights, graph

    def components(self) -> np.ndarray:
        return self._components

    def degrees(self) -> np.ndarray:
        return self._degrees

    @property
    def structure(self) -> AffinityStructure:
        return AffinityStructure(self._degrees, self._components)

    def eigenpairs(self, n_pairs: int, *, tolerance: float, random_state: int) -> Eigenpairs:
        return normalized_pairs(self.weights, self.structure, n_pairs, tolerance, random_state)

    def merge(self, n_clusters: int) -> np.ndarray:
        return merge_components(self.graph, self._components, n_clusters)

    @cached_property
    def _degrees(self) -> np.ndarray:
        return degrees(self.weights)

    @cached_property
    def _components(self) -> np.ndarray:
        return affinity_components(self.weights, self._degrees)
