"""Scores of methods before and after smoothing a similarity, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import read_array
from vicinal._core.scalar_checks import check_choice, check_count, check_list, check_real
from vicinal._core.sparse import checked_csr
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.metrics.retrieval import (
    bulls_eye,
    classes,
    mean_average_precision,
    retrieval_rate,
)

if TYPE_CHECKING:
    from vicinal._core.types import ArrayLike, MatrixLike

MEASURES = ("bulls_eye", "retrieval_rate", "mean_average_precision")
MeasureName = Literal["bulls_eye", "retrieval_rate", "mean_average_precision"]


class Score(NamedTuple):
    """One method after t steps. ``t`` is None for a ranking that has no steps."""

    method: str
    t: float | None
    before: float
    after: float

    @property
    def gain(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class Comparison:
    """Scores of methods at several t, as `compare` measures them; prints as a table.

    Parameters
    ----------
    measure : str
        Name of the measure.
    scores : tuple of Score
        ``method``, ``t``, ``before``, ``after`` and ``gain``, in the order of the methods.

    Examples
    --------
    >>> from vicinal.metrics import compare
    >>> compare({"ranking": [[1, 2], [0, 2], [0, 1]]}, [0, 0, 1], before=[[2, 1], [2, 0], [0, 1]]).measure
    "bull's eye"
    """

    measure: str
    scores: tuple[Score, ...]

    def best(self) -> dict[str, Score]:
        """Best score of each method; ties go to the fewest steps.

        Returns
        -------
        dict of str to Score
            The score of each method at its best t.
        """
        best: dict[str, Score] = {}
        for score in self.scores:
            current = best.get(score.method)
            if current is None or (score.after, -(score.t or 0)) > (
                current.after,
                -(current.t or 0),
            ):
                best[score.method] = score
        return best

    def curves(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Scores of each method as a function of t, as drawn by `vicinal.plot.dynamics`.

        Returns
        -------
        dict of str to (ndarray, ndarray)
            Numbers of steps and scores; methods without steps are left out.
        """
        stepped = [score for score in self.scores if score.t is not None]
        return {
            name: (
                np.array([score.t for score in stepped if score.method == name]),
                np.array([score.after for score in stepped if score.method == name]),
            )
            for name in dict.fromkeys(score.method for score in stepped)
        }

    def baselines(self) -> dict[str, float]:
        """Score of each method before smoothing.

        Returns
        -------
        dict of str to float
            Scores by method.
        """
        return {score.method: score.before for score in self.scores}

    def to_frame(self) -> Any:
        """The scores as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            Columns "method", "t", "before", "after" and "gain".
        """
        import pandas

        rows = [(*score, score.gain) for score in self.scores]
        return pandas.DataFrame(rows, columns=["method", "t", "before", "after", "gain"])

    def __str__(self) -> str:
        best = set(self.best().values())
        rows = [["", "t", "before", "after", "gain", ""]]
        for score in self.scores:
            t = "" if score.t is None else f"{score.t:g}"
            percents = [f"{100 * score.before:.2f}", f"{100 * score.after:.2f}"]
            gain = f"{100 * score.gain:+.2f}"
            rows.append([score.method, t, *percents, gain, "best" if score in best else ""])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                [
                    row[0].ljust(widths[0]),
                    *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
                ]
            ).rstrip()
            for row in rows
        ]
        return "\n".join([f"{self.measure}, %", *lines])

    def __repr__(self) -> str:
        return str(self)


