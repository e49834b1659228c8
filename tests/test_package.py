import ast
import importlib
import json
import subprocess
import sys
from importlib.resources import files

import pytest

import vicinal

PACKAGES = [
    "vicinal",
    "vicinal.graphs",
    "vicinal.neighbors",
    "vicinal.datasets",
    "vicinal.plot",
    "vicinal.report",
]


def in_a_fresh_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_loads_nothing_heavy(package):
    heavy = ["numba", "matplotlib", "sklearn", "faiss", "pandas", "networkx", "anndata"]
    loaded = in_a_fresh_process(
        f"import json, sys, {package}\n"
        f"print(json.dumps([name for name in {heavy} if name in sys.modules]))"
    )
    assert loaded == []


@pytest.mark.parametrize("package", [*PACKAGES, "vicinal.similarity"])
def test_every_public_name_resolves(package):
    module = importlib.import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        _ = importlib.import_module(package).nonsense


def test_functions_are_not_hidden_by_modules_of_the_same_name():
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            getattr(module, name)
        if package != "vicinal":
            assert all(callable(getattr(module, name)) for name in module.__all__)


def test_only_the_command_knows_the_command():
    root = files("vicinal")
    for path in root.rglob("*.py"):
        if path.relative_to(root).parts[0] == "cli":
            continue
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        imported = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        imported += [a.name for node in nodes if isinstance(node, ast.Import) for a in node.names]
        assert not any(name.startswith("vicinal.cli") for name in imported), path


def test_the_version_is_the_one_installed():
    from importlib.metadata import version

    assert version("vicinal") == vicinal.__version__


def test_types_and_data_ship_with_the_package():
    assert (files("vicinal") / "py.typed").is_file()
    assert (files("vicinal.datasets") / "noisy_spiral.csv").is_file()
