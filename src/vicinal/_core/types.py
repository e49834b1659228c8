"""Type aliases for public signatures. Import them under ``TYPE_CHECKING``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from scipy import sparse

SparseMatrix: TypeAlias = sparse.sparray | sparse.spmatrix
# A table of points or a square matrix.
MatrixLike: TypeAlias = ArrayLike | SparseMatrix
# A table with columns of any kind: an array, a data frame, a dict of columns or a list of dicts.
TableLike: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | Sequence[Mapping[str, object]]

# A seed; the legacy RandomState is accepted because scikit-learn's estimators pass it on.
RandomStateLike: TypeAlias = int | np.integer | np.random.Generator | np.random.RandomState | None
# Number of threads: -1 uses all cores, None means the same as in scikit-learn.
NJobs: TypeAlias = int | None

# The name of a metric, or a function of two points.
MetricLike: TypeAlias = str | Callable[[np.ndarray, np.ndarray], float]
SearchMethod: TypeAlias = Literal["auto", "exact", "approximate"]
# Width of the kernel that turns lengths into affinities.
ScaleLike: TypeAlias = float | Literal["auto", "local"]
# Proportions of the classes among unlabelled points.
ClassPrior: TypeAlias = ArrayLike | Literal["labels", "estimate"] | None
LabelMethod: TypeAlias = Literal["harmonic", "laplace", "poisson", "poisson_mbo", "prior"]
KernelName: TypeAlias = Literal["gaussian", "binary", "inverse"]
LaplacianKind: TypeAlias = Literal["combinatorial", "symmetric", "random_walk"]
# What a Delaunay triangulation does with coplanar points.
Coplanar: TypeAlias = Literal["raise", "joggle"]
# Every row is a point, or equal rows are one point.
DuplicateMode: TypeAlias = Literal["keep", "merge"]
# Which values of a graph a matrix holds.
EdgeValues: TypeAlias = Literal["lengths", "strengths"]
# How the structure of a context is described: a name, or a function of its points.
DescriptorLike: TypeAlias = (
    Literal["coding_length", "centroid", "trivial"] | Callable[[np.ndarray], ArrayLike]
)
# What the data of a contextual distance are: points, distances or inner products.
ContextMetric: TypeAlias = Literal["euclidean", "cosine", "precomputed", "gram"]

# Indices (n, k) and distances (n, k) of neighbours.
NeighborArrays: TypeAlias = tuple[np.ndarray, np.ndarray]
