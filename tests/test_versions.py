"""The versions that the package declares are those that `make test-lowest` tests."""

import doctest
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# What a user installs; tools for tests, docs and benchmarks are always the newest.
EXTRAS = (
    "plot",
    "cli",
    "map",
    "networkx",
    "anndata",
    "excel",
    "duckdb",
    "dask",
)


def declared():
    """The lowest version of every package that a user's installation needs."""
    lines = [*PROJECT["dependencies"]]
    for extra in EXTRAS:
        lines += PROJECT["optional-dependencies"][extra]
    requirements = [Requirement(line) for line in lines]
    packages = [r for r in requirements if r.name != "vicinal"]  # an extra may include another
    return {r.name: {Version(s.version) for s in r.specifier} for r in packages}


def pinned():
    lines = (ROOT / "constraints" / "lowest.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {pin.name: {Version(s.version) for s in pin.specifier} for pin in pins}


def test_the_lowest_versions_tested_are_those_declared():
    assert pinned() == declared()


def test_what_all_installs_is_tested():
    (everything,) = map(Requirement, PROJECT["optional-dependencies"]["all"])
    assert everything.extras == set(EXTRAS)


@pytest.mark.parametrize("target", ["test-lowest", "test-newest"])
def test_the_makefile_has_a_target_for_either_end(target):
    assert f"\n{target}:" in (ROOT / "Makefile").read_text()


def test_no_example_shows_a_numpy_scalar_which_prints_differently_before_numpy_2():
    pages = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    parser = doctest.DocTestParser()
    for page in pages:
        for example in parser.get_examples(page.read_text(), str(page)):
            output = example.want.partition('"""')[0]  # code after a docstring is not part of it
            assert "np." not in output, f"{page}: {example.source}"
