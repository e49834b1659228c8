"""Numbers for the interactive part of the report, packed small: 100,000 rows stay a few megabytes."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.exceptions import MissingDependencyError
from vicinal.report._summary_text import cluster_name

if TYPE_CHECKING:
    from vicinal.report.result import Perception

# Maps whose distances mean something are drawn to scale.
TO_SCALE = ("isomap", "principal")
# Columns to colour by are left out beyond so many values in all, those that tell least first.
MAX_VALUES = 2_000_000
# A column of more different words than this says nothing as colours; known labels are always there.
MAX_NAMES = 40
SPRITE_PIXELS = 4_000_000
SPRITE_SIDE = 32


def payload(found: Perception) -> dict[str, Any]:
    """Everything that the scripts of the report draw, ready for JSON."""
    data = found.data
    relabel_by_first_occurrence = data.ids == [str(i) for i in range(len(data.ids))]
    return {
        "n": len(data.ids),
        "ids": None if relabel_by_first_occurrence else data.ids,
        "maps": [_map(found, name) for name in found.maps.coordinates],
        "colours": list(_colours(found)),
        "nearest": _nearest(found),
        "matrices": _matrices(found),
        "sprites": _sprites(found),
    }


def columns_by_contrast(found: Perception) -> np.ndarray:
    """Columns in the order of how much of their variance lies between clusters, the most first."""
    values, labels = found.data.points, found.labels
    known = labels >= 0
    counts = np.bincount(labels[known])
    means = np.stack([np.bincount(labels[known], column) for column in values[known].T]) / counts
    # Units of the deviation keep large and small columns comparable.
    centre, spread = values[known].mean(axis=0), values[known].std(axis=0)
    apart = ((means - centre[:, None]) / np.where(spread > 0, spread, 1.0)[:, None]) ** 2
    return np.argsort(-(apart @ counts), kind="stable")


def _map(found: Perception, name: str) -> dict[str, Any]:
    places = found.maps.coordinates[name]
    low, span = places.min(axis=0), np.ptp(places, axis=0)
    whole = np.where(span > 0, span, 1.0)
    steps = np.where(span > 0, (places - low) / whole, 0.5) * 65535
    ratio = float(whole[0] / whole[1]) if name in TO_SCALE and (span > 0).all() else None
    return {
        "name": name,
        "about": found.maps.about[name],
        "x": _packed(np.round(steps[:, 0]), np.uint16),
        "y": _packed(np.round(steps[:, 1]), np.uint16),
        "ratio": ratio,
    }


def _colours(found: Perception) -> Iterator[dict[str, Any]]:
    data, clusters = found.data, found.clusters
    width = int(max(clusters.labels.max(), clusters.tree_labels.max())) + 1
    names = [cluster_name(label) for label in range(width)]
    yield _categories("cluster", clusters.labels, names)
    yield _numbers("noise score", clusters.noise_score)
    if data.labels is not None:
        words, codes = np.unique(data.labels, return_inverse=True)
        named = words[words != ""].tolist()
        # The empty word, which is none, comes first.
        codes = codes - (len(words) - len(named))
        yield _categories(f"known {data.label_name}", codes, named, "no label")
    yield _categories("cluster on spanning trees", clusters.tree_labels, names)
    yield _numbers("lists of neighbours it is in", found.neighborhoods.occurrences)
    for name, column in data.others.items():
        words, codes = _words(column)
        if len(words) <= MAX_NAMES:
            yield _categories(name, codes, words.tolist())
    for j in sorted(columns_by_contrast(found)[: _n_offered(found)]):
        yield _numbers(data.names[j], data.values[:, j])


def not_offered(found: Perception) -> list[str]:
    """Columns that the map cannot be coloured by, in words, and why."""
    data = found.data
    counts = {name: len(_words(column)[0]) for name, column in data.others.items()}
    notes = [
        f"{name!r} is not among the colours of the map: it has {count:,} different words"
        for name, count in counts.items()
        if count > MAX_NAMES
    ]
    most, width = _n_offered(found), len(data.names)
    if most < width:
        notes.append(
            f"the map can be coloured by {most:,} of {width:,} numeric columns, those in which "
            "clusters differ most"
        )
    return notes


def _n_offered(found: Perception) -> int:
    return min(len(found.data.names), max(1, MAX_VALUES // len(found.data.ids)))


def _words(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(np.array([str(value) for value in column]), return_inverse=True)


def _categories(
    name: str, codes: np.ndarray, names: list[str], none: str = "noise"
) -> dict[str, Any]:
    """Codes from -1 (``none``) on, stored from 0 on in as few bytes as they need."""
    kind = np.min_scalar_type(len(names))
    packed = _packed(codes + 1, kind)
    return {"name": name, "names": names, "none": none, "bytes": kind.itemsize, "codes": packed}


def _numbers(name: str, values: np.ndarray) -> dict[str, Any]:
    """The values as they are, and the range that colours span: a few extreme ones must not take it all."""
    low, high = 2.0 * np.quantile(values / 2.0, [0.01, 0.99])  # differences of halves are finite
    if high <= low:
        low, high = values.min(), values.max()
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    whole = bool((values == np.round(values)).all())
    # Numbers too large, too small or too long for four bytes take eight.
    kind = np.float32 if np.allclose(single, values, 0 if whole else 1e-6, 0) else np.float64
    return {
        "name": name,
        "low": float(low),
        "high": float(high),
        "bytes": np.dtype(kind).itemsize,
        "values": _packed(values, kind),
    }


def _nearest(found: Perception) -> dict[str, Any]:
    smoothing = found.smoothing
    whole = len(smoothing.rows) == len(smoothing.stand_in)
    return {
        "k": smoothing.before.shape[1],
        "rows": None if whole else _packed(smoothing.rows, np.uint32),
        "standIn": None if whole else _packed(smoothing.stand_in, np.uint32),
        "before": _packed(smoothing.before, np.uint32),
        "after": _packed(smoothing.after, np.uint32),
    }


def _matrices(found: Perception) -> dict[str, Any]:
    smoothing = found.smoothing
    before, after = map(brightness, (smoothing.matrix_before, smoothing.matrix_after))
    return {
        "size": len(smoothing.shown),
        "clusters": _packed(found.labels[smoothing.shown] + 1, np.uint32),
        "before": _packed(before, np.uint8),
        "after": _packed(after, np.uint8),
    }


def brightness(matrix: np.ndarray) -> np.ndarray:
    """Similarities as levels from 0 to 255, by their logarithms: most are small, but not equally so.

    Black is the median of all pairs or less, so that what is shown stands out against what is usual.
    """
    pairs = matrix[~np.eye(len(matrix), dtype=bool)]
    with np.errstate(divide="ignore"):
        logs = np.log10(np.clip(matrix, 0.0, 1.0))
        dark = np.clip(np.log10(np.median(pairs)), -30.0, -0.5)
    return np.round(255 * np.clip(1.0 - logs / dark, 0.0, 1.0))


def _sprites(found: Perception) -> dict[str, Any] | None:
    """All small pictures of the rows in one; of the rows that are listed, where they are too many."""
    images = found.data.images
    if images is None:
        return None
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError(
            "images in a report need Pillow: pip install 'vicinal[cli]'."
        ) from error
    step = max(1, -(-max(images.shape[1:]) // SPRITE_SIDE))
    height, width = images[:1, ::step, ::step].shape[1:]
    rows = np.arange(len(images))
    if len(images) * height * width > SPRITE_PIXELS:
        rows = _listed_rows(found)[: SPRITE_PIXELS // (height * width)]
    small = images[rows, ::step, ::step].astype(np.float64)
    small = np.where(np.isfinite(small), small, 0.0)
    low, span = small.min(), np.ptp(small)
    grey = np.round((small - low) * (255.0 / (span if span > 0 else 1.0))).astype(np.uint8)
    columns = int(np.ceil(np.sqrt(len(rows))))
    sheet = np.zeros((-(-len(rows) // columns), columns, height, width), dtype=np.uint8)
    sheet.reshape(-1, height, width)[: len(rows)] = grey
    picture = Image.fromarray(sheet.swapaxes(1, 2).reshape(-1, columns * width))
    stream = BytesIO()
    picture.save(stream, "PNG", optimize=True)
    return {
        "width": width,
        "height": height,
        "columns": columns,
        "lines": sheet.shape[0],
        "rows": None if len(rows) == len(images) else _packed(rows, np.uint32),
        "source": "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode(),
    }


def _listed_rows(found: Perception) -> np.ndarray:
    picked = [found.exemplars.noise]
    for cluster in found.exemplars.clusters:
        picked += [cluster["typical"], cluster["odd"]]
    first = np.unique(np.concatenate([np.asarray(part, dtype=np.int64) for part in picked]))
    return np.concatenate([first, np.setdiff1d(found.smoothing.rows, first)])


def _packed(values: np.ndarray, dtype: Any) -> str:
    # Browsers run on little-endian machines.
    whole = np.ascontiguousarray(values.astype(np.dtype(dtype).newbyteorder("<")))
    return base64.b64encode(whole.tobytes()).decode()
