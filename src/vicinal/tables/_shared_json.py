"""The shared part of columns as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vicinal.exceptions import InvalidValueError
from vicinal.tables._class_inputs import CategoryInput, ClassInput, LevelInput, NumberInput
from vicinal.tables._class_model import ClassModel
from vicinal.tables._latent_classes import Mixture
from vicinal.tables._shared import SharedPart


def shared_part_to_json(part: SharedPart) -> dict[str, Any]:
    """Description of a shared part."""
    model = part.model
    return {
        "columns": [
            {name: values.tolist() for name, values in entering._asdict().items()}
            for entering in model.inputs
        ],
        "discrete": model.discrete.tolist(),
        "log_prior": model.mixture.log_prior.tolist(),
        "coefficients": model.mixture.coefficients.tolist(),
        "centers": model.centers.tolist(),
        "kept": part.kept.tolist(),
        "residual": part.residual,
    }


def shared_part_from_json(
    state: Mapping[str, Any], sizes: Sequence[int], nominal: Sequence[bool], weights: np.ndarray
) -> SharedPart:
    """The shared part that was described; a wrong description raises an error."""
    ends = np.cumsum(sizes)
    positions = [np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    inputs = [
        _input(record, size, is_nominal)
        for record, size, is_nominal in zip(state["columns"], sizes, nominal, strict=True)
    ]
    log_prior = _finite(state["log_prior"])
    mixture = Mixture(log_prior, _finite(state["coefficients"]), 0.0)
    discrete = np.array([bool(flag) for flag in state["discrete"]])
    model = ClassModel(positions, inputs, mixture, _finite(state["centers"]), discrete)
    k, n_coordinates = len(log_prior), int(ends[-1])
    width = model.design(np.empty((0, n_coordinates))).rows.shape[1]
    shapes_fit = mixture.coefficients.shape == (width, k)
    if k < 2 or not shapes_fit or model.centers.shape != (k, n_coordinates):
        raise InvalidValueError("the classes of rows contradict the columns")
    if discrete.shape != (len(sizes),):
        raise InvalidValueError("the columns of the shared part contradict each other")
    kept = np.array(state["kept"], dtype=np.int64)
    residual = float(state["residual"])
    inside = kept.size == 0 or (kept.min() >= 0 and kept.max() < n_coordinates)
    if not inside or len(np.unique(kept)) < len(kept) or not 0 <= residual < np.inf:
        raise InvalidValueError("the shared part of the columns is damaged")
    return SharedPart(model, np.repeat(np.sqrt(weights), sizes), kept, residual)


def _input(record: Mapping[str, Any], size: int, is_nominal: bool) -> ClassInput:
    if is_nominal:
        groups = np.array(record["groups"], dtype=np.int64)
        if groups.shape != (size,) or groups.min() < 0 or groups.max() >= size + 1:
            raise InvalidValueError("the categories of a column contradict each other")
        return CategoryInput(groups)
    if "levels" in record:
        levels = _finite(record["levels"])
        if size != 1 or levels.ndim != 1 or not len(levels) or not (np.diff(levels) > 0).all():
            raise InvalidValueError("the levels of a column contradict each other")
        return LevelInput(levels)
    entering = NumberInput(*(_finite(record[name]) for name in NumberInput._fields))
    fits = all(values.shape == (size,) for values in entering)
    if not fits or not (entering.unit > 0).all() or not (entering.low <= entering.high).all():
        raise InvalidValueError("the limits of a column contradict each other")
    return entering


def _finite(values: Any) -> np.ndarray:
    array = np.array(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InvalidValueError("the shared part of a column has values that are not finite")
    return array
