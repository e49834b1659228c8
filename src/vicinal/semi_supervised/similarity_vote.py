"""`SimilarityVoteClassifier`: the majority among the most similar items."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from vicinal._core.array_checks import validate_input
from vicinal._core.callbacks import FitCallbacks
from vicinal._core.parallel import blocks
from vicinal._core.scalar_checks import check_count
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.semi_supervised._labels import (
    count_points,
    decode_classes,
    encode_classes,
    frequencies,
    warn_unknown,
)
from vicinal.similarity.smoothing._lazy_similarity import SmoothedSimilarity
from vicinal.similarity.smoothing._out_of_sample import check_new, extended_blocks
from vicinal.similarity.smoothing._walks import largest_in_rows
from vicinal.similarity.smoothing.estimator import SelfSmoothing
from vicinal.similarity.smoothing.operator import check_similarity

ROWS = 256
# Similarities and numbers of items, the most similar first.
Window = tuple[np.ndarray, np.ndarray]


class SimilarityVoteClassifier(ClassifierMixin, FitCallbacks, BaseEstimator):
    """Classifier by a vote of the most similar labelled items.

    Parameters
    ----------
    n_neighbors : int, default=15
        Size K of the window in which the majority decides; all labelled items if there are fewer. Of
        classes with as many votes, the one whose members come first wins. Items of similarity 0 have no
        vote.
    similarity : SelfSmoothing, "precomputed" or None, default=None
        What makes similarities of X, by default ``SelfSmoothing()``; "precomputed" if X holds them.

    Attributes
    ----------
    classes_ : ndarray (n_classes,)
        Classes among the labelled.
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

    def __init__(self, n_neighbors: int = 15, *, similarity: Any = None) -> None:
        self.n_neighbors = n_neighbors
        self.similarity = similarity

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.similarity, SelfSmoothing):
            given = self.similarity.__sklearn_tags__().input_tags
            tags.input_tags.pairwise, tags.input_tags.sparse = given.pairwise, given.sparse
        else:
            tags.input_tags.pairwise = self._is_precomputed()
        return tags

    def fit(self, X: Any, y: Any) -> SimilarityVoteClassifier:
        """Learn the similarity of all items, and the classes of those that have one.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Items, or whatever ``similarity`` accepts.
        y : array-like of shape (n,)
            Classes; -1 where unknown. Unknown items take part in smoothing but do not vote.

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
            given = validate_input(self, X, dtype=np.float64)
            self._similarity = check_similarity(given, "X")[0]
        elif self.similarity is None or isinstance(self.similarity, SelfSmoothing):
            X = validate_input(self, X, accept_sparse=self._takes_sparse(), dtype=None)
            model = SelfSmoothing() if self.similarity is None else clone(self.similarity)
            self.smoothing_ = model.fit(X)
        else:
            raise InvalidTypeError(
                f"similarity={self.similarity!r}, but a SelfSmoothing, 'precomputed' or None is needed."
            )
        self.classes_, self._codes = classes, codes
        self._labelled = np.flatnonzero(codes >= 0)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Share of each class in the votes.

        Parameters
        ----------
        X : array (m, n_features)
            New items, as `SelfSmoothing.transform` takes them, sparse too; their similarities (m, n) to the
            fitted ones with ``similarity="precomputed"``.

        Returns
        -------
        ndarray (m, n_classes)
            Rows sum to 1. Earlier items in a window count up to 1 / K more, which settles ties. Without
            any vote, the frequencies of the classes.
        """
        return self._shares(self._new_votes(X))

    def _new_votes(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        sparse_too = "csr" if self._takes_sparse() else False
        X = validate_input(self, X, reset=False, accept_sparse=sparse_too, dtype=np.float64)
        k = min(self.n_neighbors, len(self._labelled))
        if self.smoothing_ is None:
            if X.min() < 0:
                raise InvalidValueError(
                    f"X holds the negative value {X.min():g}, but similarities must be >= 0."
                )
            return self._votes(self._best(X, k))
        new = check_new(self.smoothing_, X)
        found = extended_blocks(self.smoothing_, new)
        return np.concatenate([self._votes(self._best(rows, k)) for _, rows in found])

    def predict(self, X: Any) -> np.ndarray:
        """Class of the majority.

        Parameters
        ----------
        X : array (m, n_features)
            As for `predict_proba`.

        Returns
        -------
        ndarray (m,)
            -1 ("-1" if classes are strings) for items without any vote.
        """
        return self._decided(self._new_votes(X))

    def leave_one_out(self) -> np.ndarray:
        """Class of each fitted item by the vote of the others.

        Returns
        -------
        ndarray (n,)
            -1 ("-1" if classes are strings) for items without any vote.
        """
        check_is_fitted(self)
        n, everyone = len(self._codes), len(self._labelled) == len(self._codes)
        k = min(self.n_neighbors, len(self._labelled) - 1)
        if k < 1:
            raise InvalidValueError("only one item is labelled, so there is none to vote on it.")
        if self.smoothing_ is None:
            found = self._best(self._similarity, k, np.arange(n))
        elif everyone or not isinstance(self.smoothing_.similarity_, SmoothedSimilarity):
            found = self.smoothing_.kneighbors(n_neighbors=k if everyone else n - 1)
            found = self._of_labelled(found, k)
        else:
            rows = self.smoothing_.similarity_.rows
            parts = [
                self._best(rows(items), k, items)
                for items in (np.arange(*span) for span in blocks(n, ROWS))
            ]
            values, items = (np.concatenate(part) for part in zip(*parts, strict=True))
            found = values, items
        return self._decided(self._votes(found))

    def leave_one_out_score(self) -> float:
        """Compute the accuracy of `leave_one_out` on the labelled items.

        Returns
        -------
        float
            Fraction of labelled items whose class is that of the vote.
        """
        guessed = self.leave_one_out()[self._labelled]
        return float(np.mean(guessed == self.classes_[self._codes[self._labelled]]))

    def _best(self, rows: np.ndarray, k: int, own: np.ndarray | None = None) -> Window:
        """Similarities and numbers of the most similar labelled items, each row's own left out."""
        rows = rows[:, self._labelled].copy()
        if own is not None:
            places = np.searchsorted(self._labelled, own)
            is_in = np.isin(own, self._labelled)
            rows[np.flatnonzero(is_in), places[is_in]] = -1.0
        best = largest_in_rows(rows, k)
        return np.take_along_axis(rows, best, axis=1), self._labelled[best]

    def _of_labelled(self, found: Window, k: int) -> Window:
        """The first k labelled items of lists that hold all others."""
        values, items = found
        first = np.argsort(self._codes[items] < 0, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(values, first, axis=1), np.take_along_axis(items, first, axis=1)

    def _votes(self, found: Window) -> np.ndarray:
        values, items = found
        m, k = items.shape
        # Earlier items count a little more: half a vote in all, which no majority is lost to. Whole
        # numbers, so that what is equal stays so.
        ballots = np.where(values > 0, k * (k + 1.0) + np.arange(k, 0, -1), 0.0)
        votes = np.zeros((m, len(self.classes_)))
        np.add.at(votes, (np.arange(m)[:, None], self._codes[items]), ballots)
        return votes

    def _shares(self, votes: np.ndarray) -> np.ndarray:
        votes = np.where(votes.any(axis=1, keepdims=True), votes, frequencies(self._codes))
        return votes / votes.sum(axis=1, keepdims=True)

    def _decided(self, votes: np.ndarray) -> np.ndarray:
        known = np.asarray(votes.any(axis=1))
        warn_unknown(known, "class", "-1", "they are not similar to any labelled item")
        return decode_classes(self.classes_, votes.argmax(axis=1), known)

    def _takes_sparse(self) -> bool:
        return self.__sklearn_tags__().input_tags.sparse

    def _is_precomputed(self) -> bool:
        return isinstance(self.similarity, str) and self.similarity == "precomputed"
