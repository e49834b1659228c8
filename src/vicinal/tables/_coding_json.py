"""Coders as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from vicinal.exceptions import InvalidValueError
from vicinal.tables._coding import CategoryCoder, Coder, DateCoder, NumberCoder, RankCoder


def coder_to_json(coder: Coder) -> dict[str, Any]:
    """Description of a coder."""
    if isinstance(coder, NumberCoder):
        return {"center": coder.center, "unit": coder.unit, "floor": coder.floor}
    if isinstance(coder, RankCoder):
        return {"ranks": coder.ranks, "length": float(coder.length)}
    if isinstance(coder, DateCoder):
        return {"line": coder_to_json(coder.line), "periods": coder.periods}
    assert isinstance(coder, CategoryCoder)
    pooled = sorted(coder.pooled)
    return {"categories": coder.categories, "pooled": pooled, "size": float(coder.size)}


def coder_from_json(state: Mapping[str, Any], kind: str) -> Coder:
    """The coder for columns of a kind that was described; a wrong description raises an error."""
    if kind == "numeric":
        return _number_coder(state)
    if kind == "ordinal":
        ranks = {str(level): _finite(rank) for level, rank in state["ranks"].items()}
        return RankCoder(ranks, _finite(state["length"]))
    if kind == "date":
        periods = {str(name): _positive(period) for name, period in state["periods"].items()}
        return DateCoder(_number_coder(state["line"]), periods)
    categories = [str(word) for word in state["categories"]]
    if not categories:
        raise InvalidValueError("a column has no categories")
    pooled = frozenset(str(word) for word in state["pooled"])
    return CategoryCoder(categories, pooled, _positive(state["size"]))


def _number_coder(state: Mapping[str, Any]) -> NumberCoder:
    floor = _finite(state["floor"])
    if floor < 0:
        raise InvalidValueError(f"{floor!r} is not a smallest positive number")
    return NumberCoder(_finite(state["center"]), _positive(state["unit"]), floor)


def _finite(value: Any) -> float:
    if type(value) not in (int, float) or not isfinite(value):
        raise InvalidValueError(f"{value!r} is not a number")
    return float(value)


def _positive(value: Any) -> float:
    if _finite(value) <= 0:
        raise InvalidValueError(f"{value!r} is not positive")
    return float(value)
