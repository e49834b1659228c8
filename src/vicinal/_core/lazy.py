"""Lazy imports of public names.

``import vicinal`` must be fast: numba, matplotlib and the search libraries are imported by the first call
that needs them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

# For each package, names that another package defines, and that package.
_REEXPORTS: dict[str, dict[str, str]] = {}
# Functions and classes for dask arrays by name, and the module that defines each.
_CHUNKED: dict[str, str] = {}


def reexport(names: Sequence[str], *, source: str, to: str) -> None:
    """Re-export public names of the package ``source`` from ``to``, without an import in either of them.

    Must be called before ``to`` is imported.
    """
    _REEXPORTS.setdefault(to, {}).update(dict.fromkeys(names, source))


def register_chunked(modules: Mapping[str, str]) -> None:
    """Tell which module defines each counterpart for dask arrays, without importing it."""
    _CHUNKED.update(modules)


def chunked_counterpart(name: str) -> Any:
    """The registered function or class for dask arrays; its module is imported now."""
    return getattr(importlib.import_module(_CHUNKED[name]), name)


def attach(
    package: str, names: Mapping[str, Sequence[str]], submodules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Build ``__getattr__``, ``__dir__`` and ``__all__`` for a package.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    names : mapping of str to sequence of str
        For each module, relative to the package, the public names it defines.
    submodules : sequence of str
        Public modules of the package.
    """
    origin = {name: module for module, group in names.items() for name in group}
    reexports = _REEXPORTS.get(package, {})
    public = sorted({*origin, *submodules, *reexports})

    def __getattr__(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(f"{package}.{name}")
        if name in origin:
            return getattr(importlib.import_module(f"{package}.{origin[name]}"), name)
        if name in reexports:
            return getattr(importlib.import_module(reexports[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return public

    return __getattr__, __dir__, public
