import ast
import importlib
import inspect
import json
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import vicinal

ROOT = Path(vicinal.__file__).parent
# The folder of each package that lists its public names.
FOLDERS = {
    ".".join(stub.parent.relative_to(ROOT.parent).parts): stub.parent
    for stub in sorted(ROOT.rglob("__init__.pyi"))
}


def in_a_fresh_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def listed_in(package):
    """The names that a stub lists, and the module that each is imported from."""
    origins = {}
    for node in ast.parse((FOLDERS[package] / "__init__.pyi").read_text(encoding="utf-8")).body:
        if ast.unparse(node) == "__version__: str":
            continue
        # This is the only form that `attach_stub` reads.
        name = ast.unparse(node).rpartition(" ")[2]
        assert ast.unparse(node) == f"from {node.module} import {name} as {name}"
        assert name not in origins
        origins[name] = node.module
    return origins


@pytest.mark.parametrize("package", FOLDERS)
def test_importing_a_package_loads_nothing_heavy(package):
    heavy = ["numba", "matplotlib", "sklearn", "faiss", "pandas", "networkx", "anndata"]
    loaded = in_a_fresh_process(
        f"import json, sys, {package}\n"
        f"print(json.dumps([name for name in {heavy} if name in sys.modules]))"
    )
    assert loaded == []


@pytest.mark.parametrize("package", FOLDERS)
def test_a_package_offers_what_its_stub_lists(package):
    module = importlib.import_module(package)
    origins = listed_in(package)
    assert module.__all__ == dir(module) == sorted(origins)
    star = {}
    exec(f"from {package} import *", star)
    assert star.keys() - {"__builtins__"} == set(origins)
    for name, origin in origins.items():
        is_module = origin == package
        at = importlib.import_module(f"{origin}.{name}" if is_module else origin)
        value = getattr(module, name)
        assert value is star[name] is (at if is_module else getattr(at, name))
        assert inspect.getdoc(value), f"{package}.{name} has no docstring"


@pytest.mark.parametrize("package", FOLDERS)
def test_importing_a_module_hides_no_name_of_its_package(package):
    origins = listed_in(package)
    modules = {path.stem for path in FOLDERS[package].iterdir() if path.suffix in {"", ".py"}}
    assert [name for name in modules & origins.keys() if origins[name] != package] == []


@pytest.mark.parametrize("package", FOLDERS)
def test_an_unknown_name_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        _ = importlib.import_module(package).nonsense


@pytest.fixture
def small_copy(tmp_path):
    """The files that are needed to list names, in another folder."""
    for path in [*ROOT.rglob("__init__.py*"), ROOT / "_core" / "lazy.py", ROOT / "exceptions.py"]:
        target = tmp_path / "copy" / path.relative_to(ROOT.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return tmp_path / "copy"


def test_names_are_also_found_in_a_zip_file(small_copy):
    archive = shutil.make_archive(small_copy, "zip", small_copy)
    found = in_a_fresh_process(
        f"import sys; sys.path.insert(0, {archive!r})\n"
        "import json, vicinal\n"
        "print(json.dumps([vicinal.__file__, dir(vicinal), vicinal.graphs.__all__]))"
    )
    assert found[0].startswith(archive)
    assert found[1:] == [vicinal.__all__, vicinal.graphs.__all__]


def test_a_missing_stub_is_named_with_a_remedy(small_copy):
    stub = small_copy / "vicinal" / "graphs" / "__init__.pyi"
    stub.unlink()
    text = in_a_fresh_process(
        f"import sys; sys.path.insert(0, {str(small_copy)!r})\n"
        "import json, vicinal\n"
        "try:\n    vicinal.graphs\nexcept ImportError as error:\n    print(json.dumps(str(error)))"
    )
    assert f"cannot read {stub}, which lists the public names of vicinal.graphs" in text
    assert "install vicinal again" in text


def test_only_the_command_knows_the_command():
    for path in ROOT.rglob("*.py"):
        if path.relative_to(ROOT).parts[0] in ("cli", "__main__.py"):
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
