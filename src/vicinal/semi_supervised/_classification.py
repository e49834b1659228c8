"""Base of the two graph classifiers: encoding of classes, and new points."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin

from vicinal._base.chunked_fit import by_chunks, chunked_fit
from vicinal._core.chunked import ChunkedRows, is_chunked
from vicinal._core.classes import encode_classes
from vicinal._core.parallel import one_blas_thread
from vicinal.exceptions import InvalidValueError
from vicinal.semi_supervised._absorption import Spread
from vicinal.semi_supervised._labels import (
    TOO_FAR,
    count_points,
    decode_classes,
    frequencies,
    warn_unknown,
    warn_unreached,
)
from vicinal.semi_supervised._transductive import TransductiveEstimator

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike
    from vicinal.graphs.graph import Graph


# Codes of no points, and whether they are known.
NO_CODES = np.zeros(0, np.int64), np.zeros(0, np.bool_)


class TransductiveClassifier(ClassifierMixin, TransductiveEstimator):
    """Base of classifiers that give every node of a graph class probabilities."""

    _accepts_chunks = True
    classes_: np.ndarray
    label_distributions_: np.ndarray

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for invalid parameters before a graph is built."""

    @abstractmethod
    def _spread(self, affinity: sparse.csr_array, codes: np.ndarray) -> Spread:
        """Class probabilities of all nodes from the codes of the known classes."""

    @chunked_fit
    @one_blas_thread()
    def fit(self, X: Graph | MatrixLike, y: ArrayLike) -> Self:
        """Build the graph and spread the labels along it.

        Parameters
        ----------
        X : array-like of shape (n, n_features), Graph, or affinity matrix
            Points; with ``graph="precomputed"``, a symmetric affinity matrix, sparse or dense. A
            `Graph` is used as it is, and the parameter ``graph`` is ignored. If the weights of a full
            matrix are too spread out to separate the classes, only the 10 most similar items of each
            item are used, with a warning. For a dask array of points, results with one row per point are
            dask arrays in its chunks.
        y : array-like of shape (n,)
            Classes, -1 where unknown. Mix strings with -1 in an array of dtype object.

        Returns
        -------
        self
            The fitted estimator.
        """
        if y is None:
            raise InvalidValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; mark "
                "unknown classes by -1."
            )
        self._check_parameters()
        if is_chunked(y):
            y = ChunkedRows.load(y)  # one value per point
        classes, codes = encode_classes(y, count_points(X))
        spread = self._spread(self._local_affinity(X, len(classes)), codes)
        self.classes_, self._codes = classes, codes
        self._frequencies = frequencies(codes)
        self.label_distributions_, self.reached_ = spread
        best = self.label_distributions_.argmax(axis=1)
        self.transduction_ = decode_classes(classes, best, self.reached_)
        warn_unreached(self.reached_, "the class -1 and the class frequencies of the labels")
        return self

    @by_chunks(lambda model: len(model.classes_), lambda model: np.float64)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict class probabilities: the weighted mean of those of the nearest training points.

        Far from all training points, probabilities approach the class frequencies of the labels.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points.

        Returns
        -------
        ndarray of shape (m, n_classes)
            Rows sum to 1; columns in the order of ``classes_``.
        """
        return self._probabilities(X)[0]

    @by_chunks(dtype=lambda model: decode_classes(model.classes_, *NO_CODES).dtype)
    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the most probable class of new points.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            New points. A dask array is processed lazily, chunk by chunk.

        Returns
        -------
        ndarray of shape (m,)
            -1 ("-1" if classes are strings) for points far from all training points that labels
            reach, with a warning.
        """
        probabilities, known = self._probabilities(X)
        codes = probabilities.argmax(axis=1)
        if known.all():
            return np.asarray(self.classes_[codes])
        warn_unknown(known, "class", "-1", TOO_FAR)
        return decode_classes(self.classes_, codes, known)

    def _probabilities(self, X: MatrixLike) -> tuple[np.ndarray, np.ndarray]:
        """Class probabilities of new points, and whether any labels reach them."""
        weights, proximity, known = self._evidence(X)
        probabilities = weights.means(self.label_distributions_)
        probabilities /= np.add.reduce(probabilities, axis=1, keepdims=True)
        proximity = proximity[:, None]
        return proximity * probabilities + (1.0 - proximity) * self._frequencies, known
