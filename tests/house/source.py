"""The measures of the house that can be read from its source.

Most return the places that they count, so that ``--where`` can show them; `MEASURES` has their names.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from .names import (
    PACKAGE,
    File,
    Import,
    PublicNames,
    imports,
    is_dunder,
    public_names,
    read,
    room_of,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

LONGEST_FUNCTION, LONGEST_FILE = 60, 600
# Packages that every other may use as it likes.
OPEN_ROOMS = {"", "_core", "_base", "exceptions"}
# The one place that may find a function by its name: public names are imported when they are first used.
LAZY_LOADER = f"{PACKAGE}._core.lazy"
# Settings of a run, by every name that they could be given.
RUN_SETTINGS = {
    "n_jobs",
    "verbose",
    "jobs",
    "n_threads",
    "threads",
    "n_workers",
    "workers",
    "verbosity",
}
SPARSE_QUESTIONS = {"issparse", "isspmatrix", "isspmatrix_csr", "isspmatrix_csc", "isspmatrix_coo"}
ARRAY_TYPE = re.compile(
    "ndarray|memmap|MaskedArray|Array|ChunkedRows|StoredPoints|spmatrix|sparray"
    "|(csr|csc|coo|bsr|dia|dok|lil)_(array|matrix)"
)
# Attributes that only arrays of one kind have.
ARRAY_ATTRIBUTES = {
    "toarray",
    "tocsr",
    "tocoo",
    "nnz",
    "rechunk",
    "chunks",
    "dask",
    "__dask_graph__",
}
CHUNKS = re.compile(r"dask|chunks|chunked|rechunk|\bdistributed\b", re.IGNORECASE)
# Calls whose strings may name a module: they find files or name a setting, and call nothing.
NAMED_AFTER_MODULES = {"files", "PackageLoader", "ContextVar", "getLogger"}


class Source:
    """The files of the package in a repository, and what they say about each other."""

    def __init__(self, root: Path):
        self.root = root
        self.files = read(root, f"src/{PACKAGE}")
        self.public = public_names(root, self.files)

    @cached_property
    def lengths(self) -> list[int]:
        return [len(file.text.splitlines()) for file in self.files]

    @cached_property
    def modules(self) -> set[str]:
        return {file.module for file in self.files}

    @cached_property
    def definitions(self) -> list[tuple[File, tuple[Definition, ...], Definition]]:
        """Each function and class with the functions and classes around it."""
        return [
            (file, around, node) for file in self.files for around, node in _definitions(file.tree)
        ]

    @cached_property
    def functions(self) -> list[tuple[File, tuple[Definition, ...], Function]]:
        return [
            (file, around, node)
            for file, around, node in self.definitions
            if not isinstance(node, ast.ClassDef)
        ]

    def is_public(self, file: File, around: tuple[Definition, ...], node: Definition) -> bool:
        """Whether a function, method or class is listed, itself or by its class."""
        if any(isinstance(outer, FUNCTIONS) for outer in around):
            return False
        names = [definition.name for definition in (*around, node)]
        is_open = all(not name.startswith("_") or is_dunder(name) for name in names[1:])
        return is_open and self.public.has(file.module, names[0])


def code_lines(source: Source) -> int:
    return sum(map(_code_lines, source.files))


def code_lines_of_studies(source: Source) -> int:
    return sum(map(_code_lines, read(source.root, "studies")))


def code_lines_of_benchmarks(source: Source) -> int:
    return sum(map(_code_lines, read(source.root, "benchmarks")))


def _code_lines(file: File) -> int:
    """Lines without docstrings, comments and blanks."""
    prose = {
        line
        for docstring in _docstrings(file)
        for line in range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1)
    }
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in prose
        for number, line in enumerate(file.text.splitlines(), 1)
    )


def _docstrings(file: File) -> list[ast.Expr]:
    return [
        node.body[0]  # type: ignore[misc]
        for node in file.nodes
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS))
        and ast.get_docstring(node, clean=False) is not None
    ]


def long_functions(source: Source) -> list[str]:
    return [
        file.place(node, node.name)
        for file, _, node in source.functions
        if _length(node) > LONGEST_FUNCTION
    ]


def _length(node: Function) -> int:
    has_docstring = ast.get_docstring(node, clean=False) is not None
    parts = [node, node.body[0]] if has_docstring else [node]
    total, *docstring = [(part.end_lineno or 0) - part.lineno + 1 for part in parts]
    return total - sum(docstring)


def forwarding_functions(source: Source) -> list[str]:
    """Functions that are another name of the function that they call."""
    return [
        file.place(node, node.name)
        for file, _, node in source.functions
        if not node.decorator_list and _forwards(node)
    ]


def _forwards(node: Function) -> bool:
    body, own = _statements(node), _argument_names(node)
    call = getattr(body[0], "value", None) if len(body) == 1 else None
    if not isinstance(call, ast.Call) or not own:
        return False
    passed = [(None, value) for value in call.args] + [(k.arg, k.value) for k in call.keywords]
    names = [_last_name(value) if isinstance(value, ast.Name) else None for _, value in passed]
    if any(keyword not in (None, name) for (keyword, _), name in zip(passed, names, strict=True)):
        return False
    called = call.func
    if isinstance(called, ast.Attribute) and _last_name(called.value) == own[0]:
        own = own[1:]  # another method of the same object
    elif any(_last_name(part) in own for part in ast.walk(called)):
        return False  # what is called is made from an argument
    return bool(own) and names == own


def _statements(node: Function) -> list[ast.stmt]:
    return [
        statement
        for statement in node.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]


def private_run_settings(source: Source) -> list[str]:
    """Private functions and classes that take settings of a run."""
    return [
        file.place(node, node.name)
        for file, around, node in source.definitions
        if _parameters(node) & RUN_SETTINGS and not source.is_public(file, around, node)
    ]


def _parameters(node: Definition) -> set[str]:
    """Parameters of a function, or the fields from which a class makes its constructor."""
    if not isinstance(node, ast.ClassDef):
        return set(_argument_names(node))
    made_from = [
        _last_name(getattr(part, "func", part)) for part in (*node.decorator_list, *node.bases)
    ]
    if not {"dataclass", "NamedTuple"} & set(made_from):
        return set()
    return {_last_name(s.target) for s in node.body if isinstance(s, ast.AnnAssign)}


def _argument_names(node: Function) -> list[str]:
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _definitions(tree: ast.Module) -> Iterator[tuple[tuple[Definition, ...], Definition]]:
    """Functions and classes at any depth, each with those around it."""
    rest: list[tuple[tuple[Definition, ...], ast.AST]] = [((), tree)]
    while rest:
        around, block = rest.pop()
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            children = getattr(block, name, [])
            for node in children if isinstance(children, list) else []:
                if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                    yield around, node
                    rest.append(((*around, node), node))
                else:
                    rest.append((around, node))


def private_imports(source: Source) -> list[str]:
    """Statements that import what another package does not list, and such attributes of a package."""
    places = []
    for file in source.files:
        foreign = [
            entry
            for entry in imports(file)
            if _room(entry) not in OPEN_ROOMS | {file.room} and _is_ours(entry)
        ]
        statements = {
            entry.node: None for entry in foreign if not source.public.has(entry.module, entry.name)
        }
        places += [file.place(node, ast.unparse(node)) for node in statements]
        places += _private_attributes(file, foreign, source.public)
    return places


def _is_ours(entry: Import) -> bool:
    return entry.module.partition(".")[0] == PACKAGE


def _room(entry: Import) -> str:
    named = f"{entry.module}.{entry.name}" if entry.module == PACKAGE else entry.module
    return room_of(named)


def _private_attributes(file: File, entries: list[Import], public: PublicNames) -> list[str]:
    packages = {entry.local: f"{entry.module}.{entry.name}" for entry in entries if entry.name}
    return [
        file.place(node, ast.unparse(node))
        for node in file.nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (face := packages.get(node.value.id)) in public.faces
        and not is_dunder(node.attr)
        and not public.has(str(face), node.attr)
    ]


def calls_by_name(source: Source) -> list[str]:
    """Calls of a service locator, attributes of modules by a name, and names of modules in strings."""
    locators = {
        node.name
        for _, around, node in source.functions
        if not around and _looks_up(list(_own_nodes(node)))
    }
    places = []
    for file in source.files:
        if file.module == LAZY_LOADER:
            continue
        modules = _imported_by_name(file.nodes) | {
            entry.local for entry in imports(file) if _is_module(entry, source.modules)
        }
        silent = {docstring.value for docstring in _docstrings(file)}
        silent |= {
            part
            for node in file.nodes
            if isinstance(node, ast.Call) and _last_name(node.func) in NAMED_AFTER_MODULES
            for part in node.args
        }
        foreign = {entry.local for entry in imports(file) if not _is_ours(entry)}
        for node in file.nodes:
            found = (
                (isinstance(node, ast.Call) and _last_name(node.func) in locators)
                or _is_lookup(node, modules)
                or _is_call_of_a_named_entry(node, foreign)
                or (node not in silent and _names_a_module(node, source.modules))
            )
            if found:
                places.append(file.place(node, ast.unparse(node)[:80]))
    return places


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    rest: list[ast.AST] = list(function.body)
    while rest:
        node = rest.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            rest += ast.iter_child_nodes(node)


def _is_module(entry: Import, modules: set[str]) -> bool:
    """Whether an import binds a name to a module of ours."""
    is_root = entry.local == entry.module.partition(".")[0]
    module = entry.module if entry.name is None else f"{entry.module}.{entry.name}"
    return module in modules or (entry.name is None and is_root and _is_ours(entry))


def _imported_by_name(nodes: list[ast.AST]) -> set[str]:
    """Names that are bound to a module which is imported by its name."""
    return {
        _last_name(target)
        for node in nodes
        if isinstance(node, ast.Assign) and _imports_by_name(node.value)
        for target in node.targets
    }


def _imports_by_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) in {"import_module", "__import__"}


def _looks_up(nodes: list[ast.AST]) -> bool:
    modules = _imported_by_name(nodes)
    return any(_is_lookup(node, modules) for node in nodes)


def _is_lookup(node: ast.AST, modules: set[str]) -> bool:
    """``getattr`` of a module of ours, or of one that is imported by its name."""
    if not (isinstance(node, ast.Call) and _last_name(node.func) == "getattr" and node.args):
        return False
    owner = node.args[0]
    return _imports_by_name(owner) or (isinstance(owner, ast.Name) and owner.id in modules)


def _is_call_of_a_named_entry(node: ast.AST, foreign: set[str]) -> bool:
    """``TABLE["name"](...)``, unless the table is of another library."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Subscript)
        and isinstance(node.func.slice, ast.Constant)
        and isinstance(node.func.slice.value, str)
        and _last_name(node.func.value) not in foreign
    )


