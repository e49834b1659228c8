"""Errors and warnings of vicinal.

Every error that vicinal raises about its input is a `VicinalError` and also derives from the matching
built-in error, so ``except ValueError`` keeps working.
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
    """Base class of all errors that vicinal raises."""


class InvalidValueError(VicinalError, ValueError):
    """An argument has the right type but an invalid value."""


class InvalidTypeError(VicinalError, TypeError):
    """An argument has an invalid type."""


class InsufficientMemoryError(VicinalError, MemoryError):
    """A result or a computation does not fit into the available memory."""


class MissingDependencyError(VicinalError, ImportError):
    """An optional dependency, or a file of the package, is not installed."""


class NotConvergedError(VicinalError, RuntimeError):
    """An iterative method did not converge to its tolerance."""


class VicinalWarning(UserWarning):
    """Base class of all warnings that vicinal issues."""
