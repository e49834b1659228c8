"""Errors of the library have their own classes, which derive from the built-in ones that users catch."""

import ast
from pathlib import Path

import numpy as np
import pytest

import vicinal
from vicinal import exceptions, graphs

ROOT = Path(vicinal.__file__).parent
BUILT_IN = {"ValueError", "TypeError", "MemoryError", "ImportError", "RuntimeError"}


def raised_names(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        call = node.exc if isinstance(node, ast.Raise) else None
        call = node.value if isinstance(node, ast.Return) else call
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            yield call.func.id, node.lineno


def test_no_module_raises_a_bare_built_in_error():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in sorted(ROOT.rglob("*.py"))
        if not path.stem.endswith("_kernels")
        for name, line in raised_names(path)
        if name in BUILT_IN
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("call", "built_in"),
    [
        (lambda: graphs.knn([[np.nan]]), ValueError),
        (lambda: graphs.knn([[1.0], [2.0]], "many"), TypeError),
        (lambda: graphs.knn([[1.0], [2.0]], 5), ValueError),
    ],
)
def test_an_error_is_caught_by_its_own_class_and_by_the_built_in_one(call, built_in):
    with pytest.raises(exceptions.VicinalError) as caught:
        call()
    assert isinstance(caught.value, built_in)


def test_warnings_are_of_one_class():
    assert issubclass(exceptions.VicinalWarning, UserWarning)