def _names_a_module(node: ast.AST, modules: set[str]) -> bool:
    """A string that is the path of a module of ours, from the package or from the root."""
    if (
        not isinstance(node, ast.Constant)
        or not isinstance(node.value, str)
        or "." not in node.value
    ):
        return False
    text = node.value
    is_prefix = text.startswith(f"{PACKAGE}.") and text.rstrip(".") in modules
    return is_prefix or text in modules or f"{PACKAGE}.{text}" in modules


def _last_name(node: ast.AST) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))


def sparse_questions(source: Source) -> list[str]:
    return [
        str(file.path)
        for file in source.files
        if any(_is_sparse_question(node) for node in file.nodes)
    ]


def _is_sparse_question(node: ast.AST) -> bool:
    named = getattr(node, "name", "") if isinstance(node, ast.alias) else _last_name(node)
    return named in SPARSE_QUESTIONS


def kind_questions(source: Source) -> list[str]:
    """Files that ask, themselves or by a function, whether X is dense, sparse, of dask or precomputed."""
    questions = KindQuestions(source)
    found = {
        file.path: [node for node in file.nodes if questions.asks(file, node)]
        for file in source.files
    }
    return [f"{path}: {len(nodes)} questions" for path, nodes in found.items() if nodes]


class KindQuestions:
    """Recognises questions for the kind of data, also under names that a file or function gives them."""

    def __init__(self, source: Source):
        self.imported = {
            file.module: {entry.local: (entry.module, entry.name or "") for entry in imports(file)}
            for file in source.files
        }
        self.words = {
            (file.module, name)
            for file in source.files
            for name, value in _constants(file.tree)
            if _has_precomputed(value)
        }
        self.predicates: set[str] = set()
        single = [
            (file, node)
            for file, _, node in source.functions
            if _last_name(node.returns or node) == "bool" and len(_statements(node)) == 1
        ]
        # Functions that ask by functions that ask: once more, until no name is new.
        n_known = -1
        while n_known < len(self.predicates):
            n_known = len(self.predicates)
            self.predicates |= {
                node.name
                for file, node in single
                if any(self.asks(file, part) for part in ast.walk(node))
            }

    def asks(self, file: File, node: ast.AST) -> bool:
        match node:
            case ast.Compare():
                sides = (node.left, *node.comparators)
                parts = [part for side in sides for part in _elements(side)]
                return any(self._is_word(file, p) or self._is_type(file, p) for p in parts)
            case ast.MatchValue():
                return self._is_word(file, node.value)
            case ast.MatchClass():
                return self._is_type(file, node.cls)
            case ast.Call():
                return self._calls_a_question(file, node)
            case ast.Attribute() if node.attr in self.predicates:
                return True
        return _is_sparse_question(node)

    def _calls_a_question(self, file: File, call: ast.Call) -> bool:
        name = _last_name(call.func)
        if name == "isinstance":
            return any(self._is_type(file, part) for part in _elements(call.args[1]))
        if name == "hasattr":
            return getattr(call.args[1], "value", None) in ARRAY_ATTRIBUTES
        asks_for_a_word = name.lstrip("_").startswith("is")
        return name in self.predicates or (
            asks_for_a_word and any(self._is_word(file, part) for part in call.args)
        )

    def _is_word(self, file: File, part: ast.AST) -> bool:
        name = getattr(part, "id", "")
        return (
            _has_precomputed(part)
            or self.imported[file.module].get(name, (file.module, name)) in self.words
        )

    def _is_type(self, file: File, part: ast.AST) -> bool:
        name = _last_name(part)
        original = self.imported[file.module].get(name, ("", ""))[1]
        return any(ARRAY_TYPE.fullmatch(each) for each in (name, original))


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                names, values = _elements(target), _elements(node.value)
                if len(names) == len(values):
                    yield from ((_last_name(n), v) for n, v in zip(names, values, strict=True))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield _last_name(node.target), node.value


