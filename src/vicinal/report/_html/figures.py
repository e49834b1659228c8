"""Small SVG figures, coloured by the style sheet of the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

WIDTH, HEIGHT = 460, 230
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 12, 40


class Curve(NamedTuple):
    """A named line through points (x, y)."""

    name: str
    x: np.ndarray
    y: np.ndarray


class Axis(NamedTuple):
    """Linear or logarithmic scale from data to pixels."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def pixel(self, value: float) -> float:
        """Pixel position of a value."""
        low, high, value = (
            (float(np.log10(v)) for v in (self.low, self.high, value))
            if self.log
            else (self.low, self.high, value)
        )
        fraction = (value - low) / (high - low) if high > low else 0.5
        return self.start + fraction * (self.stop - self.start)

    def ticks(self, max_ticks: int) -> list[tuple[float, float]]:
        """Tick values and their pixel positions."""
        values = ticks(self.low, self.high, self.log, max_ticks)
        return [(value, self.pixel(value)) for value in values]


def line_chart(
    curves: Sequence[Curve],
    label_x: str,
    label_y: str,
    *,
    mark: float | None = None,
    level: float | None = None,
    log_x: bool = False,
    log_y: bool = False,
) -> str:
    """Curves with dots; ``mark`` is a vertical line at an x, ``level`` a horizontal line at a y."""
    xs = np.concatenate([curve.x for curve in curves])
    ys = np.concatenate([curve.y for curve in curves])
    if level is not None:
        ys = np.append(ys, level)
    x_axis = Axis(*_limits(xs, log_x, 0.0), LEFT, WIDTH - RIGHT, log_x)
    y_axis = Axis(*_limits(ys, log_y, 0.05), HEIGHT - BOTTOM, TOP, log_y)
    parts = [_axes(x_axis, y_axis, label_x, label_y)]
    if level is not None:
        y = y_axis.pixel(level)
        parts.append(
            f'<line class="level" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
    if mark is not None and x_axis.low <= mark <= x_axis.high:
        x = x_axis.pixel(mark)
        parts.append(
            f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        )
    for i, curve in enumerate(curves):
        pixels = [(x_axis.pixel(x), y_axis.pixel(y)) for x, y in zip(curve.x, curve.y, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in pixels)
        dots = "".join(
            f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3"><title>{x:.4g}: {y:.4g}</title></circle>'
            for (px, py), x, y in zip(pixels, curve.x, curve.y, strict=True)
        )
        parts.append(f'<g class="curve c{i}"><polyline points="{path}"/>{dots}</g>')
    legend = "" if len(curves) == 1 else _legend([curve.name for curve in curves])
    return _figure("".join(parts), f"{label_y} by {label_x}") + legend


def histogram(
    values: np.ndarray, label_x: str, label_y: str = "rows", *, level: float | None = None
) -> str:
    """Counts of values in equal bins; ``level`` is a vertical line at a value."""
    bins = min(40, max(5, int(np.sqrt(len(values)))))
    if values.dtype.kind in "iu":
        # Bin edges lie between integers.
        span = int(np.ptp(values)) + 1
        width = -(-span // bins)
        edges = values.min() - 0.5 + width * np.arange(-(-span // width) + 1)
    else:
        edges = np.histogram_bin_edges(values, bins)
    counts, edges = np.histogram(values, edges)
    x_axis = Axis(float(edges[0]), float(edges[-1]), LEFT, WIDTH - RIGHT)
    y_axis = Axis(0.0, float(max(counts.max(), 1)), HEIGHT - BOTTOM, TOP)
    bars = "".join(
        f'<rect x="{x_axis.pixel(low) + 0.5:.1f}" y="{y_axis.pixel(count):.1f}" '
        f'width="{max(x_axis.pixel(high) - x_axis.pixel(low) - 1, 0.5):.1f}" '
        f'height="{y_axis.start - y_axis.pixel(count):.1f}">'
        f"<title>{low:.3g} to {high:.3g}: {count:,}</title></rect>"
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    )
    line = ""
    if level is not None and x_axis.low < level < x_axis.high:
        x = x_axis.pixel(level)
        line = f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
    axes = _axes(x_axis, y_axis, label_x, label_y)
    return _figure(f'{axes}<g class="bars">{bars}</g>{line}', f"{label_y} by {label_x}")


def ticks(low: float, high: float, log: bool = False, max_ticks: int = 6) -> list[float]:
    """Round tick values within a range."""
    if not high > low:
        return [low]
    if log:
        lowest, highest = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
        stride = max(1, -(-(highest - lowest) // max_ticks))
        # A range of few decades also gets ticks within them.
        steps = (1, 2, 5) if highest - lowest <= 2 else (1,)
        values = [s * 10.0**power for power in range(lowest, highest + 1, stride) for s in steps]
        return [value for value in values if low <= value <= high] or [low, high]
    step = 10.0 ** np.floor(np.log10((high - low) / max_ticks))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= max_ticks:
            step *= factor
            break
    first = np.ceil(low / step - 1e-9)
    return [float(step * k) for k in np.arange(first, np.floor(high / step + 1e-9) + 1)]


def _limits(values: np.ndarray, log: bool, padding: float) -> tuple[float, float]:
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if len(values) == 0:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if log:
        return low, high if high > low else low * 10.0
    margin = padding * (high - low) if high > low else 0.5
    return low - margin, high + margin


def _axes(x_axis: Axis, y_axis: Axis, label_x: str, label_y: str) -> str:
    bottom, middle = HEIGHT - BOTTOM, (LEFT + WIDTH - RIGHT) / 2
    y_ticks = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(v)}</text>'
        for v, y in y_axis.ticks(5)
    )
    x_ticks = "".join(
        f'<text class="tick" x="{x:.1f}" y="{bottom + 16}" text-anchor="{_anchor(x)}">{_number(v)}</text>'
        for v, x in x_axis.ticks(8)
    )
    return (
        f'{y_ticks}{x_ticks}<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>'
        f'<text class="label" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(label_x)}</text>'
        f'<text class="label" transform="translate(11 {(TOP + bottom) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(label_y)}</text>'
    )


def _anchor(x: float) -> str:
    # A long number at the right end of the axis would be cut off.
    return "end" if x > WIDTH - RIGHT - 4 else "middle"


def _number(value: float) -> str:
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return "0" if text == "-0" else text


def _legend(names: Sequence[str]) -> str:
    entries = "".join(f'<li class="c{i}">{escape(name)}</li>' for i, name in enumerate(names))
    return f'<ul class="legend">{entries}</ul>'


def _figure(content: str, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title, quote=True)}">'
        f"{content}</svg>"
    )
