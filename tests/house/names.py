"""Which names are public: those that a stub or an ``ext`` lists. All others are private, underscore or not.

An underscore is no test, because a private name would become public by losing it.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

PACKAGE = "vicinal"


@dataclass(frozen=True)
class File:
    """A Python file: where it stands, the module that it is, its text and its syntax."""

    path: Path
    module: str
    is_package: bool
    text: str
    tree: ast.Module
    nodes: list[ast.AST]

    @property
    def room(self) -> str:
        return room_of(self.module)

    def place(self, node: ast.AST, what: str = "") -> str:
        return f"{self.path}:{getattr(node, 'lineno', 1)} {what}".rstrip()


def read(root: Path, folder: str, pattern: str = "*.py") -> list[File]:
    """The files below a folder of the repository; their modules are named from its ``src``."""
    files = []
    for path in sorted((root / folder).rglob(pattern)):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text, str(path))
        inside = path.relative_to(root)
        parts = [part for part in inside.with_suffix("").parts if part != "src"]
        is_package = parts[-1] == "__init__"
        module = ".".join(parts[:-1] if is_package else parts)
        files.append(File(inside, module, is_package, text, tree, list(ast.walk(tree))))
    return files


def room_of(module: str) -> str:
    """The package of `vicinal` that a module belongs to."""
    return [*module.split("."), ""][1]


@dataclass(frozen=True)
class Import:
    """An imported name, or with ``name`` None a module, and what it is called in the importing file."""

    node: ast.AST
    module: str
    name: str | None
    local: str


def imports(file: File) -> Iterator[Import]:
    """Imports at any depth of a file, also those for type checkers only."""
    for node in file.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                yield Import(node, alias.name, None, local)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(file, node)
            for alias in node.names:
                yield Import(node, module, alias.name, alias.asname or alias.name)


def _absolute(file: File, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    up = node.level - file.is_package
    base = file.module.split(".")[: -up or None]
    return ".".join([*base, *filter(None, [node.module])])


@dataclass
class PublicNames:
    """What stubs and ``ext`` modules list, by the module that lists it and by the module that defines it."""

    faces: dict[str, set[str]] = field(default_factory=dict)
    defined: set[tuple[str, str]] = field(default_factory=set)

    def has(self, module: str, name: str | None) -> bool:
        """Whether a module, or a name in it, may be imported by other packages."""
        if name is None:
            return module in self.faces
        return (
            name in self.faces.get(module, ())
            or (module, name) in self.defined
            or f"{module}.{name}" in self.faces
        )

    @cached_property
    def homes(self) -> set[str]:
        """Modules that define a listed name."""
        return {module for module, _ in self.defined}


def public_names(root: Path, files: list[File]) -> PublicNames:
    """Read the stubs; a public module without a stub lists what it defines."""
    public = PublicNames()
    modules = {file.module: file for file in files}
    stubs = {file.module: file for file in read(root, f"src/{PACKAGE}", "*.pyi")}
    open_modules = {
        f"{module}.{name}"
        for module, stub in stubs.items()
        for name, origin in _listed(stub)
        if origin == (module, name) and f"{module}.{name}" in modules
    }
    extensions = {module for module in modules if module.rpartition(".")[2] == "ext"}
    for module in sorted(stubs.keys() | open_modules | extensions):
        lists = stubs.get(module) or modules[module]
        # Without a stub, only an ``ext`` lists what it imports.
        entries = list(_listed(lists, with_imports=module in stubs or module in extensions))
        public.faces[module] = {name for name, _ in entries}
        public.defined.update(origin for _, origin in entries)
    for module, name in _commands(root):
        public.defined.add((module, name))
    return public


def _listed(file: File, *, with_imports: bool = True) -> Iterator[tuple[str, tuple[str, str]]]:
    """Names that a stub or module lists, each with the module and the name that define it."""
    is_stub = file.path.suffix == ".pyi"
    if with_imports:
        for entry in imports(file):
            if not entry.module.startswith(PACKAGE) or entry.name is None:
                continue
            # In a stub, ``import X as X`` lists X and ``import X`` does not.
            again = any(a.asname == entry.local for a in getattr(entry.node, "names", ()))
            if again or not is_stub:
                yield entry.local, (entry.module, entry.name)
    for node in file.tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            defined = [node.name]
        else:
            targets = (
                node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
            )
            defined = [target.id for target in targets if isinstance(target, ast.Name)]
        for name in defined:
            if not name.startswith("_") or is_dunder(name):
                yield name, (file.module, name)


def _commands(root: Path) -> Iterator[tuple[str, str]]:
    """Functions that the installed commands call."""
    if (root / "pyproject.toml").exists():
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for target in project.get("scripts", {}).values():
            module, _, name = target.partition(":")
            yield module, name


def is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
