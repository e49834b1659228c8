"""What the two classifiers share: classes in and out, and new points."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from vicinal._estimators import GraphEstimator
from vicinal.semi._absorption import Spread
from vicinal.semi._labels import count_points, encode_classes


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
            `Graph` is taken as it is, whatever ``graph`` says.
        y : array of shape (n,)
            Classes, -1 where unknown. Classes that are strings go with -1 in an array of dtype
            object.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; mark "
                "points without a class by -1."
            )
        self._check_parameters()
        classes, codes = encode_classes(y, count_points(X))
        spread = self._spread(self._build_affinity(X), codes)
        self.classes_ = classes
        self.label_distributions_, self.reached_ = spread
        self.transduction_ = classes[self.label_distributions_.argmax(axis=1)]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of new points: the weighted mean of their nearest training points'.

        Parameters
        ----------
        X : array of shape (m, n_features)

        Returns
        -------
        ndarray of shape (m, n_classes)
            Rows sum to 1; columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        shares = self._weights_of(X) @ self.label_distributions_
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of new points.

        Parameters
        ----------
        X : array of shape (m, n_features)

        Returns
        -------
        ndarray of shape (m,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
