"""Pickles of another layout are refused when they are loaded.

A pickle holds private attributes by name. Once these have moved or mean something else, it would load
without an error, and fail or answer wrongly later.
"""

from __future__ import annotations

from typing import Any

from vicinal import __version__
from vicinal.exceptions import InvalidValueError

# Raise it with every change of the names, the meaning or the classes of what pickled objects hold.
LAYOUT = 2
# Entry of a pickled state.
KEY = "vicinal layout"


class Layout:
    """First entry of a pickled state, so that it is loaded before parts whose classes may be gone."""

    def __init__(self, kind: str, number: int, version: str) -> None:
        self.kind = kind
        if number != LAYOUT:
            raise _refusal(kind, f"by vicinal {version} (layout {number})")

    def __reduce__(self) -> tuple[Any, ...]:
        return Layout, (self.kind, LAYOUT, __version__)


def stamped(kind: str, attributes: Any) -> dict[str, Any]:
    """State of an object of a class of this name, to be pickled."""
    return {KEY: Layout(kind, LAYOUT, __version__), **attributes}


def unstamped(kind: str, state: dict[str, Any]) -> dict[str, Any]:
    """The attributes in a state that was loaded."""
    if KEY not in state:
        raise _refusal(kind, "by a development version of vicinal (without a layout)")
    return {name: value for name, value in state.items() if name != KEY}


def _refusal(kind: str, origin: str) -> InvalidValueError:
    return InvalidValueError(
        f"this {kind} was pickled {origin}, but this is vicinal {__version__} (layout {LAYOUT}); fit or "
        "build it again, because attributes have moved."
    )


class Stamped:
    """Mixin of objects that users may pickle."""

    def __getstate__(self) -> dict[str, Any]:
        return stamped(type(self).__name__, super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(unstamped(type(self).__name__, state))
