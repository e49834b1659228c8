"""Whether the arrays and the description of a model fit together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vicinal._core.suggestions import quoted
from vicinal.exceptions import InvalidValueError

LARGEST = float(np.finfo(np.float64).max)
# Dtype and number of axes of each array.
ARRAY_TYPES = {
    "points": ("<f8", 2),
    "group": ("<i8", 1),
    "labels": ("<i8", 1),
    "noise_score": ("<f8", 1),
    "probabilities": ("<f8", 2),
}
# Only in models of tables with noise.
NOISE_TYPES = {
    "contexts": ("<i8", 2),
    "masses": ("<f8", 1),
    "directions": ("<f8", 2),
    "eigenvalues": ("<f8", 1),
}


def check_model(document: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Raise an error, a ValueError if possible, unless arrays and description fit together."""
    absent = [name for name in ARRAY_TYPES if name not in arrays]
    _require(not absent, f"the array {absent[:1]} is missing")
    n_points = len(arrays["points"])
    n, n_clusters = len(arrays["labels"]), arrays["probabilities"].shape[1] - 1
    _require(n_points >= 2 and n_clusters >= 1, "there are fewer than two points, or no cluster")
    shapes = {
        "group": (n,),
        "noise_score": (n,),
        "probabilities": (n, n_clusters + 1),
    }
    ranges = {
        "group": (0, n_points - 1),
        "labels": (-1, n_clusters - 1),
        "noise_score": (0, 1),
        "probabilities": (0, 1 + 1e-9),
        "points": (-LARGEST, LARGEST),
    }
    _check_arrays(arrays, shapes, ranges)
    _require(len(np.unique(arrays["group"])) == n_points, "some points have no row")
    names = document["preparation"]["names"]
    profiled = {record["column"] for record in document["columns"]}
    _require(profiled == set(names), "the columns and their profiles have different names")
    ids = document["ids"]
    _require(len(ids) == n, f"there are {len(ids)} names for {n} rows")
    _require(all(isinstance(name, str) for name in ids), "the names of rows are not all text")
    id_name = document.get("id_name")
    _require(isinstance(id_name, str | None), f"the column of row names is {id_name!r}")
    _check_scales(document, n_points)
    if any(name in arrays for name in NOISE_TYPES):
        _check_walk(document, arrays, n_points)


def _check_arrays(
    arrays: Mapping[str, np.ndarray],
    shapes: Mapping[str, tuple[int, ...]],
    ranges: Mapping[str, tuple[float, float]],
) -> None:
    for name, shape in shapes.items():
        given = arrays[name].shape
        _require(given == shape, f"the array {name!r} has shape {given} instead of {shape}")
    for name, (low, high) in ranges.items():
        array = arrays[name]
        inside = array.size == 0 or (low <= array.min() and array.max() <= high)
        _require(bool(inside), f"the array {name!r} has values outside {low:.4g} to {high:.4g}")


def _check_scales(document: Mapping[str, Any], n_points: int) -> None:
    context, scale = document["context"], document["context_scale"]
    _require(type(context) is int and context >= 1, f"context is {quoted(context)}")
    if scale is None:
        _require(context >= n_points - 1, "context_scale is missing")
    else:
        _require(_is_number(scale) and scale > 0, f"context_scale is {quoted(scale)}")
    scales = document["noise_scales"]
    numbers = [number for scale in scales for number in scale]
    valid = len(scales) == 2 and all(len(scale) == 3 for scale in scales)
    valid = valid and all(map(_is_number, [*numbers, document["most_unusual_clustered"]]))
    valid = valid and all(low > 0 and unit >= 0 for low, _, unit in scales)
    _require(valid, "the scales of the noise score are not positive numbers")


def _check_walk(
    document: Mapping[str, Any], arrays: Mapping[str, np.ndarray], n_points: int
) -> None:
    absent = [name for name in NOISE_TYPES if name not in arrays]
    _require(not absent, f"the array {absent[:1]} is missing")
    n_directions = len(arrays["eigenvalues"])
    n_members = arrays["contexts"].shape[1]
    _require(1 <= n_members < n_points, "contexts have no members")
    _check_arrays(
        arrays,
        {
            "contexts": (n_points, n_members),
            "masses": (n_points,),
            "directions": (n_points, n_directions),
        },
        {
            "contexts": (0, n_points - 1),
            "masses": (0, 1 + 1e-9),
            "directions": (-LARGEST, LARGEST),
            "eigenvalues": (-1 - 1e-6, 1 + 1e-6),
        },
    )
    for name in ("beta", "norm_threshold"):
        _require(_is_number(document[name]) and document[name] >= 0, f"{name} is not a number")


def _is_number(value: Any) -> bool:
    # JSON has integers of any length, and reads 1e999 as infinite.
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InvalidValueError(message)