def compare(
    methods: Mapping[str, Any],
    labels: ArrayLike,
    *,
    ts: Iterable[float] | None = None,
    measure: MeasureName | Callable[[Any, np.ndarray], float] = "bulls_eye",
    window: int | None = None,
    before: MatrixLike | None = None,
) -> Comparison:
    """Compare methods with the similarity that they start from.

    Parameters
    ----------
    methods : mapping of str to a method
        A fitted model with ``sweep_neighbors`` such as `SelfSmoothing`; a function from t to similarities
        (n, n) or neighbours (n, k); or such an array itself, which has no steps.
    labels : array of shape (n,)
        Class of each item.
    ts : iterable of float, optional
        Numbers of steps; by default that of each model.
    measure : {"bulls_eye", "retrieval_rate", "mean_average_precision"} or callable, default="bulls_eye"
        Name of a function in `vicinal.metrics`; or a function of (similarities, labels), which gets
        whole matrices, for instance to cluster them.
    window : int, optional
        Number of results that `retrieval_rate` considers.
    before : array of shape (n, n) or (n, k), optional
        Baseline of functions and arrays; by default the similarity that the first model started from.

    Returns
    -------
    Comparison
        Scores before and after, and the gain, of every method at every t.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal import SelfSmoothing
    >>> from vicinal.metrics import compare
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> compare({"sso": SelfSmoothing(10).fit(X)}, y, ts=[2, 10, 100])
    bull's eye, %
           t  before  after   gain
    sso    2   90.59  92.69  +2.09
    sso   10   90.59  94.47  +3.88
    sso  100   90.59  96.93  +6.33  best
    """
    labels = read_array(labels, "labels")
    classes(labels)
    score, n_neighbors, name = _resolve_measure(measure, labels, window)
    if sparse.issparse(methods) or not isinstance(methods, Mapping) or not methods:
        raise InvalidTypeError(
            f"methods is {type(methods).__name__}, but a mapping of names to methods with at least one "
            "entry is needed, such as {'sso': model}."
        )
    baseline: Any = before
    if not sparse.issparse(before) and before is not None:
        baseline = read_array(before, "before")
    steps = None
    if ts is not None:
        steps = [
            check_real(t, "ts holds t", low=0.0) for t in check_list(ts, "ts", "numbers of steps")
        ]
    models = [method for method in methods.values() if hasattr(method, "affinity_")]
    common = models[0].affinity_ if baseline is None and models else baseline
    if common is None:
        raise InvalidValueError(
            "no method stores the similarity it started from; pass before=, a similarity (n, n)."
        )
    if baseline is not None and (baseline.ndim != 2 or baseline.shape[0] != len(labels)):
        raise InvalidValueError(
            f"before has shape {baseline.shape}, but labels has {len(labels)} items: pass similarities "
            "(n, n), or neighbours (n, k) as integers."
        )
    if sparse.issparse(baseline) and baseline.shape[1] != len(labels):
        raise InvalidValueError(
            f"before is sparse and has shape {baseline.shape}, but must be square."
        )
    scores_by_id: dict[int, float] = {}

    def score_before(ranking: Any) -> float:
        # Methods that start from the same array share its score.
        if id(ranking) not in scores_by_id:
            scores_by_id[id(ranking)] = score(_as_ranking(ranking, n_neighbors))
        return scores_by_id[id(ranking)]

    scores = []
    for title, method in methods.items():
        start = score_before(getattr(method, "affinity_", common) if baseline is None else baseline)
        scores += [
            Score(str(title), t, start, score(ranking))
            for t, ranking in _rankings(method, steps, n_neighbors)
        ]
    return Comparison(name, tuple(scores))


def _resolve_measure(
    measure: Any, labels: np.ndarray, window: int | None
) -> tuple[Callable[[Any], float], int | None, str]:
    """Score function of a ranking, the number of neighbours it needs (None: whole matrices), its name."""
    if callable(measure):
        name = getattr(measure, "__name__", type(measure).__name__)
        return lambda ranking: float(measure(ranking, labels)), None, name.strip("<>")
    check_choice(measure, "measure", MEASURES)
    n, sizes = len(labels), classes(labels)[1]
    if measure == "retrieval_rate":
        if window is None:
            raise InvalidValueError(
                "measure='retrieval_rate' needs window=, the number of results to consider."
            )
        window = check_count(window, "window", high=n)
        name = f"retrieval rate among {window}"
        return lambda ranking: retrieval_rate(ranking, labels, window), window, name
    if window is not None:
        raise InvalidValueError(f"window={window!r} is used only with measure='retrieval_rate'.")
    if measure == "bulls_eye":
        return lambda ranking: bulls_eye(ranking, labels), 2 * int(sizes.max()), "bull's eye"
    return lambda ranking: mean_average_precision(ranking, labels), n, "mean average precision"


def _rankings(
    method: Any, steps: list[float] | None, n_neighbors: int | None
) -> Iterator[tuple[float | None, Any]]:
    if hasattr(method, "sweep_neighbors"):
        ts = [method.t_] if steps is None else steps
        if n_neighbors is None:
            yield from ((t, _as_matrix(similarity)) for t, similarity in method.sweep(ts))
            return
        k = max(1, min(n_neighbors, method.n_items_) - 1)
        for t, (_, indices) in method.sweep_neighbors(ts, k):
            yield t, indices
    elif callable(method):
        if steps is None:
            raise InvalidValueError("a function has no default number of steps; pass ts=.")
        for t in steps:
            yield t, _as_ranking(method(t), n_neighbors)
    else:
        yield None, _as_ranking(method, n_neighbors)


def _as_ranking(ranking: Any, n_neighbors: int | None) -> Any:
    """Input of a measure: neighbours of a sparse similarity, anything else unchanged."""
    if not sparse.issparse(ranking):
        return np.asarray(ranking)
    rows = checked_csr(ranking, "ranking")
    if n_neighbors is None:
        return rows.toarray()
    from vicinal.similarity.smoothing._selection import best_of_rows

    k = max(1, min(n_neighbors, rows.shape[0]) - 1)
    return best_of_rows(lambda a, b: rows[a:b].toarray(), rows.shape[0], k, None, None)[1]


def _as_matrix(similarity: Any) -> np.ndarray:
    return similarity.toarray() if hasattr(similarity, "toarray") else np.asarray(similarity)
