"""`TableEncoder`: tables with columns of any kind as points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist, euclidean
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from vicinal._core.callbacks import FitCallbacks
from vicinal._core.memory import require_memory
from vicinal._core.options import check_options
from vicinal._core.parallel import blocks, one_blas_thread
from vicinal._core.scalar_checks import check_choice, check_count, check_real
from vicinal._core.suggestions import listing, suggestion
from vicinal._core.tables import unique_names
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.neighbors import NeighborSearch
from vicinal.tables._codes import Code, DateCode, NumberCode, code_from_json, code_to_json, fit_code
from vicinal.tables._columns import (
    ColumnSummary,
    gap_column,
    ignore_constant,
    missing_together,
    no_usable_column,
    read_again,
    summarize,
    typed_columns,
)
from vicinal.tables._gower import GowerEncoding, fit_gower
from vicinal.tables._kinds import KINDS, TypedColumn
from vicinal.tables._points import ROWS_PER_BLOCK, PointMap, fit_points, map_from_json, rows_to_fit
from vicinal.tables._reading import RawColumn, read_columns, with_distinct_names

SCALINGS = ("auto", "standard", "none")
METRICS = ("euclidean", "gower")


class Encoding(NamedTuple):
    """A fixed map from columns to points.

    Attributes
    ----------
    columns : list of TypedColumn
        Name, kind and form of the columns that have coordinates, without values; then of those that are only
        read because they are missing together.
    together : list of tuple of str
        Sets of columns that are missing in the same rows; each has coordinates too, after the columns.
    codes : list of Code
        What makes coordinates of columns and sets.
    map : PointMap
        What makes points of coordinates.
    as_they_are : bool
        Whether numbers are not rescaled.
    """

    columns: list[TypedColumn]
    together: list[tuple[str, ...]]
    codes: list[Code]
    map: PointMap
    as_they_are: bool

    @property
    def n_coded(self) -> int:
        """Number of columns that have coordinates."""
        return len(self.codes) - len(self.together)

    def read(self, raw: Mapping[str, RawColumn]) -> list[TypedColumn]:
        """Columns of a table by name, read as in `fit`; a column that is absent raises an error."""
        return read_again(self.columns, raw)

    def coded(self, typed: Sequence[TypedColumn]) -> np.ndarray:
        """Coordinates of columns, NaN where a value is missing."""
        by_name = {column.name: column for column in typed}
        gaps = (gap_column(names, by_name) for names in self.together)
        everything = [*typed[: self.n_coded], *gaps]
        parts = [code.encode(own) for code, own in zip(self.codes, everything, strict=True)]
        return np.ascontiguousarray(np.hstack(parts))

    def points(self, typed: Sequence[TypedColumn]) -> np.ndarray:
        """Points of rows."""
        n = len(typed[0].missing)
        spans = blocks(n, ROWS_PER_BLOCK) if n else [(0, 0)]
        return np.concatenate([self._points(_cut(typed, slice(*span))) for span in spans])

    def _points(self, typed: Sequence[TypedColumn]) -> np.ndarray:
        points = self.map.points(self.coded(typed))
        if not self.as_they_are:
            return points
        # Numbers as they are keep their bits.
        values, column_of = self.values(typed), self.map.layout.column_of
        for k, i in enumerate(self.map.numbers.tolist()):
            code = self.codes[column_of[i]]
            if isinstance(code, NumberCode):
                factor = self.map.factors[i] / code.unit
                points[:, k] = values[typed[column_of[i]].name] * factor
        return points

    def values(self, typed: Sequence[TypedColumn]) -> dict[str, np.ndarray]:
        """Numbers and dates of each column; missing ones are what other columns lead to expect."""
        own = {column.name: column for column in typed if column.numbers is not None}
        values = {name: np.array(column.numbers) for name, column in own.items()}
        starts = np.cumsum([0, *(len(code.names) for code in self.codes)])
        has_gaps = any(column.missing.any() for column in own.values())
        completed = self.map.completed(self.coded(typed)) if has_gaps else None
        for j, column in enumerate(typed):
            if column.name not in own or not column.missing.any():
                continue
            numbers, known = values[column.name], values[column.name][~column.missing]
            guess = np.full(len(numbers), np.median(known) if len(known) else 0.0)
            if j < self.n_coded and completed is not None and len(known):
                code = self.codes[j]
                line = code.line if isinstance(code, DateCode) else code
                assert isinstance(line, NumberCode)
                guess = np.clip(line.decode(completed[:, starts[j]]), known.min(), known.max())
            numbers[column.missing] = guess[column.missing]
        return values

    def to_json(self) -> dict[str, Any]:
        """The encoding as JSON."""
        columns = [
            {
                "name": column.name,
                "kind": column.kind,
                "form": column.form,
                "levels": None if column.levels is None else list(column.levels),
            }
            for column in self.columns
        ]
        return {
            "columns": columns,
            "together": [list(names) for names in self.together],
            "codes": [code_to_json(code) for code in self.codes],
            "map": self.map.to_json(),
            "as_they_are": self.as_they_are,
        }


def encoding_from_json(state: Mapping[str, Any]) -> Encoding:
    """The encoding that was described; a wrong description raises an error."""
    columns = []
    for record in state["columns"]:
        form, levels = record["form"], record["levels"]
        if record["kind"] not in KINDS or not isinstance(form, str | None):
            raise InvalidValueError(f"the column {record['name']!r} has no kind")
        levels = None if levels is None else tuple(str(level) for level in levels)
        columns.append(
            TypedColumn(str(record["name"]), record["kind"], "", form=form, levels=levels)
        )
    names = [column.name for column in columns]
    together = [tuple(str(name) for name in own) for own in state["together"]]
    if len(set(names)) < len(names) or not names:
        raise InvalidValueError("the names of columns contradict each other")
    if not {name for own in together for name in own} <= set(names):
        raise InvalidValueError("columns that are missing together are unknown")
    codes = [code_from_json(own) for own in state["codes"]]
    if not 0 <= len(codes) - len(together) <= len(columns):
        raise InvalidValueError("the columns and their codes contradict each other")
    made = map_from_json(state["map"], [len(code.names) for code in codes])
    return Encoding(columns, together, codes, made, bool(state["as_they_are"]))


def _copies(names: Sequence[str], copy_of: np.ndarray) -> dict[str, list[str]]:
    """The copies of each column that has some, by name."""
    same = {
        name: np.flatnonzero(copy_of == own).tolist()
        for name, own in zip(names, copy_of, strict=True)
    }
    return {
        name: [names[i] for i in own if names[i] != name]
        for name, own in same.items()
        if len(own) > 1
    }


def _cut(typed: Sequence[TypedColumn], rows: Any) -> list[TypedColumn]:
    """Some rows of columns."""
    return [
        own._replace(
            numbers=None if own.numbers is None else own.numbers[rows],
            words=None if own.words is None else own.words[rows],
        )
        for own in typed
    ]


class TableEncoder(TransformerMixin, FitCallbacks, BaseEstimator):
    """Rows of a table with columns of any kind as points whose distances compare all columns.

    Use it before any method for points if columns have units of their own, categories, dates or gaps. A
    column counts by what other columns say about it. Numbers are measured in robust units with logarithmic
    tails, and weighted by the share of their variance that other columns account for; numbers that form
    groups by themselves count fully. Categories, yes and no, ordered categories, cycles of dates and numbers
    with few values count by what the row as a whole leads to expect of them. A column that says nothing about
    any other, such as a random code, does not count. Equal rows have equal points, and new rows are placed by
    the same fixed map.

    Kinds of columns are guessed from their values: numbers, also as text with currency signs, percent or
    separators; booleans, yes and no; dates; categories. Constant and empty columns, row numbers, names and
    free text are not used. ``columns_`` says in one line per column what was decided, and why.

    Parameters
    ----------
    kinds : dict, optional
        Kinds of some columns, by name: "numeric", "ordinal", "categorical", "boolean", "date" or "ignore". A
        list of categories, lowest first, makes a column ordinal. Columns of arrays are called "column 1",
        "column 2" and so on.
    weights : dict, optional
        Weights of some columns, by name, instead of automatic ones: their own values then count, whatever
        other columns say. A number of weight 1 has variance 1, and so has a yes or no in equal parts. 0
        ignores a column.
    scaling : {"auto", "standard", "none"}, default="auto"
        "standard" and "none" take numbers in standard deviations, or as they are, all of them with weight 1.
        Use "none" for coordinates in one unit, such as places, images or embeddings.
    metric : {"euclidean", "gower"}, default="euclidean"
        "gower" is the weighted mean of absolute differences in units of the range, of ranks and of
        mismatches, over the columns that both rows have; use it if every column has to count, whatever
        others say. All weights that are not given are 1. The points then have these as Manhattan distances,
        with NaN for missing values.

    Attributes
    ----------
    columns_ : list of ColumnSummary
        Name, kind, reason, use, weight and number of missing values of each column; each prints as one line.
    missing_together_ : list of ColumnSummary
        Sets of columns that are missing in the same rows. Each counts like one more column, a yes or no.
    kinds_ : dict
        Kind of each column, by name.
    weights_ : dict
        Weight of each column that is used, by name.
    metric_ : callable
        Distance of two points. Gower's is over the columns that both have, scaled up to all columns.
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
    >>> len(encoder.transform(table))
    4
    """

    def __init__(
        self,
        kinds: Mapping[str, Any] | None = None,
        *,
        weights: Mapping[str, float] | None = None,
        scaling: str = "auto",
        metric: str = "euclidean",
    ) -> None:
        self.kinds = kinds
        self.weights = weights
        self.scaling = scaling
        self.metric = metric

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn kinds, units and weights of the columns.

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
        self._rows = self._points(self._fit(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn the columns, and encode the rows.

        Parameters
        ----------
        X : DataFrame, array, dict of columns or list of dicts
            A table, as in `fit`.
        y : None
            Ignored.

        Returns
        -------
        ndarray (n, n_coordinates)
            Points, the same as those of `transform`.
        """
        return self.fit(X)._rows.copy()

    def _fit(self, X: Any) -> list[TypedColumn]:
        """Fit; the columns that have coordinates."""
        check_options(self)
        check_choice(self.scaling, "scaling", SCALINGS)
        check_choice(self.metric, "metric", METRICS)
        raw = self._read(X, reset=True)
        names = [column.name for column in raw]
        kinds = check_kinds(self.kinds, names)
        weights = check_weights(self.weights, names)
        typed = [
            column._replace(kind="ignore", reason="its weight is 0")
            if weights.get(column.name) == 0 and column.kind != "ignore"
            else ignore_constant(column)
            for column in typed_columns(raw, kinds, self.scaling != "auto")
        ]
        if self.metric == "gower":
            return self._fit_gower(typed, weights)
        self._gower: GowerEncoding | None = None
        self.metric_: Callable[[np.ndarray, np.ndarray], float] = euclidean
        found = {c.name: fit_code(c, self.scaling) for c in typed if c.kind != "ignore"}
        columns = [column for column in typed if found.get(column.name, (None,))[0] is not None]
        refused = {name: note for name, (code, note) in found.items() if code is None}
        if not columns:
            shown = [c._replace(reason=refused.get(c.name, c.reason)) for c in typed]
            raise InvalidValueError(no_usable_column(shown))
        by_name = {column.name: column for column in columns}
        sets = {own: gap_column(own, by_name) for own in missing_together(columns)}
        set_codes = {own: fit_code(column)[0] for own, column in sets.items()}
        together = [own for own, code in set_codes.items() if code is not None]
        everything = [*columns, *(sets[own] for own in together)]
        codes = [code for code, _ in found.values() if code is not None]
        codes += [code for code in set_codes.values() if code is not None]
        given = [weights.get(column.name) for column in everything]
        rows = rows_to_fit(len(columns[0].missing), sum(len(code.names) for code in codes))
        sample = zip(codes, _cut(everything, rows), strict=True)
        parts = [code.encode(own) for code, own in sample]
        with one_blas_thread():
            fitted = fit_points(np.hstack(parts), codes, given, self.scaling != "auto")
        kept = fitted.kept.tolist()
        counted = {c.name for c, keep in zip(everything, kept, strict=True) if keep}
        together = [own for own in together if sets[own].name in counted]
        only_read = {name for own in together for name in own} - counted
        columns = [
            *(column for column in columns if column.name in counted),
            *(column for column in columns if column.name in only_read),
        ]
        self._encoding = Encoding(
            [column._replace(numbers=None, words=None) for column in columns],
            together,
            [code for code, keep in zip(codes, kept, strict=True) if keep],
            fitted.map,
            self.scaling == "none",
        )
        coded = [column for column in everything if column.name in counted]
        notes = {name: note for name, (_, note) in found.items()}
        copies = _copies([column.name for column in everything], fitted.copy_of)
        self._summarize(typed, refused, notes, coded, copies)
        return columns

    def _fit_gower(
        self, typed: Sequence[TypedColumn], weights: Mapping[str, float]
    ) -> list[TypedColumn]:
        """Fit Gower distances; the columns that they compare."""
        columns = [column for column in typed if column.kind != "ignore"]
        if not columns:
            raise InvalidValueError(no_usable_column(typed))
        self._gower = fit_gower(columns, weights)
        self.metric_ = self._gower.distance
        self.weights_ = {column.name: weights.get(column.name, 1.0) for column in columns}
        self.columns_ = [summarize(column, self.weights_.get(column.name)) for column in typed]
        self.missing_together_: list[ColumnSummary] = []
        self.kinds_ = {column.name: column.kind for column in typed}
        return columns

    def _summarize(
        self,
        typed: Sequence[TypedColumn],
        refused: Mapping[str, str],
        notes: Mapping[str, str],
        coded: Sequence[TypedColumn],
        copies: Mapping[str, Sequence[str]],
    ) -> None:
        """Set the attributes that say what was done."""
        names = [column.name for column in coded]
        weight_of = dict(zip(names, self._encoding.map.counted.tolist(), strict=True))
        weight_of |= check_weights(self.weights, [column.name for column in typed])

        def said(column: TypedColumn) -> ColumnSummary:
            if column.name in refused or column.kind == "ignore":
                return summarize(column._replace(reason=refused.get(column.name, column.reason)))
            weight, same = weight_of.get(column.name, 0.0), copies.get(column.name, ())
            parts = [notes.get(column.name, "")]
            parts += [f"counts once together with {', '.join(same)}"] if same else []
            alone = not weight and not any(weight_of.get(name) for name in same)
            parts += ["independent of every other column"] if alone else []
            return summarize(column, weight, parts)

        self.columns_ = [said(column) for column in typed]
        self.missing_together_ = [said(own) for own in coded[self._encoding.n_coded :]]
        self.kinds_ = {column.name: column.kind for column in typed}
        self.weights_ = {column.name: column.weight for column in self.columns_ if column.used}

    def transform(self, X: Any) -> np.ndarray:
        """Encode rows.

        Parameters
        ----------
        X : DataFrame, array, dict of columns or list of dicts
            Rows with the columns of `fit`. Categories that `fit` did not see are missing values.

        Returns
        -------
        ndarray (m, n_coordinates)
            Points, without missing values unless ``metric="gower"``.
        """
        return self._points(self._typed(X))

    def distances(self, X: Any, Y: Any = None) -> np.ndarray:
        """Distances of rows, by `metric`.

        Parameters
        ----------
        X : DataFrame, array, dict of columns or list of dicts
            Rows with the columns of `fit`.
        Y : DataFrame, array, dict of columns or list of dicts, optional
            Other such rows; the rows of `fit` by default.

        Returns
        -------
        ndarray (m, n)
            Gower distances are infinite where no column is present in both rows.
        """
        points = self._points(self._typed(X))
        others = self._rows if Y is None else self._points(self._typed(Y))
        if self._gower is not None:
            return self._gower.distance.matrix(points, others)
        what = f"the distances of {len(points):,} and {len(others):,} rows"
        require_memory(8.0 * len(points) * len(others), what, "Use nearest, or pass fewer rows.")
        return cdist(points, others)

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
        points = self._rows if X is None else self._points(self._typed(X))
        if self._gower is not None:
            return self._gower.distance.nearest(points, self._rows, k)
        return NeighborSearch(self._rows).nearest(k, queries=points)

    def differences(self, X: Any, Y: Any) -> dict[str, np.ndarray]:
        """How much each column contributes to the squared distance of two rows.

        Parameters
        ----------
        X, Y : DataFrame, array, dict of columns or list of dicts
            Two tables of m rows with the columns of `fit`; row i of one is compared with row i of the other.

        Returns
        -------
        dict of str to ndarray (m,)
            One entry per column, and one per set of columns that are missing together. Their sum is the
            squared distance of the points.
        """
        if self.metric == "gower":
            raise InvalidValueError(
                "metric='gower', but differences are parts of a squared distance; use metric='euclidean'."
            )
        one, other = (
            self._encoding.map.coordinates(self._encoding.coded(self._typed(T))) for T in (X, Y)
        )
        if len(one) != len(other):
            raise InvalidValueError(
                f"X has {len(one):,} rows and Y has {len(other):,}, but rows are compared one by one; pass "
                "as many of both."
            )
        return self._by_column((one - other) ** 2)

    def _by_column(self, squares: np.ndarray) -> dict[str, np.ndarray]:
        column_of = self._encoding.map.layout.column_of
        first = np.flatnonzero(np.diff(column_of, prepend=-1))
        own, expected = np.hsplit(squares, 2)
        sums = np.add.reduceat(own + expected, first, axis=1)
        return dict(zip(self._compared(), sums.T, strict=True))

    def _compared(self) -> list[str]:
        """Names of the columns that have coordinates, then of sets that are missing together."""
        names = [column.name for column in self._encoding.columns[: self._encoding.n_coded]]
        return names + [own.name for own in self.missing_together_]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the coordinates.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            Names of numbers, and of categories with a given weight; then "expected 1" and so on, which stand
            for all discrete columns together.
        """
        check_is_fitted(self)
        if self._gower is not None:
            return np.array(unique_names(self._gower.names), dtype=object)
        points = self._encoding.map
        parts = [
            f"{name} {part}".rstrip()
            for name, code in zip(self._compared(), self._encoding.codes, strict=True)
            for part in code.names
        ]
        names = [parts[i] for i in points.numbers.tolist()]
        names += [f"expected {i + 1}" for i in range(points.n_expected)]
        return np.array(unique_names(names or ["nothing"]), dtype=object)

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

    def _typed(self, X: Any) -> list[TypedColumn]:
        """The columns of X that have coordinates, read as in `fit`."""
        check_is_fitted(self)
        raw = {column.name: column for column in self._read(X, reset=False)}
        return read_again((self._gower or self._encoding).columns, raw)

    def _points(self, typed: Sequence[TypedColumn]) -> np.ndarray:
        return (self._gower or self._encoding).points(typed)


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
