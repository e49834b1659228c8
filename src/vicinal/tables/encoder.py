"""`TableEncoder`: tables with columns of any kind as points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal._core.callbacks import FitCallbacks
from vicinal._core.options import check_options
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal._core.suggestions import listing, suggestion
from vicinal._core.tables import unique_names
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.tables._class_model import ClassModel, fit_classes
from vicinal.tables._coding import Coder, fit_coder
from vicinal.tables._columns import ignore_constant, no_usable_column, summarize, typed_columns
from vicinal.tables._completion import Completer, typical_row
from vicinal.tables._kinds import KINDS, TypedColumn, read_as
from vicinal.tables._partial import PartialDistance
from vicinal.tables._reading import RawColumn, read_columns, with_distinct_names
from vicinal.tables._shared import fit_shared_part
from vicinal.tables._weights import (
    column_weights,
    has_structure,
    modality_strengths,
    without_unrelated_cycles,
)

SCALINGS = ("robust", "standard", "none")
METRICS = ("euclidean", "gower")
CATEGORIES = ("shared", "indicators")
MISSING = ("neighbors", "typical", "keep")
# Squares of larger coordinates may overflow.
MAX_COORDINATE = 1e150


class TableEncoder(TransformerMixin, FitCallbacks, BaseEstimator):
    """Rows of a table with columns of any kind as points whose distances compare all columns.

    The squared distance of two rows is a weighted sum over columns. Numbers count by their squared
    difference, in a robust unit in which two rows differ by 1 on average; ordered categories by the
    difference of their ranks; two different categories by 1; dates as a number, and as points on circles
    for the time of day, weekday and month in which they vary and on which another column depends. With
    ``missing="neighbors"`` every method for points can follow.

    Kinds of columns are guessed from their values: numbers, also as text with currency signs, percent or
    separators; booleans, yes and no; dates; categories. Constant and empty columns, row numbers, names and
    free text are not used. ``columns_`` says what was decided, and why.

    Columns that are statistically independent of all others, and whose values form no groups, carry no
    information about groups of rows: they get the weight 0. The weight of the others is their correlation
    with the latent classes of the rows, or the strength of their own groups.

    Parameters
    ----------
    kinds : dict, optional
        Kinds of some columns, by name: "numeric", "ordinal", "categorical", "boolean", "date" or "ignore". A
        list of categories, lowest first, makes a column ordinal. Columns of arrays are called "column 1",
        "column 2" and so on.
    weights : dict, optional
        Weights of some columns, by name, instead of automatic ones. 0 ignores a column.
    scaling : {"robust", "standard", "none"}, default="robust"
        Unit of numbers: from quartiles, from standard deviations, or as they are. "robust" compares positive
        numbers by their logarithms if these are closer to a normal distribution, as those of amounts of
        money often are.
    metric : {"euclidean", "gower"}, default="euclidean"
        "gower" is the weighted mean of absolute differences in units of the range, of ranks and of
        mismatches; all weights that are not given are 1. The points then have these as Manhattan distances.
    categories : {"shared", "indicators"}, default="shared"
        Coordinates of categories and of numbers with fewer than 20 different values. "shared": what the
        latent classes of a row, given all of its values, lead to expect. It is continuous, while categories
        themselves put rows on a lattice whose nodes look like clusters. "indicators": one coordinate per
        category; the distances of complete points are then those of `distances`. Columns with a given weight,
        and all columns if one class explains the table best, have indicators anyway.
    missing : {"neighbors", "typical", "keep"}, default="neighbors"
        How missing values are completed. "neighbors": from the 10 nearest rows that have the value, the mean
        of numbers and the most frequent category. "typical": the mean, or the most frequent category.
        "keep": not at all; they are NaN in the points, and only `distances` and `nearest` accept them.
        Rows without any value get typical values. Categories that were not seen in `fit` are missing values.
    n_jobs : int or None, default=-1
        Number of threads, all cores by default. The result does not depend on it.

    Attributes
    ----------
    columns_ : list of ColumnSummary
        Name, kind, reason, use, weight and number of missing values of each column.
    kinds_ : dict
        Kind of each column, by name.
    weights_ : dict
        Weight of each column that is used, by name.
    metric_ : callable
        Distance of two encoded rows over the columns that both have, scaled up to all columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if all are text.

    Examples
    --------
    >>> from vicinal.tables import TableEncoder
    >>> table = {"price": ["$1,200", "$900", None, "$80"], "size": ["L", "L", "L", "S"]}
    >>> encoder = TableEncoder(kinds={"size": ["S", "M", "L"]}).fit(table)
    >>> encoder.kinds_
    {'price': 'numeric', 'size': 'ordinal'}
    >>> encoder.transform(table).shape
    (4, 2)
    """

    def __init__(
        self,
        kinds: Mapping[str, Any] | None = None,
        *,
        weights: Mapping[str, float] | None = None,
        scaling: str = "robust",
        metric: str = "euclidean",
        categories: str = "shared",
        missing: str = "neighbors",
        n_jobs: int | None = -1,
    ) -> None:
        self.kinds = kinds
        self.weights = weights
        self.scaling = scaling
        self.metric = metric
        self.categories = categories
        self.missing = missing
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn kinds, scales and weights of the columns.

        Parameters
        ----------
        X : DataFrame, array, dict of columns or list of dicts
            A table of pandas, polars, pyarrow or another library that narwhals reads, or one of the others.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted encoder.
        """
        check_options(self)
        check_choice(self.scaling, "scaling", SCALINGS)
        check_choice(self.metric, "metric", METRICS)
        check_choice(self.categories, "categories", CATEGORIES)
        check_choice(self.missing, "missing", MISSING)
        raw = self._read(X, reset=True)
        names = [column.name for column in raw]
        kinds = check_kinds(self.kinds, names)
        weights = check_weights(self.weights, names)
        typed = typed_columns(raw, kinds)
        typed = [
            column._replace(kind="ignore", reason="its weight is 0")
            if weights.get(column.name) == 0 and column.kind != "ignore"
            else column
            for column in typed
        ]
        used = [ignore_constant(column) for column in typed]
        columns = [column for column in used if column.kind != "ignore"]
        if not columns:
            raise InvalidValueError(no_usable_column(used))
        coders = [fit_coder(column, self.scaling, self.metric) for column in columns]
        coders = without_unrelated_cycles(columns, coders, weights)
        self._keep(used, columns, coders, weights)
        return self

    def _keep(
        self,
        typed: Sequence[TypedColumn],
        columns: Sequence[TypedColumn],
        coders: Sequence[Coder],
        given: Mapping[str, float],
    ) -> None:
        """Set the attributes, and encode the rows."""
        if self.metric == "gower":
            classes = None
            weights = np.array([given.get(column.name, 1.0) for column in columns])
        else:
            classes, weights = self._weigh(columns, coders, given)
        kept = np.flatnonzero(weights > 0).tolist()
        self._columns = [columns[j]._replace(numbers=None, words=None) for j in kept]
        self._coders = [coders[j] for j in kept]
        names = [column.name for column in columns]
        weight_of = dict(zip(names, weights.tolist(), strict=True))
        compared = {
            name: (weight_of[name], coder) for name, coder in zip(names, coders, strict=True)
        }
        self.columns_ = [summarize(column, *compared.get(column.name, ())) for column in typed]
        self.kinds_ = {column.name: column.kind for column in typed}
        self.weights_ = {column.name: weight_of[column.name] for column in self._columns}
        self.metric_ = PartialDistance(
            weights[kept],
            *_positions(self._coders),
            power=1 if self.metric == "gower" else 2,
        )
        self._rows = self._encode([columns[j] for j in kept])
        self._shared = None
        if classes is not None and self.categories == "shared":
            units = np.sqrt(self.metric_.weights)[self.metric_.column_of]
            as_they_are = np.array([column.name in given for column in self._columns])
            self._shared = fit_shared_part(
                classes, self._rows / units, self.metric_.weights, as_they_are
            )
        if self.missing == "neighbors":
            self._completer = Completer(self._rows, self.metric_, self.n_jobs)

    def _weigh(
        self, columns: Sequence[TypedColumn], coders: Sequence[Coder], given: Mapping[str, float]
    ) -> tuple[ClassModel | None, np.ndarray]:
        """Latent classes of the rows, and weights of the columns."""
        modality = modality_strengths(columns, coders)
        structured = has_structure(columns, coders, modality)
        structured |= np.array([given.get(column.name, 0.0) > 0 for column in columns])
        kept = np.flatnonzero(structured).tolist()
        column_of, nominal = _positions([coders[j] for j in kept])
        rows = np.hstack([coders[j].encode(columns[j]) for j in kept])
        _check_reach(rows, column_of, [columns[j].name for j in kept])
        classes = fit_classes(rows, column_of, nominal)
        correlations = np.zeros(len(columns))
        if classes is not None:
            correlations[kept] = classes.correlations()
        names = [column.name for column in columns]
        return classes, column_weights(names, correlations, modality, structured, given)

    def transform(self, X: Any) -> np.ndarray:
        """Encode rows.

        Parameters
        ----------
        X : DataFrame, array, dict of columns or list of dicts
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray (m, n_coordinates)
            Points; complete unless ``missing="keep"``.
        """
        return self._points_and_coordinates(X)[0]

    def _points_and_coordinates(self, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Points, and the completed coordinates of the columns if points are made of them."""
        rows = self._coded(X)
        completed = rows
        if self.missing == "keep":
            return rows, None
        if np.isnan(rows).any():
            if self.missing == "typical":
                completed = np.where(np.isnan(rows), typical_row(self._rows, self.metric_), rows)
            else:
                completed = self._completer.complete(rows)
        if self._shared is None:
            return completed, None
        return self._shared.project(completed), completed

    def distances(self, X: Any, Y: Any = None) -> np.ndarray:
        """Distances of rows over the columns that both have, scaled up to all columns.

        Parameters
        ----------
        X : DataFrame, array, dict of columns or list of dicts
            Rows with the columns of `fit`.
        Y : DataFrame, array, dict of columns or list of dicts, optional
            Other such rows; the rows of `fit` by default.

        Returns
        -------
        ndarray (m, n)
            Infinite where no column is present in both rows.
        """
        points = self._coded(X)
        return self.metric_.matrix(points, self._rows if Y is None else self._coded(Y))

    def nearest(self, n_neighbors: int, X: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Nearest rows of `fit`, by the distances of `distances`, without a matrix of all pairs.

        Parameters
        ----------
        n_neighbors : int
            Number of rows.
        X : DataFrame, array, dict of columns or list of dicts, optional
            Rows whose neighbours are wanted; the rows of `fit` by default, which then are neighbours of
            themselves.

        Returns
        -------
        tuple of ndarray (m, n_neighbors)
            Indices and distances, nearest first.
        """
        check_is_fitted(self)
        k = check_count(n_neighbors, "n_neighbors", high=len(self._rows))
        points = self._rows if X is None else self._coded(X)
        return self.metric_.nearest(points, self._rows, k, self.n_jobs)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the coordinates.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            The name of a column, followed by that of a category or a part of a date.
        """
        check_is_fitted(self)
        names = [
            f"{column.name}_{part}" if part else column.name
            for column, coder in zip(self._columns, self._coders, strict=True)
            for part in (coder.names or [""])
        ]
        if self._shared is not None and self.missing != "keep":
            names = self._shared.names(names)
        return np.array(unique_names(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _read(self, X: Any, *, reset: bool) -> list[RawColumn]:
        X = with_distinct_names(X)
        columns = read_columns(X)
        n = len(columns[0].values) if columns else 0
        if not columns or not n:
            what = f"0 feature(s) (shape=({len(X)}, 0))" if not columns else "0 sample(s)"
            raise InvalidValueError(f"X has {what} while a minimum of 1 is required; add data.")
        # scikit-learn 1.6 does not read the column names of Arrow tables and of newer polars.
        if isinstance(X, np.ndarray) or hasattr(X, "iloc"):
            validate_data(self, X, skip_check_array=True, reset=reset)
        elif reset:
            self.n_features_in_ = len(columns)
            self.feature_names_in_ = np.array([c.name for c in columns], dtype=object)
        if reset and n < 2:
            raise InvalidValueError(
                "X has n_samples=1, but kinds and scales of columns need 2 rows at least; add rows."
            )
        return columns

    def _coded(self, X: Any) -> np.ndarray:
        """Rows of X, encoded, with NaN where a value is missing."""
        return self._encode(self._typed(X))

    def _typed(self, X: Any) -> list[TypedColumn]:
        """The columns of X that are used, read as in `fit`."""
        check_is_fitted(self)
        by_name = {column.name: column for column in self._read(X, reset=False)}
        typed = []
        for column in self._columns:
            if column.name not in by_name:
                close = suggestion(column.name, by_name)
                raise InvalidValueError(f"X has no column {column.name!r}{close}; add it.")
            raw = by_name[column.name]
            typed.append(read_as(raw, column.kind, column.form, column.levels))
        return typed

    def _encode(self, columns: Sequence[TypedColumn]) -> np.ndarray:
        total = self.metric_.weights.sum()
        parts = []
        for column, coder, weight in zip(columns, self._coders, self.metric_.weights, strict=True):
            factor = weight / total if self.metric == "gower" else np.sqrt(weight)
            parts.append(coder.encode(column) * factor)
        points = np.ascontiguousarray(np.hstack(parts))
        _check_reach(points, self.metric_.column_of, [column.name for column in columns])
        return points


def _positions(coders: Sequence[Coder]) -> tuple[np.ndarray, np.ndarray]:
    """Column of each coordinate, and which columns have one coordinate per category."""
    sizes = [len(coder.names) or 1 for coder in coders]
    return np.repeat(np.arange(len(sizes)), sizes), np.array([c.is_nominal for c in coders])


def _check_reach(rows: np.ndarray, column_of: np.ndarray, names: Sequence[str]) -> None:
    farthest = np.nanmax(np.abs(rows), axis=0, initial=0.0)
    if farthest.max() > MAX_COORDINATE:
        raise InvalidValueError(
            f"column {names[column_of[farthest.argmax()]]!r} of X contains a number more than "
            f"{MAX_COORDINATE:g} times as far from the others as they are from each other; correct it, or "
            "leave it out as None."
        )


def check_kinds(kinds: Any, names: Sequence[str]) -> dict[str, Any]:
    """Kinds by names of columns; an error for unknown columns or kinds."""
    checked = _checked_mapping(kinds, "kinds", names)
    for name, kind in checked.items():
        if isinstance(kind, str):
            check_choice(kind, f"kinds[{name!r}]", KINDS)
        elif not isinstance(kind, Sequence) or len(set(map(str, kind))) < max(len(kind), 2):
            raise InvalidTypeError(
                f"kinds[{name!r}]={kind!r}, but one of {', '.join(map(repr, KINDS))} is needed, or a list of "
                "different categories, lowest first."
            )
    return checked


def check_weights(weights: Any, names: Sequence[str]) -> dict[str, float]:
    """Nonnegative weights by names of columns; an error for unknown columns."""
    checked = _checked_mapping(weights, "weights", names)
    return {name: check_real(w, f"weights[{name!r}]", low=0.0) for name, w in checked.items()}


def _checked_mapping(given: Any, what: str, names: Sequence[str]) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidTypeError(f"{what}={given!r}, but a dict by names of columns is needed.")
    for name in given:
        if name not in names:
            raise InvalidValueError(
                f"{what}: X has no column {name!r}{suggestion(str(name), names)}; it has "
                f"{listing(names)}."
            )
    return dict(given)
