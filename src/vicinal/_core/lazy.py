"""Public names, imported when they are first used.

``import vicinal`` must be fast: numba, matplotlib and the search libraries are imported by the first call
that needs them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

# Functions and classes for dask arrays by name, and the module that defines each.
_CHUNKED: dict[str, str] = {}


def register_chunked(modules: Mapping[str, str]) -> None:
    """Tell which module defines each counterpart for dask arrays, without importing it."""
    _CHUNKED.update(modules)


def chunked_counterpart(name: str) -> Any:
    """The registered function or class for dask arrays; its module is imported now."""
    return getattr(importlib.import_module(_CHUNKED[name]), name)


def attach_stub(spec: Any) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Build ``__getattr__``, ``__dir__`` and ``__all__`` for a package from its stub.

    The stub ``__init__.pyi`` beside the package's ``__init__.py`` is the only list of its public names;
    type checkers and editors read the same file.

    Parameters
    ----------
    spec : importlib.machinery.ModuleSpec
        The package's ``__spec__``. Its loader reads the stub, so the package may also be in a zip file.
    """
    package = spec.name
    origins = _origins(_read_stub(spec))
    public = sorted(origins)

    def __getattr__(name: str) -> Any:
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if origins[name] == package:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(origins[name]), name)

    def __dir__() -> list[str]:
        return public

    return __getattr__, __dir__, public


def _read_stub(spec: Any) -> str:
    path = f"{spec.origin.rpartition('.')[0]}.pyi"
    try:
        return spec.loader.get_data(path).decode()
    except OSError as error:
        from vicinal.exceptions import MissingDependencyError

        raise MissingDependencyError(
            f"cannot read {path}, which lists the public names of {spec.name}: {error}; install vicinal "
            "again, and if it is part of a frozen application, add its .pyi files as data."
        ) from error


def _origins(stub: str) -> dict[str, str]:
    """For each name that a stub lists, the module it is imported from.

    Tests hold every stub in one form, ``from module import name as name`` for each name, so its words are
    enough. Importing a parser would take longer than the rest of ``import vicinal``.
    """
    words = stub.replace("(", "").split()
    return {words[i + 3]: words[i + 1] for i, word in enumerate(words) if word == "from"}
