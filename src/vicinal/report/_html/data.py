"""Data for the interactive part of the page, packed compactly: 100,000 rows take under 25 megabytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.report._html.colours import (
    MAX_CATEGORIES,
    Pack,
    category_codes,
    cluster_names,
    colours,
    in_base64,
    n_offered,
    texts,
)
from vicinal.report._html.pictures import png_address, thumbnails
from vicinal.report._shared_inputs import sampled_rows

if TYPE_CHECKING:
    from vicinal.report.result import Perception

# Maps with meaningful distances: both axes have the same scale.
EQUAL_ASPECT_MAPS = ("isomap", "principal")
# Fewer rows are always shown.
MIN_ROWS_OF_A_MAP = 30
MAX_SPRITE_PIXELS = 4_000_000


def payload(
    result: Perception, pack: Pack | None = None, max_values: int | None = None
) -> dict[str, Any]:
    """Everything that the scripts of the page draw, ready for JSON."""
    pack = pack or in_base64
    data, nearest = result.data, result.neighborhoods.nearest
    are_row_numbers = data.ids == [str(i) for i in range(len(data.ids))]
    return {
        "n": len(data.ids),
        "ids": None if are_row_numbers else data.ids,
        "title": result.origin.title,
        "maps": [_map(result, name, pack) for name in shown_maps(result)],
        "colours": [colour.packed(pack) for colour in colours(result, max_values)],
        "layers": _layers(result, pack),
        "texts": texts(result),
        "nearest": {"k": nearest.shape[1], "rows": pack(nearest, np.uint32)},
        "sprites": _sprites(result, pack),
    }


def shown_maps(result: Perception) -> list[str]:
    """Maps on which rows are spread over an area; if there is none, the first one."""
    names = list(result.maps.coordinates)
    spread = [name for name in names if is_spread(result.maps.coordinates[name])]
    return spread or names[:1]


def is_spread(points: np.ndarray) -> bool:
    """Whether rows fill an area, not only a few dots or a line.

    In a grid with about as many cells as rows, a straight line crosses at most twice as many cells as one
    row of the grid has.
    """
    n = len(points)
    if n < MIN_ROWS_OF_A_MAP:
        return True
    side = int(np.sqrt(n))
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    cells = np.minimum((points - low) / np.where(span > 0, span, 1.0) * side, side - 1)
    occupied = np.unique(cells.astype(np.int64) @ [side, 1])
    return len(occupied) > 2 * side


def _map(result: Perception, name: str, pack: Pack) -> dict[str, Any]:
    points = result.maps.coordinates[name]
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    nonzero_span = np.where(span > 0, span, 1.0)
    scaled = np.where(span > 0, (points - low) / nonzero_span, 0.5) * 65535
    has_ratio = name in EQUAL_ASPECT_MAPS and (span > 0).all()
    return {
        "name": name,
        "about": result.maps.about[name],
        "x": pack(np.round(scaled[:, 0]), np.uint16),
        "y": pack(np.round(scaled[:, 1]), np.uint16),
        "ratio": float(span[0] / span[1]) if has_ratio else None,
    }


def _layers(result: Perception, pack: Pack) -> dict[str, Any]:
    """Clusters at other numbers, coded as the colour of the reported ones."""
    layers = result.layers
    dtype = np.min_scalar_type(len(cluster_names(result)))
    return {
        "numbers": layers.numbers.tolist(),
        "reported": layers.reported,
        "bytes": dtype.itemsize,
        "codes": [pack(labels + 1, dtype) for labels in layers.labels],
    }


def notes_on_map(result: Perception) -> list[str]:
    """Which maps are missing, which columns the map cannot be coloured by, and why."""
    data = result.data
    hidden = set(result.maps.coordinates) - set(shown_maps(result))
    notes = list(result.maps.notes)
    notes += [
        f"the map {name!r} is not shown: its rows are only a few dots or a line"
        for name in result.maps.coordinates
        if name in hidden
    ]
    counts = {name: len(category_codes(column)[0]) for name, column in data.others.items()}
    notes += [
        f"{name!r} is not available as a map colour: it has {count:,} distinct values"
        for name, count in counts.items()
        if count > MAX_CATEGORIES
    ]
    n_colours, n_columns = n_offered(result), len(data.names)
    if n_colours < n_columns:
        notes.append(
            f"the map can be coloured by {n_colours:,} of {n_columns:,} numeric columns, those that differ "
            "most between clusters"
        )
    return notes


def _sprites(result: Perception, pack: Pack) -> dict[str, Any] | None:
    """Thumbnails of the rows on one sheet; only of listed rows where there are too many."""
    images = result.data.images
    if images is None:
        return None
    height, width = thumbnails(images, np.arange(1)).shape[1:]
    rows = np.arange(len(images))
    if len(images) * height * width > MAX_SPRITE_PIXELS:
        rows = _listed_rows(result)[: MAX_SPRITE_PIXELS // (height * width)]
    grey = thumbnails(images, rows)
    n_columns = int(np.ceil(np.sqrt(len(rows))))
    sheet = np.zeros((-(-len(rows) // n_columns), n_columns, height, width), dtype=np.uint8)
    sheet.reshape(-1, height, width)[: len(rows)] = grey
    return {
        "width": width,
        "height": height,
        "columns": n_columns,
        "lines": sheet.shape[0],
        "rows": None if len(rows) == len(images) else pack(rows, np.uint32),
        "source": png_address(sheet.swapaxes(1, 2).reshape(-1, n_columns * width)),
    }


def _listed_rows(result: Perception) -> np.ndarray:
    """The rows that the page lists, then a sample of the others."""
    picked = [result.exemplars.noise]
    for cluster in result.exemplars.clusters:
        picked += [cluster["typical"], cluster["atypical"]]
    listed = np.unique(np.concatenate([np.asarray(rows, dtype=np.int64) for rows in picked]))
    sampled = sampled_rows(
        len(result.labels), result.parameters["sample"], result.parameters["random_state"]
    )
    return np.concatenate([listed, np.setdiff1d(sampled, listed)])
