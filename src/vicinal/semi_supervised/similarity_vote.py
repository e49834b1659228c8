"""`SimilarityVoteClassifier`: majority vote of the most similar items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags

from vicinal._core.array_checks import validate_input
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.classes import encode_classes
from vicinal._core.fitted import check_is_fitted
from vicinal._core.parallel import blocks
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.semi_supervised._labels import (
    count_points,
    decode_classes,
    frequencies,
    warn_unknown,
)
from vicinal.similarity.smoothing._lazy_similarity import SmoothedSimilarity
from vicinal.similarity.smoothing._out_of_sample import check_new, extended_blocks
from vicinal.similarity.smoothing._selection import largest_in_rows
from vicinal.similarity.smoothing.estimator import SelfSmoothing
from vicinal.similarity.smoothing.operator import check_similarity

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike

ROWS_PER_BLOCK = 256
# Similarities and indices of items, the most similar first.
Window = tuple[np.ndarray, np.ndarray]


class SimilarityVoteClassifier(ClassifierMixin, FitCallbacks, BaseEstimator):
    """Classifier by majority vote of the most similar labelled items.

    Parameters
    ----------
    n_neighbors : int, default=15
        Number K of voting items; all labelled items if there are fewer. Ties between classes are broken in
        favour of more similar items. Items of similarity 0 do not vote.
    similarity : SelfSmoothing, "precomputed" or None, default=None
        Estimator of the similarities, by default ``SelfSmoothing()``; "precomputed" if X holds similarities.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes among the labels.
    smoothing_ : SelfSmoothing or None
        The fitted similarity.

    References
    ----------
    [2] Jiang, Wang and Tu, "Unsupervised metric learning by self-smoothing operator", ICCV 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import SelfSmoothing, SimilarityVoteClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SimilarityVoteClassifier(similarity=SelfSmoothing(t=10)).fit(X, y)
    >>> model.leave_one_out_score() > 0.95
    True
    """

    def __init__(
        self,
        n_neighbors: int = 15,
        *,
        similarity: SelfSmoothing | Literal["precomputed"] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.similarity = similarity

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.similarity, SelfSmoothing):
            input_tags = self.similarity.__sklearn_tags__().input_tags
            tags.input_tags.pairwise = input_tags.pairwise
            tags.input_tags.sparse = input_tags.sparse
        else:
            tags.input_tags.pairwise = self._is_precomputed()
        return tags

    def fit(self, X: MatrixLike, y: ArrayLike) -> SimilarityVoteClassifier:
        """Compute the similarity of all items and store their classes.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Items, or whatever ``similarity`` accepts.
        y : array-like of shape (n,)
            Classes; -1 where unknown. Unlabelled items take part in smoothing but do not vote.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_count(self.n_neighbors, "n_neighbors")
        if y is None:
            raise InvalidValueError(
                "SimilarityVoteClassifier requires y to be passed, but the target y is None; mark "
                "items without a class by -1."
            )
        classes, codes = encode_classes(y, count_points(X))
        self.smoothing_ = None
        if self._is_precomputed():
            matrix = validate_input(self, X, dtype=np.float64)
            self._similarity = check_similarity(matrix, "X")[0]
        elif self.similarity is None or isinstance(self.similarity, SelfSmoothing):
            items = validate_input(self, X, accept_sparse=self._accepts_sparse(), dtype=None)
            model = SelfSmoothing() if self.similarity is None else clone(self.similarity)
            self.smoothing_ = model.fit(items)
        else:
            raise InvalidTypeError(
                f"similarity={self.similarity!r}, but a SelfSmoothing, 'precomputed' or None is needed."
            )
        self.classes_, self._codes = classes, codes
        self._labelled = np.flatnonzero(codes >= 0)
        return self

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict the fraction of votes of each class.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, n_features)
            New items, as for `SelfSmoothing.transform`; with ``similarity="precomputed"``, their
            similarities (m, n) to the fitted items.

        Returns
        -------
        ndarray of shape (m, n_classes)
            Rows sum to 1. More similar items count up to 1 / K more, which breaks ties. Without any vote,
            the class frequencies of the labels.
        """
        votes = self._new_votes(X)
        votes = np.where(votes.any(axis=1, keepdims=True), votes, frequencies(self._codes))
        return votes / votes.sum(axis=1, keepdims=True)

    def _new_votes(self, X: MatrixLike) -> np.ndarray:
        check_is_fitted(self)
        accepted = "csr" if self._accepts_sparse() else False
        items = validate_input(self, X, reset=False, accept_sparse=accepted, dtype=np.float64)
        k = min(self.n_neighbors, len(self._labelled))
        if self.smoothing_ is None:
            if items.min() < 0:
                raise InvalidValueError(
                    f"X contains the negative value {items.min():g}, but similarities must be >= 0."
                )
            return self._votes(self._most_similar(items, k))
        new = check_new(self.smoothing_, items)
        similarities = extended_blocks(self.smoothing_, new)
        windows = (self._most_similar(rows, k) for _, rows in similarities)
        return np.concatenate([self._votes(window) for window in windows])

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the class with the most votes.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, n_features)
            New items, as for `predict_proba`.

        Returns
        -------
        ndarray of shape (m,)
            -1 ("-1" if classes are strings) for items without any vote.
        """
        return self._elected(self._new_votes(X))

    def leave_one_out(self) -> np.ndarray:
        """Predict the class of each fitted item by the vote of the others.

        Returns
        -------
        ndarray of shape (n,)
            -1 ("-1" if classes are strings) for items without any vote.
        """
        check_is_fitted(self)
        n, all_labelled = len(self._codes), len(self._labelled) == len(self._codes)
        k = min(self.n_neighbors, len(self._labelled) - 1)
        if k < 1:
            raise InvalidValueError(
                "only one item is labelled, so no other item can vote on it; label at least two."
            )
        if self.smoothing_ is None:
            window = self._most_similar(self._similarity, k, np.arange(n))
        elif all_labelled or not isinstance(self.smoothing_.similarity_, SmoothedSimilarity):
            neighbors = self.smoothing_.kneighbors(n_neighbors=k if all_labelled else n - 1)
            window = self._first_labelled(neighbors, k)
        else:
            rows = self.smoothing_.similarity_.rows
            windows = [
                self._most_similar(rows(items), k, items)
                for items in (np.arange(*span) for span in blocks(n, ROWS_PER_BLOCK))
            ]
            values, items = (np.concatenate(part) for part in zip(*windows, strict=True))
            window = values, items
        return self._elected(self._votes(window))

    def leave_one_out_score(self) -> float:
        """Compute the accuracy of `leave_one_out` on the labelled items.

        Returns
        -------
        float
            Fraction of labelled items that are classified correctly.
        """
        predicted = self.leave_one_out()[self._labelled]
        return float(np.mean(predicted == self.classes_[self._codes[self._labelled]]))

    def _most_similar(self, rows: np.ndarray, k: int, excluded: np.ndarray | None = None) -> Window:
        """The most similar labelled items of each row, without its item in ``excluded``."""
        rows = rows[:, self._labelled].copy()
        if excluded is not None:
            columns = np.searchsorted(self._labelled, excluded)
            is_labelled = np.isin(excluded, self._labelled)
            rows[np.flatnonzero(is_labelled), columns[is_labelled]] = -1.0
        best = largest_in_rows(rows, k)
        return np.take_along_axis(rows, best, axis=1), self._labelled[best]

    def _first_labelled(self, neighbors: Window, k: int) -> Window:
        """The first k labelled items of complete neighbour lists."""
        values, items = neighbors
        first = np.argsort(self._codes[items] < 0, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(values, first, axis=1), np.take_along_axis(items, first, axis=1)

    def _votes(self, window: Window) -> np.ndarray:
        values, items = window
        m, k = items.shape
        # More similar items count slightly more, half a vote in total, which never overturns a majority.
        # Integer votes keep ties exact.
        ballots = np.where(values > 0, k * (k + 1.0) + np.arange(k, 0, -1), 0.0)
        votes = np.zeros((m, len(self.classes_)))
        np.add.at(votes, (np.arange(m)[:, None], self._codes[items]), ballots)
        return votes

    def _elected(self, votes: np.ndarray) -> np.ndarray:
        known = np.asarray(votes.any(axis=1))
        warn_unknown(known, "class", "-1", "they are not similar to any labelled item")
        return decode_classes(self.classes_, votes.argmax(axis=1), known)

    def _accepts_sparse(self) -> bool:
        return self.__sklearn_tags__().input_tags.sparse

    def _is_precomputed(self) -> bool:
        return isinstance(self.similarity, str) and self.similarity == "precomputed"
