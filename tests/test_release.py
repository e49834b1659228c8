"""The files of a release agree with the package."""

import importlib.util
import re
import shutil
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_conda_recipe_has_the_dependencies_of_the_package():
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n")[1].split("\ntest:")[0]
    listed = [line.strip("- ").replace(" ", "") for line in run.splitlines() if "- " in line]
    assert listed == [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]


def test_the_version_is_the_same_everywhere():
    version = PROJECT["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    assert f"version: {version}\n" in citation
    # The recipe is a draft of the coming release.
    assert f'version = "{version.partition(".dev")[0]}"' in recipe
    assert re.search(rf"^## {re.escape(version)}", (ROOT / "CHANGELOG.md").read_text(), re.M)


@pytest.fixture
def set_repository():
    path = ROOT / "packaging" / "set_repository.py"
    spec = importlib.util.spec_from_file_location("set_repository", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def test_a_release_has_addresses_and_absolute_links(set_repository, tmp_path):
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    set_repository(tmp_path, "https://example.org/someone/vicinal/")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Homepage"] == "https://example.org/someone/vicinal"
    assert {key: value for key, value in project.items() if key != "urls"} == PROJECT
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", page)
    assert len(targets) > 20
    assert all(target.startswith("https://") for target in targets)
    # Each link leads to a file of the repository, images to their content.
    own = "https://example.org/someone/vicinal/"
    for target in targets:
        if target.startswith(own):
            view, version, file = target.removeprefix(own).split("/", 2)
            assert version == f"v{PROJECT['version']}"
            assert view == ("raw" if file.endswith(".png") else "blob")
            assert (ROOT / file.partition("#")[0]).exists()


@pytest.mark.parametrize("address", ["vicinal", "http://example.org/a/b", "https://example.org"])
def test_other_addresses_change_nothing(set_repository, tmp_path, address):
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    with pytest.raises(SystemExit, match="not an address"):
        set_repository(tmp_path, address)
    assert (tmp_path / "README.md").read_bytes() == (ROOT / "README.md").read_bytes()
