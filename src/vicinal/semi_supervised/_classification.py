"""What the two classifiers share: classes in and out, and new points."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from vicinal._base.graph_estimator import GraphEstimator
from vicinal.exceptions import InvalidValueError
from vicinal.graphs.affinities import EDGES_PER_NODE, FAR_OUT, edge_scale
from vicinal.semi_supervised._absorption import Spread
from vicinal.semi_supervised._labels import (
    count_points,
    decode_classes,
    encode_classes,
    frequencies,
    warn_unknown,
    warn_unreached,
)
from vicinal.semi_supervised._locality import keep_local


class TransductiveClassifier(ClassifierMixin, GraphEstimator):
    """Base of classifiers that give every node of a graph class probabilities."""

    classes_: np.ndarray
    label_distributions_: np.ndarray

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse bad parameters before a graph is built."""

    @abstractmethod
    def _spread(self, affinity: sparse.csr_array, codes: np.ndarray) -> Spread:
        """Class probabilities from the numbers of the known classes."""

    def fit(self, X: Any, y: Any) -> Any:
        """Build the graph and spread the labels along it.

        Parameters
        ----------
        X : array of shape (n, n_features), Graph, or affinity matrix
            Points; or with ``graph="precomputed"`` a symmetric affinity matrix, sparse or dense. A
            `Graph` is taken as it is, whatever ``graph`` says. Of a full matrix in which weights are
            spread over more items than labels can separate, the 10 most similar items of each are used,
            with a warning.
        y : array of shape (n,)
            Classes, -1 where unknown. Classes that are strings go with -1 in an array of dtype
            object.

        Returns
        -------
        self
        """
        if y is None:
            raise InvalidValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; mark "
                "points without a class by -1."
            )
        self._check_parameters()
        classes, codes = encode_classes(y, count_points(X))
        affinity = self._build_affinity(X)
        if self.graph_ is None:
            affinity = self.affinity_ = keep_local(affinity, len(classes))
        spread = self._spread(affinity, codes)
        self.classes_, self._frequencies = classes, frequencies(codes)
        self.label_distributions_, self.reached_ = spread
        best = self.label_distributions_.argmax(axis=1)
        self.transduction_ = decode_classes(classes, best, self.reached_)
        warn_unreached(self.reached_, "the class -1 and the class frequencies of the labelled")
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of new points: the weighted mean of their nearest training points'.

        The farther a point lies outside the training points, the nearer its probabilities come to the
        class frequencies of the labelled.

        Parameters
        ----------
        X : array of shape (m, n_features)

        Returns
        -------
        ndarray of shape (m, n_classes)
            Rows sum to 1; columns in the order of ``classes_``.
        """
        return self._probabilities(X)[0]

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of new points.

        Parameters
        ----------
        X : array of shape (m, n_features)

        Returns
        -------
        ndarray of shape (m,)
            -1 ("-1" if classes are strings) for points that are far from all training points, or near
            only to those that no label reaches.
        """
        shares, known = self._probabilities(X)
        warn_unknown(known, "they are far from all training points that labels reach")
        return decode_classes(self.classes_, shares.argmax(axis=1), known)

    def _probabilities(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Class probabilities of new points, and where they rest on labels."""
        check_is_fitted(self)
        indices, distances = self._neighbors_of(X)
        weights = self._kernel_weights(indices, distances)
        evidence = self._proximity(indices, distances)
        known = evidence * (weights @ self.reached_.astype(np.float64)) > np.finfo(np.float64).eps
        shares = weights @ self.label_distributions_
        shares /= shares.sum(axis=1, keepdims=True)
        shares = evidence[:, None] * shares + (1.0 - evidence[:, None]) * self._frequencies
        return shares, known

    def _proximity(self, indices: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """1 for new points as near to training points as these are to each other, 0 far outside.

        A Gaussian of the mean distance over the same mean of the nearest training points; it begins to
        fall where `Graph.affinity` takes training points for far out, too.
        """
        graph = self.graph_
        assert graph is not None  # or there would be no neighbours
        scales = edge_scale(graph, "local")
        typical = self.scale if isinstance(self.scale, numbers.Real) else np.median(scales)
        nearest = slice(0, EDGES_PER_NODE)
        usual = np.maximum(np.asarray(scales)[indices[:, nearest]].mean(axis=1), float(typical))
        with np.errstate(over="ignore", under="ignore"):
            near = distances[:, nearest]
            # Where fewer neighbours are known than others have, the rest is infinitely far.
            length = near.mean(axis=1, where=np.isfinite(near))
            far = np.maximum(length / usual / FAR_OUT, 1.0)
            return np.exp(0.5 * (1.0 - np.square(far)))
