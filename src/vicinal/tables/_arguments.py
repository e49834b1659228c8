"""Checks of the arguments that name columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vicinal._core.scalar_checks import check_choice, check_real
from vicinal._core.suggestions import listing, suggestion
from vicinal.exceptions import InvalidTypeError, InvalidValueError
from vicinal.tables._kinds import KINDS


def check_kinds(kinds: Any, names: Sequence[str]) -> dict[str, Any]:
    """Kinds by names of columns; an error for unknown columns or kinds."""
    checked = _checked_mapping(kinds, "kinds", names)
    for name, kind in checked.items():
        if isinstance(kind, str):
            check_choice(kind, f"kinds[{name!r}]", KINDS)
        elif not isinstance(kind, Sequence) or len(set(map(str, kind))) < max(len(kind), 2):
            raise InvalidTypeError(
                f"kinds[{name!r}]={kind!r}, but one of {', '.join(map(repr, KINDS))} is needed, or a list of "
                "different categories, lowest first."
            )
    return checked


def check_weights(weights: Any, names: Sequence[str]) -> dict[str, float]:
    """Nonnegative weights by names of columns; an error for unknown columns."""
    checked = _checked_mapping(weights, "weights", names)
    return {name: check_real(w, f"weights[{name!r}]", low=0.0) for name, w in checked.items()}


def _checked_mapping(given: Any, what: str, names: Sequence[str]) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidTypeError(f"{what}={given!r}, but a dict by names of columns is needed.")
    for name in given:
        if name not in names:
            raise InvalidValueError(
                f"{what}: X has no column {name!r}{suggestion(str(name), names)}; it has "
                f"{listing(names)}."
            )
    return dict(given)