def _has_precomputed(node: ast.AST) -> bool:
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and value.startswith("precomputed")


def _elements(node: ast.AST) -> list[ast.AST]:
    """The parts of a tuple, list, set or union of types."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [part for element in node.elts for part in _elements(element)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_elements(node.left), *_elements(node.right)]
    return [node]


def chunk_files(source: Source) -> list[str]:
    """Files whose code, not their documentation, speaks of dask or chunks."""
    return [
        str(file.path)
        for file in source.files
        if not {"scale", "cells"} & set(file.module.split("."))
        and any(CHUNKS.search(word) for word in _words(file))
    ]


def _words(file: File) -> Iterator[str]:
    """Names and strings of the code, and its place."""
    yield file.module
    prose = {docstring.value for docstring in _docstrings(file)}
    for node in file.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.value
        for part in ("id", "attr", "arg", "name", "asname", "module"):
            if isinstance(word := getattr(node, part, None), str):
                yield word


def single_importers(source: Source) -> list[str]:
    """Modules that one other imports, and that list no public name."""
    importers = defaultdict(set)
    for file in source.files:
        for entry in imports(file):
            for module in (entry.module, f"{entry.module}.{entry.name}"):
                if module in source.modules and module != file.module:
                    importers[module].add(file.module)
    return [
        f"{file.path}, by {min(importers[file.module])}"
        for file in source.files
        if len(importers[file.module]) == 1
        and not file.is_package
        and file.module not in source.public.homes
    ]


def private_tests(source: Source) -> list[str]:
    """Files of tests that use a name which no package lists, `_core` and `_base` included."""
    return [
        f"{file.path}: {names[0]}"
        for file in read(source.root, "tests")
        if (names := list(_private_names(file, source)))
    ]


def _private_names(file: File, source: Source) -> Iterator[str]:
    entries = [entry for entry in imports(file) if _is_ours(entry)]
    for entry in entries:
        if not source.public.has(entry.module, entry.name):
            yield ast.unparse(entry.node)
    yield from _private_attributes(file, entries, source.public)
    for node in file.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            module, _, name = node.value.rpartition(".")
            if name.isidentifier() and module in source.modules:
                is_command = f"{node.value}.__main__" in source.modules
                if not is_command and not source.public.has(module, name):
                    yield node.value


MEASURES: dict[str, Callable[[Source], int | list[str]]] = {
    "lines in src/vicinal": lambda source: sum(source.lengths),
    "files in src/vicinal": lambda source: len(source.lengths),
    "files of more than 600 lines": lambda source: sum(n > LONGEST_FILE for n in source.lengths),
    "lines of code in src": code_lines,
    "lines of code in studies": code_lines_of_studies,
    "lines of code in benchmarks": code_lines_of_benchmarks,
    "functions of more than 60 lines without their docstrings": long_functions,
    "functions that only forward their arguments": forwarding_functions,
    "private functions with n_jobs or verbose": private_run_settings,
    "imports of another package's private names": private_imports,
    "calls of a function by a string": calls_by_name,
    "files that ask issparse": sparse_questions,
    "files that ask what X is": kind_questions,
    "files outside the cells that know dask or chunks": chunk_files,
    "modules that exactly one other imports": single_importers,
    "files of tests that import private names": private_tests,
}


def measures(root: Path) -> dict[str, int]:
    source = Source(root)
    found = {name: measure(source) for name, measure in MEASURES.items()}
    return {name: n if isinstance(n, int) else len(n) for name, n in found.items()}


def places(root: Path, words: str) -> dict[str, list[str]]:
    """What the measures whose names contain these words count."""
    source = Source(root)
    found = {name: measure(source) for name, measure in MEASURES.items() if words in name}
    return {name: where for name, where in found.items() if not isinstance(where, int)}
