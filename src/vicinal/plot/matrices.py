"""Similarity matrices, with items sorted by class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from vicinal._core.array_checks import real_array
from vicinal._core.scalar_checks import check_count
from vicinal._core.sparse import checked_csr
from vicinal.exceptions import InvalidValueError
from vicinal.plot._axes import (
    UNKNOWN,
    check_are_axes,
    check_colormap,
    check_labels,
    class_name,
    classes_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from vicinal._core.types import ArrayLike, MatrixLike
    from vicinal.similarity.smoothing._lazy_similarity import SmoothedSimilarity

# Names of more classes would overlap.
MAX_NAMED_CLASSES = 25


def similarity(
    before: MatrixLike | SmoothedSimilarity,
    after: MatrixLike | SmoothedSimilarity | None = None,
    *,
    labels: ArrayLike | None = None,
    axes: Axes | Sequence[Axes] | None = None,
    cmap: str | Colormap = "Blues",
    max_items: int = 1000,
) -> np.ndarray:
    """Plot a similarity matrix, or two of the same items for comparison.

    Similarities span many orders of magnitude, so colour shows the logarithm of the rank within the row:
    the most similar item is the darkest.

    Parameters
    ----------
    before : array, sparse matrix or SmoothedSimilarity of shape (n, n)
        Similarity matrix.
    after : array, sparse matrix or SmoothedSimilarity of shape (n, n), optional
        Second similarity matrix, shown next to the first.
    labels : array of shape (n,), optional
        Class or cluster of each item. Items are sorted by class, unlabelled ones last, with lines
        between classes. By default the order is unchanged.
    axes : sequence of matplotlib Axes, optional
        Axes to draw in, one per matrix; by default a new figure.
    cmap : str or matplotlib Colormap, default="Blues"
        Colours from the smallest similarity to the largest.
    max_items : int, default=1000
        Maximum number of items shown; larger matrices are subsampled evenly.

    Returns
    -------
    ndarray of matplotlib Axes
        Axes of the matrices.

    Examples
    --------
    >>> import numpy as np, vicinal
    >>> W = np.array([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]])
    >>> axes = vicinal.plot.similarity(W, vicinal.self_smooth(W, 5))
    >>> [ax.get_title() for ax in axes]
    ['before', 'after']
    """
    given = [_readable(before, "before")]
    if after is not None:
        given.append(_readable(after, "after"))
    n = _check_square(given)
    max_items = check_count(max_items, "max_items", low=2)
    order = np.arange(n)
    if labels is not None:
        names, codes = classes_of(check_labels(labels, n))
        order = np.argsort(codes, kind="stable")
    if n > max_items:
        order = order[np.linspace(0, n - 1, max_items).astype(int)]
    colormap = check_colormap(cmap)
    all_axes = _axes(axes, len(given))
    titles = ["before", "after"] if after is not None else [""]
    for ax, matrix, title in zip(all_axes, given, titles, strict=True):
        ax.imshow(
            _shades(_submatrix(matrix, order)),
            cmap=colormap,
            vmin=0.0,
            vmax=1.0,
            interpolation="nearest",
        )
        ax.set_title(title)
        ax.set_xticks([])
        ax.set_yticks([])
        if labels is not None:
            class_names = [*map(class_name, names), UNKNOWN] if ax is all_axes[0] else []
            _draw_classes(ax, codes[order], class_names)
    return all_axes


def _readable(matrix: Any, name: str) -> Any:
    """Sparse or smoothed similarity as given, anything else as an array of numbers."""
    is_similarity = sparse.issparse(matrix) or hasattr(matrix, "rows")
    return matrix if is_similarity else real_array(matrix, name)


def _check_square(matrices: list[Any]) -> int:
    shapes = [np.shape(matrix) for matrix in matrices]
    first = shapes[0]
    if len(first) != 2 or first[0] != first[1] or first[0] == 0 or len(set(shapes)) > 1:
        raise InvalidValueError(
            f"before and after have shapes {', '.join(map(str, shapes))}, but square matrices of the "
            "same items are needed."
        )
    return first[0]


def _submatrix(matrix: Any, items: np.ndarray) -> np.ndarray:
    if hasattr(matrix, "rows") and not sparse.issparse(matrix):
        # A smoothed similarity computes rows on demand.
        blocks = [
            matrix.rows(block)[:, items] for block in np.array_split(items, -(-len(items) // 64))
        ]
        return np.vstack(blocks)
    if sparse.issparse(matrix):
        return checked_csr(matrix, "similarities")[items][:, items].toarray()
    return matrix[np.ix_(items, items)].astype(np.float64)


def _shades(matrix: np.ndarray) -> np.ndarray:
    """From 1 (first of a row) to 0 (last), by the logarithm of the rank; ties share a rank."""
    n = len(matrix)
    shades = np.ones((n, n))
    for i, row in enumerate(matrix):
        others = -np.sort(-np.delete(row, i))
        ranks = np.searchsorted(-others, -row, side="right")
        shades[i] = 1.0 - np.log(np.maximum(ranks, 1)) / np.log(max(n - 1, 2))
        shades[i, i] = 1.0
    return shades


def _axes(axes: Any, count: int) -> np.ndarray:
    if axes is None:
        from matplotlib import pyplot as plt

        return plt.subplots(
            1, count, figsize=(4.2 * count + 0.6, 4.4), squeeze=False, layout="constrained"
        )[1][0]
    axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(axes) != count:
        raise InvalidValueError(
            f"axes has {len(axes)} Axes, but {count} are needed, one per matrix."
        )
    for ax in axes:
        check_are_axes(ax, "axes")
    return axes


def _draw_classes(ax: Axes, codes: np.ndarray, names: list[str]) -> None:
    starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    stops = np.r_[starts[1:], len(codes)]
    width = float(np.clip(10 / len(starts), 0.15, 0.8))
    for position in starts[1:] - 0.5:
        ax.axhline(position, color="0.5", linewidth=width)
        ax.axvline(position, color="0.5", linewidth=width)
    if names and len(starts) <= MAX_NAMED_CLASSES:
        ax.set_yticks((starts + stops - 1) / 2, [names[code] for code in codes[starts]])
        ax.tick_params(length=0)
