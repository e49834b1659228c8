"""The packages form layers, and no import, not even inside a function, goes against their order."""

import ast
import re
from pathlib import Path

import pytest

import vicinal

ROOT = Path(vicinal.__file__).parent
# A package may import from packages of earlier rows only. Packages that share a row are independent.
LAYERS = [
    {"exceptions"},
    {"_core"},
    {"datasets"},
    {"neighbors"},
    {"tables"},
    {"graphs"},
    {"scale"},
    {"operators"},
    {"_base"},
    {"similarity"},
    {"metrics"},
    {"rank"},
    {"codes"},
    {"evidence"},
    {"cluster", "duplicates", "embed", "outliers", "semi_supervised", "segmentation"},
    {"plot", "tl"},
    {"report"},
    {"cli"},
]
HEIGHT = {package: height for height, layer in enumerate(LAYERS) for package in layer}
# Names of the top level belong to the package that defines them.
HOME = {
    alias.name: node.module.split(".")[1]
    for node in ast.parse((ROOT / "__init__.pyi").read_text(encoding="utf-8")).body
    if isinstance(node, ast.ImportFrom) and node.module != "vicinal"
    for alias in node.names
}


def imported_modules(path):
    """Modules that a file imports at any depth, each with the line that does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "vicinal":
            names = [f"vicinal.{HOME.get(alias.name, alias.name)}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for name in names:
            yield name, node.lineno


def imported_packages(path):
    """Packages of vicinal that a file imports at any depth, each with the line that does so."""
    for name, line in imported_modules(path):
        parts = name.split(".")
        if parts[0] == "vicinal" and len(parts) > 1:
            yield parts[1], line


def modules():
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT)


def test_every_package_has_its_layer():
    packages = {path.relative_to(ROOT).parts[0] for path in modules()}
    assert packages | {"exceptions"} == set(HEIGHT)


def test_only_the_errors_and_the_process_of_the_command_stand_outside_the_packages():
    names = ["__init__.py", "__main__.py", "exceptions.py"]
    assert sorted(path.name for path in ROOT.glob("*.py")) == names


@pytest.mark.parametrize("package", sorted(HEIGHT))
def test_every_package_has_tests_where_one_looks_for_them(package):
    tests, name = Path(__file__).parent, package.lstrip("_")
    assert [*tests.glob(f"{name}/test_*.py"), *tests.glob(f"test_{name}.py")]


@pytest.mark.parametrize("package", sorted(HEIGHT))
def test_no_import_goes_against_the_order_of_the_layers(package):
    wrong = []
    for path in modules():
        importer = path.relative_to(ROOT).parts[0]
        if importer != package:
            continue
        for target, line in imported_packages(path):
            if target in HEIGHT and target != importer and HEIGHT[target] >= HEIGHT[importer]:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {target}")
    assert wrong == []


def test_the_package_imports_nothing_that_stands_beside_it():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in (*ROOT.rglob("*.py"), *ROOT.rglob("*.pyi"))
        for name, line in imported_modules(path)
        if name.partition(".")[0] in ("studies", "benchmarks", "tests")
    ]
    assert wrong == []


def test_the_check_sees_imports_inside_functions(tmp_path):
    file = tmp_path / "late.py"
    file.write_text("def f():\n    from vicinal.rank import Reranker\n    return Reranker\n")
    assert list(imported_packages(file)) == [("rank", 2)]


def test_a_top_level_name_counts_as_an_import_of_its_package(tmp_path):
    file = tmp_path / "short.py"
    file.write_text("from vicinal import PerceptualRanking, graphs\n")
    assert list(imported_packages(file)) == [("rank", 1), ("graphs", 1)]


def test_files_that_the_architecture_page_names_exist():
    root = Path(__file__).parents[1]
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    # Paths are relative to the package or to the repository; a name alone is in the folder named before it.
    named = set(re.findall(r"`([a-z_/]+\.pyi?)`", page))
    files = [
        *ROOT.rglob("*.py*"),
        *(root / "tests").rglob("*.py"),
        *(root / "benchmarks").rglob("*.py"),
        *(root / "studies").rglob("*.py"),
    ]
    assert len(named) > 30
    missing = [n for n in sorted(named) if not any(f"/{file}".endswith(f"/{n}") for file in files)]
    assert missing == []
