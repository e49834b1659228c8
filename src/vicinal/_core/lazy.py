"""Public names that are imported when they are first used.

``import vicinal`` must stay cheap: numba, matplotlib and the search libraries are loaded by the call
that needs them, not by the import of the package.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

# Names by the package that shows them, each with the package that defines them.
_LENT: dict[str, dict[str, str]] = {}


def lend(names: Sequence[str], *, source: str, to: str) -> None:
    """Show public names of the package ``source`` in ``to`` as well, without an import between them.

    Must be called before ``to`` is imported.
    """
    _LENT.setdefault(to, {}).update(dict.fromkeys(names, source))


def attach(
    package: str, names: Mapping[str, Sequence[str]], submodules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Build ``__getattr__``, ``__dir__`` and ``__all__`` for a package.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    names : mapping of str to sequence of str
        Public names by the module, relative to the package, that defines them.
    submodules : sequence of str
        Modules of the package that are public themselves.
    """
    origin = {name: module for module, group in names.items() for name in group}
    lent = _LENT.get(package, {})
    public = sorted({*origin, *submodules, *lent})

    def __getattr__(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(f"{package}.{name}")
        if name in origin:
            return getattr(importlib.import_module(f"{package}.{origin[name]}"), name)
        if name in lent:
            return getattr(importlib.import_module(lent[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return public

    return __getattr__, __dir__, public
