"""Queries and their first results, before and after smoothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal._core.array_checks import read_array
from vicinal._core.scalar_checks import check_count
from vicinal._core.tables import missing_cells
from vicinal.exceptions import InvalidValueError
from vicinal.metrics.retrieval import first_results
from vicinal.plot._axes import check_labels, class_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from vicinal._core.types import ArrayLike, MatrixLike
    from vicinal.similarity.smoothing._lazy_similarity import SmoothedSimilarity

SAME_CLASS, OTHER_CLASS, QUERY, NO_CLASS = "tab:green", "tab:red", "tab:blue", "0.5"


def retrieval(
    queries: int | ArrayLike,
    before: MatrixLike | SmoothedSimilarity,
    after: MatrixLike | SmoothedSimilarity | None = None,
    *,
    labels: ArrayLike | None = None,
    images: ArrayLike | None = None,
    k: int = 10,
) -> Figure:
    """Plot each query with its first k results, one row before and one after smoothing.

    Parameters
    ----------
    queries : int or sequence of int
        Indices of the query items.
    before : array of shape (n, n) or (n, m), or SmoothedSimilarity
        Similarities as floats, one row per item; or neighbours as integers, best first.
    after : array of shape (n, n) or (n, m), or SmoothedSimilarity, optional
        Similarities or neighbours after smoothing, shown in a second row.
    labels : array of shape (n,), optional
        Class of each item. Results in the class of the query get a green frame, others a red one; the
        frame is grey if either has no label.
    images : array of shape (n, height, width) or (n, height, width, 3 or 4), optional
        Image of each item, in grey or colour. Without images, tiles show labels or indices.
    k : int, default=10
        Number of results per query.

    Returns
    -------
    matplotlib Figure
        Figure with the plot.

    Examples
    --------
    >>> import numpy as np, vicinal
    >>> W = np.array([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]])
    >>> figure = vicinal.plot.retrieval(0, W, vicinal.self_smooth(W, 5), k=2)
    >>> len(figure.axes)  # two rows of a query and two results
    6
    """
    if not hasattr(before, "rows"):
        before = read_array(before, "before")
    if len(np.shape(before)) != 2:
        raise InvalidValueError(
            f"before has shape {np.shape(before)}, but similarities (n, n) or neighbours (n, k) are needed."
        )
    n = np.shape(before)[0]
    indices = np.atleast_1d(read_array(queries, "queries"))
    indices = np.array([check_count(q, "queries", low=0, high=n - 1) for q in indices.tolist()])
    k = check_count(k, "k", high=n - 1, remedy=f"There are {n} items.")
    item_labels = None if labels is None else check_labels(labels, n)
    known = np.zeros(n, dtype=bool) if item_labels is None else ~missing_cells(item_labels)
    pictures = None if images is None else _check_images(images, n)
    rankings = [before] if after is None else [before, after]
    results = [first_results(ranking, indices, k) for ranking in rankings]
    figure, axes = _grid(len(indices) * len(rankings), k)
    for row, cells in enumerate(axes):
        position, kind = divmod(row, len(rankings))
        query = int(indices[position])
        for column, ax in enumerate(cells):
            item = query if column == 0 else int(results[kind][position, column - 1])
            same_class = None
            text = str(item) if item_labels is None else "-"
            if item_labels is not None and known[item]:
                text = class_name(item_labels[item])
                if known[query]:
                    same_class = bool(item_labels[item] == item_labels[query])
            _tile(ax, item, pictures, text)
            _frame(ax, column == 0, same_class)
        if after is not None:
            cells[0].set_ylabel(("before", "after")[kind], fontsize=8)
    return figure


def _grid(n_rows: int, k: int) -> tuple[Figure, np.ndarray]:
    from matplotlib import pyplot as plt

    return plt.subplots(
        n_rows,
        k + 1,
        figsize=(0.85 * (k + 1) + 0.3, 0.85 * n_rows + 0.1),
        squeeze=False,
        layout="constrained",
        gridspec_kw={"wspace": 0.06, "hspace": 0.06},
    )


def _tile(ax: Axes, item: int, images: np.ndarray | None, text: str) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    if images is not None:
        ax.imshow(images[item], cmap="gray")
        return
    ax.set_box_aspect(1)
    ax.text(0.5, 0.5, text, ha="center", va="center", fontsize=9, transform=ax.transAxes)


def _frame(ax: Axes, is_query: bool, same_class: bool | None) -> None:
    result = NO_CLASS if same_class is None else (SAME_CLASS if same_class else OTHER_CLASS)
    color, width = (QUERY, 3.2) if is_query else (result, 1.0 if same_class is None else 2.2)
    for spine in ax.spines.values():
        spine.set(color=color, linewidth=width)


def _check_images(images: ArrayLike, n: int) -> np.ndarray:
    array = np.asarray(images)
    if (
        array.ndim not in (3, 4)
        or len(array) != n
        or (array.ndim == 4 and array.shape[3] not in (3, 4))
    ):
        raise InvalidValueError(
            f"images has shape {array.shape}, but a grey (height, width) or coloured (height, width, 3) "
            f"image of each of the {n} items is needed."
        )
    return array
