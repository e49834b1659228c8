"""Docstrings follow the numpydoc standard, checked by numpydoc itself."""

import importlib
import inspect

import pytest

validate = pytest.importorskip("numpydoc.validate").validate

import vicinal  # noqa: E402

# Rules that are not applied, and why.
IGNORED = {
    "ES01": "a one-line summary is enough where there is nothing more to say",
    "SA01": "the pages of the documentation link related functions",
    "SS05": "the rule mistakes nouns that end in s (Clusters, Eigenpairs) for verbs",
}
# Examples are required for functions and classes: a method is shown in the example of its class, and
# there is nothing to show for an exception.
IGNORED_WITHOUT_EXAMPLE = {"EX01"}


def public_objects():
    packages = [name for name in vicinal.__all__ if inspect.ismodule(getattr(vicinal, name))]
    for package in ["vicinal", *(f"vicinal.{name}" for name in packages)]:
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if not inspect.ismodule(value):
                yield value


def qualified_names():
    """Names of public functions, classes and methods, and whether they need an example."""
    names = {}
    for value in public_objects():
        name = f"{value.__module__}.{value.__qualname__}"
        is_exception = inspect.isclass(value) and issubclass(value, BaseException)
        names[name] = not is_exception
        if inspect.isclass(value):
            for member_name, member in vars(value).items():
                defined_here = (getattr(member, "__module__", None) or "").startswith("vicinal")
                if defined_here and callable(member) and not member_name.startswith("_"):
                    names[f"{name}.{member_name}"] = False
    return sorted(names.items())


@pytest.mark.parametrize(("name", "needs_example"), qualified_names(), ids=str)
def test_the_docstring_is_valid_numpydoc(name, needs_example):
    ignored = set(IGNORED) | (set() if needs_example else IGNORED_WITHOUT_EXAMPLE)
    errors = [f"{code}: {text}" for code, text in validate(name)["errors"] if code not in ignored]
    assert errors == []
