"""Scores over the number of smoothing steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal._core.array_checks import real_array
from vicinal._core.scalar_checks import check_real
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.metrics.comparison import Comparison
from vicinal.plot._axes import check_are_axes, class_colors, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from vicinal._core.types import ArrayLike


def dynamics(
    curves: Comparison | Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    baseline: float | None = None,
    score: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Plot scores over t, with the score before smoothing as a dashed line.

    Parameters
    ----------
    curves : Comparison, or mapping of str to (ts, scores)
        Result of `vicinal.metrics.compare`, with its baselines; or numbers of steps and scores of each
        method.
    baseline : float, optional
        Score before smoothing, for a mapping.
    score : str, default="score"
        Name of the score, for a mapping.
    ax : matplotlib Axes, optional
        Axes to draw in; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Axes with logarithmic t that includes 0. A dot marks the maximum of each curve.

    Examples
    --------
    >>> import vicinal
    >>> curves = {"sso": ([0, 1, 10, 100], [0.80, 0.83, 0.90, 0.86])}
    >>> ax = vicinal.plot.dynamics(curves, baseline=0.8)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['sso: 0.900 at t = 10', 'before: 0.800']
    """
    baselines: dict[str, float] = {}
    if baseline is not None:
        baselines = {"before": check_real(baseline, "baseline")}
    if not isinstance(score, str):
        raise InvalidTypeError(f"score={score!r}, but the name of the score is needed.")
    if isinstance(curves, Comparison):
        comparison, score = curves, curves.measure
        curves = comparison.curves()
        baselines = _distinct(comparison.baselines())
    lines = _check_curves(curves)
    ax = new_axes(size=(6.4, 4.0)) if ax is None else check_are_axes(ax)
    colors = dict(zip(lines, class_colors(len(lines)), strict=True))
    for name, (ts, scores) in lines.items():
        best = int(np.argmax(scores))
        label = f"{name}: {scores[best]:.3f} at t = {ts[best]:g}"
        ax.plot(ts, scores, color=colors[name], label=label, linewidth=1.8)
        ax.plot(ts[best], scores[best], "o", color=colors[name], markersize=6)
    for name, value in baselines.items():
        label = f"{name}, before: {value:.3f}" if name in lines else f"{name}: {value:.3f}"
        style = {"color": colors.get(name, "0.3"), "linestyle": "--", "linewidth": 1.2}
        ax.axhline(value, label=label, zorder=0, **style)
    _time_axis(ax, np.concatenate([ts for ts, _ in lines.values()]))
    ax.set_xlabel("steps t")
    ax.set_ylabel(score)
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _distinct(baselines: dict[str, float]) -> dict[str, float]:
    """A single line if all baselines are equal."""
    values = set(baselines.values())
    return {"before": values.pop()} if len(values) == 1 else baselines


def _check_curves(curves: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    # A dok_array of scipy is a dict too, but its truth value is an error.
    if not isinstance(curves, Mapping) or len(curves.items()) == 0:
        raise InvalidTypeError(
            f"curves is {type(curves).__name__}, but a Comparison or a mapping of names to (ts, scores) "
            "with at least one entry is needed."
        )
    lines = {}
    for name, curve in curves.items():
        if not isinstance(curve, Sequence) or len(curve) != 2:
            raise InvalidTypeError(
                f"curves[{name!r}] is {curve!r}, but a pair (ts, scores) is needed."
            )
        ts, scores = (real_array(values, f"curves[{name!r}]").ravel() for values in curve)
        if len(ts) != len(scores) or len(ts) == 0 or not np.isfinite(ts).all() or ts.min() < 0:
            raise InvalidValueError(
                f"curves[{name!r}] has {len(ts)} numbers of steps and {len(scores)} scores, but one score "
                "for each of at least one t >= 0 is needed."
            )
        order = np.argsort(ts, kind="stable")
        lines[str(name)] = ts[order], scores[order]
    return lines


def _time_axis(ax: Axes, ts: np.ndarray) -> None:
    positive = ts[ts > 0]
    if len(positive) == 0 or positive.max() < 30 * positive.min():
        return
    if (ts == 0).any():
        # Linear up to the first step, so that 0 is on the axis.
        ax.set_xscale("symlog", linthresh=float(positive.min()), linscale=0.4)
        ax.set_xlim(left=0.0)
    else:
        ax.set_xscale("log")
