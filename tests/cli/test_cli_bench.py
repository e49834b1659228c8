import json

import pytest

from vicinal.cli import bench

FAKE = """
import argparse, sys
parser = argparse.ArgumentParser()
parser.add_argument("suite", choices=["graphs", "tasks", "speed"])
parser.add_argument("--quick", action="store_true")
parser.add_argument("--only")
parser.add_argument("--limit", type=float)
arguments = parser.parse_args()
print("measured", arguments.suite, arguments.quick, arguments.only, arguments.limit)
sys.exit(arguments.only == "broken")
"""


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A repository whose benchmarks only print their arguments."""
    (tmp_path / "benchmarks").mkdir()
    # Without this file, a package of the same name elsewhere on the path would be run instead.
    (tmp_path / "benchmarks" / "__init__.py").touch()
    (tmp_path / "benchmarks" / "__main__.py").write_text(FAKE)
    (tmp_path / "src" / "vicinal").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    return tmp_path


def test_suites_are_run_with_their_options(clone, run, capfd):
    assert run("bench", "tasks", "--quick", "--only", "mst", "--limit", 5) == 0
    assert "measured tasks True mst 5.0" in capfd.readouterr().out


def test_without_a_suite_all_are_listed_and_none_is_run(clone, run, capfd):
    assert run("bench") == 0
    out = capfd.readouterr().out
    assert "measured" not in out
    assert "usage: vicinal bench SUITE, or vicinal bench all" in out
    assert {"graphs", "tasks"} <= set(out.split())


def test_all_runs_all_suites(clone, run, capfd):
    assert run("bench", "all") == 0
    out = capfd.readouterr().out
    assert "measured graphs False None None" in out
    assert "measured tasks False None None" in out
    assert "measured speed" not in out  # it repeats other suites


def test_stdout_holds_only_json_with_the_option(clone, run, capfd):
    assert run("bench", "graphs", "--json") == 0
    captured = capfd.readouterr()
    facts = json.loads(captured.out)
    assert [done["suite"] for done in facts["suites"]] == ["graphs"]
    assert facts["root"] == str(clone)
    assert "measured graphs" in captured.err


def test_an_unknown_suite_lists_the_suites_and_suggests_one(clone, error_of):
    assert "unknown suite 'xyz'; choose from graphs, tasks" in error_of("bench", "xyz")
    assert "(did you mean 'graphs'?)" in error_of("bench", "grahps")


def test_a_failed_suite_is_an_error(clone, run, capfd):
    assert run("bench", "graphs", "--only", "broken") == 2
    assert "suite graphs failed with exit code 1" in capfd.readouterr().err


def test_an_error_explains_that_the_repository_is_needed(tmp_path):
    with pytest.raises(FileNotFoundError, match="clone the repository"):
        bench.find_benchmarks(tmp_path)
