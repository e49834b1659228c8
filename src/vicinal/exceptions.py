"""Errors and warnings of vicinal.

Every error that vicinal raises about its input is a `VicinalError`, and also the built-in error that
fits, so ``except ValueError`` keeps working.
"""

from __future__ import annotations

__all__ = [
    "InsufficientMemoryError",
    "InvalidTypeError",
    "InvalidValueError",
    "MissingDependencyError",
    "NotConvergedError",
    "VicinalError",
    "VicinalWarning",
]


class VicinalError(Exception):
    """Base of all errors that vicinal raises."""


class InvalidValueError(VicinalError, ValueError):
    """An argument has the right type but a value that cannot be used."""


class InvalidTypeError(VicinalError, TypeError):
    """An argument has a type that cannot be used."""


class InsufficientMemoryError(VicinalError, MemoryError):
    """The result or the work does not fit into the memory that is available."""


class MissingDependencyError(VicinalError, ImportError):
    """An optional dependency is not installed."""


class NotConvergedError(VicinalError, RuntimeError):
    """An iterative method did not reach its tolerance."""


class VicinalWarning(UserWarning):
    """Base of all warnings that vicinal issues."""
