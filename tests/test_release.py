"""The files of a release agree with the package."""

import re
import tomllib
from pathlib import Path

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
