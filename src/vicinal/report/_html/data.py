"""Data for the interactive part of the page, packed compactly: 100,000 rows take a few megabytes."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.exceptions import MissingDependencyError
from vicinal.report._tables import cluster_name

if TYPE_CHECKING:
    from vicinal.report.result import Perception

# Maps with meaningful distances: both axes have the same scale.
EQUAL_ASPECT_MAPS = ("isomap", "principal")
# Total number of values of the columns offered as colours; columns that differ least between clusters
# are dropped first.
MAX_COLOUR_VALUES = 2_000_000
# Text columns with more categories than this are not offered as colours; known labels always are.
MAX_CATEGORIES = 40
MAX_SPRITE_PIXELS = 4_000_000
MAX_SPRITE_SIDE = 32


def payload(result: Perception) -> dict[str, Any]:
    """Everything that the scripts of the page draw, ready for JSON."""
    data = result.data
    are_row_numbers = data.ids == [str(i) for i in range(len(data.ids))]
    return {
        "n": len(data.ids),
        "ids": None if are_row_numbers else data.ids,
        "maps": [_map(result, name) for name in result.maps.coordinates],
        "colours": list(_colours(result)),
        "nearest": _nearest(result),
        "matrices": _matrices(result),
        "sprites": _sprites(result),
    }


def columns_by_contrast(result: Perception) -> np.ndarray:
    """Columns sorted by the fraction of their variance between clusters, largest first."""
    values, labels = result.data.numbers, result.labels
    known = labels >= 0
    if not values.shape[1]:
        return np.empty(0, dtype=np.int64)
    counts = np.bincount(labels[known])
    means = np.stack([np.bincount(labels[known], column) for column in values[known].T]) / counts
    centre, std = values[known].mean(axis=0), values[known].std(axis=0)
    z_scores = (means - centre[:, None]) / np.where(std > 0, std, 1.0)[:, None]
    return np.argsort(-(z_scores**2 @ counts), kind="stable")


def _map(result: Perception, name: str) -> dict[str, Any]:
    points = result.maps.coordinates[name]
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    nonzero_span = np.where(span > 0, span, 1.0)
    scaled = np.where(span > 0, (points - low) / nonzero_span, 0.5) * 65535
    has_ratio = name in EQUAL_ASPECT_MAPS and (span > 0).all()
    return {
        "name": name,
        "about": result.maps.about[name],
        "x": _pack(np.round(scaled[:, 0]), np.uint16),
        "y": _pack(np.round(scaled[:, 1]), np.uint16),
        "ratio": float(span[0] / span[1]) if has_ratio else None,
    }


def _colours(result: Perception) -> Iterator[dict[str, Any]]:
    data, clusters = result.data, result.clusters
    n_clusters = int(max(clusters.labels.max(), clusters.other_labels.max())) + 1
    names = [cluster_name(label) for label in range(n_clusters)]
    yield _categories("cluster", clusters.labels, names)
    yield _numbers("noise score", clusters.noise_score)
    if data.labels is not None:
        categories, codes = np.unique(data.labels, return_inverse=True)
        class_names = categories[categories != ""].tolist()
        # The empty string (no label) sorts first and becomes -1.
        codes = codes - (len(categories) - len(class_names))
        yield _categories(f"known {data.label_name}", codes, class_names, "no label")
    yield _categories(f"cluster by {clusters.other_method}", clusters.other_labels, names)
    yield _numbers("occurrences in neighbour lists", result.neighborhoods.occurrences)
    for name, column in data.others.items():
        categories, codes = _category_codes(column)
        if len(categories) <= MAX_CATEGORIES:
            yield _categories(name, codes, categories.tolist())
    for j in sorted(columns_by_contrast(result)[: _n_offered(result)]):
        yield _numbers(data.names[j], data.values[:, j])


def unavailable_colours(result: Perception) -> list[str]:
    """Which columns the map cannot be coloured by, and why."""
    data = result.data
    counts = {name: len(_category_codes(column)[0]) for name, column in data.others.items()}
    notes = [
        f"{name!r} is not available as a map colour: it has {count:,} distinct values"
        for name, count in counts.items()
        if count > MAX_CATEGORIES
    ]
    n_offered, n_columns = _n_offered(result), len(data.names)
    if n_offered < n_columns:
        notes.append(
            f"the map can be coloured by {n_offered:,} of {n_columns:,} numeric columns, those that differ "
            "most between clusters"
        )
    return notes


def _n_offered(result: Perception) -> int:
    return min(len(result.data.names), max(1, MAX_COLOUR_VALUES // len(result.data.ids)))


def _category_codes(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(np.array([str(value) for value in column]), return_inverse=True)


def _categories(
    name: str, codes: np.ndarray, names: list[str], missing_name: str = "noise"
) -> dict[str, Any]:
    """Codes from -1 (``missing_name``) up, stored from 0 up in as few bytes as possible."""
    dtype = np.min_scalar_type(len(names))
    packed = _pack(codes + 1, dtype)
    return {
        "name": name,
        "names": names,
        "none": missing_name,
        "bytes": dtype.itemsize,
        "codes": packed,
    }


def _numbers(name: str, values: np.ndarray) -> dict[str, Any]:
    """Values, and a range of colours that a few outliers do not dominate."""
    low, high = 2.0 * np.quantile(values / 2.0, [0.01, 0.99])  # halved to avoid overflow
    if high <= low:
        low, high = values.min(), values.max()
    with np.errstate(over="ignore"):
        as_float32 = values.astype(np.float32)
    is_integer = bool((values == np.round(values)).all())
    # Values that do not fit into float32 are stored as float64.
    dtype = (
        np.float32 if np.allclose(as_float32, values, 0 if is_integer else 1e-6, 0) else np.float64
    )
    return {
        "name": name,
        "low": float(low),
        "high": float(high),
        "bytes": np.dtype(dtype).itemsize,
        "values": _pack(values, dtype),
    }


def _nearest(result: Perception) -> dict[str, Any]:
    smoothing = result.smoothing
    is_complete = len(smoothing.rows) == len(smoothing.nearest_sampled)
    return {
        "k": smoothing.before.shape[1],
        "rows": None if is_complete else _pack(smoothing.rows, np.uint32),
        "nearestSampled": None if is_complete else _pack(smoothing.nearest_sampled, np.uint32),
        "before": _pack(smoothing.before, np.uint32),
        "after": _pack(smoothing.after, np.uint32),
    }


def _matrices(result: Perception) -> dict[str, Any]:
    smoothing = result.smoothing
    before, after = map(brightness, (smoothing.matrix_before, smoothing.matrix_after))
    return {
        "size": len(smoothing.shown),
        "clusters": _pack(result.labels[smoothing.shown] + 1, np.uint32),
        "before": _pack(before, np.uint8),
        "after": _pack(after, np.uint8),
    }


def brightness(matrix: np.ndarray) -> np.ndarray:
    """Similarities as levels from 0 to 255 on a logarithmic scale that starts at the median pair."""
    pairs = matrix[~np.eye(len(matrix), dtype=bool)]
    with np.errstate(divide="ignore"):
        logs = np.log10(np.clip(matrix, 0.0, 1.0))
        darkest = np.clip(np.log10(np.median(pairs)), -30.0, -0.5)
    return np.round(255 * np.clip(1.0 - logs / darkest, 0.0, 1.0))


def _sprites(result: Perception) -> dict[str, Any] | None:
    """Thumbnails of the rows on one sheet; only of listed rows where there are too many."""
    images = result.data.images
    if images is None:
        return None
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError(
            "images in a report require Pillow: pip install 'vicinal[cli]'."
        ) from error
    step = max(1, -(-max(images.shape[1:]) // MAX_SPRITE_SIDE))
    height, width = images[:1, ::step, ::step].shape[1:]
    rows = np.arange(len(images))
    if len(images) * height * width > MAX_SPRITE_PIXELS:
        rows = _listed_rows(result)[: MAX_SPRITE_PIXELS // (height * width)]
    thumbnails = images[rows, ::step, ::step].astype(np.float64)
    thumbnails = np.where(np.isfinite(thumbnails), thumbnails, 0.0)
    low, span = thumbnails.min(), np.ptp(thumbnails)
    grey = np.round((thumbnails - low) * (255.0 / (span if span > 0 else 1.0))).astype(np.uint8)
    n_columns = int(np.ceil(np.sqrt(len(rows))))
    sheet = np.zeros((-(-len(rows) // n_columns), n_columns, height, width), dtype=np.uint8)
    sheet.reshape(-1, height, width)[: len(rows)] = grey
    image = Image.fromarray(sheet.swapaxes(1, 2).reshape(-1, n_columns * width))
    stream = BytesIO()
    image.save(stream, "PNG", optimize=True)
    return {
        "width": width,
        "height": height,
        "columns": n_columns,
        "lines": sheet.shape[0],
        "rows": None if len(rows) == len(images) else _pack(rows, np.uint32),
        "source": "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode(),
    }


def _listed_rows(result: Perception) -> np.ndarray:
    picked = [result.exemplars.noise]
    for cluster in result.exemplars.clusters:
        picked += [cluster["typical"], cluster["atypical"]]
    listed = np.unique(np.concatenate([np.asarray(rows, dtype=np.int64) for rows in picked]))
    return np.concatenate([listed, np.setdiff1d(result.smoothing.rows, listed)])


def _pack(values: np.ndarray, dtype: Any) -> str:
    # Typed arrays in browsers are little-endian.
    array = np.ascontiguousarray(values.astype(np.dtype(dtype).newbyteorder("<")))
    return base64.b64encode(array.tobytes()).decode()
