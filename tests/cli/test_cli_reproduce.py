import csv
import sys
from importlib import import_module
from types import ModuleType

import pytest

from vicinal.cli import reproduce
from vicinal.studies.experiments import Experiment

ROWS = [{"graph": "mst", "error": 0.25}, {"graph": "dmst", "error": 0.125}]


@pytest.fixture
def study(monkeypatch):
    """A study with one trivial experiment; the list records its settings."""
    calls = []

    def measure(setting, verbose):
        calls.append((setting, verbose))
        return ROWS

    def plan(quick, data):
        return ("quick" if quick else "full", data), [
            Experiment(
                "errors",
                measure,
                lambda rows: [["graph", "error"], *([r["graph"], f"{r['error']:g}"] for r in rows)],
                lambda rows, path: path.write_bytes(b"picture"),
                "trees are better.",
            )
        ]

    module = ModuleType("vicinal.studies.fake_report")
    module.plan = plan
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(reproduce.STUDIES, "fake", reproduce.Study("nothing", "fake_report"))
    return calls


def test_tables_and_figures_are_written(study, tmp_path, run, capsys):
    folder = tmp_path / "new" / "study"
    assert run("reproduce", "fake", "--quick", "--data", tmp_path, "-o", folder) == 0
    assert study == [(("quick", tmp_path), 0)]
    assert sorted(path.name for path in folder.iterdir()) == [
        "errors.csv",
        "errors.md",
        "errors.png",
    ]
    with (folder / "errors.csv").open() as file:
        assert [row["graph"] for row in csv.DictReader(file)] == ["mst", "dmst"]
    text = (folder / "errors.md").read_text()
    assert text.splitlines()[2:] == [
        "| mst | 0.25 |",
        "| dmst | 0.125 |",
        "",
        "The paper: trees are better.",
    ]
    out = capsys.readouterr().out
    assert "dmst   0.125" in out
    assert f"fake written to {folder}" in out


def test_json_has_the_summaries(study, tmp_path, facts_of):
    (experiment,) = facts_of("reproduce", "fake", "-o", tmp_path / "study")["experiments"]
    assert experiment["summary"][1] == {"graph": "dmst", "error": "0.125"}
    assert experiment["claim"] == "trees are better."


def test_existing_results_are_an_error_before_any_work(study, tmp_path, run, error_of):
    (tmp_path / "errors.md").write_text("old")
    assert "errors.md exists; use --force" in error_of("reproduce", "fake", "-o", tmp_path)
    assert study == []
    assert run("reproduce", "fake", "-o", tmp_path, "--force") == 0
    assert "trees are better" in (tmp_path / "errors.md").read_text()


@pytest.mark.parametrize("name", reproduce.STUDIES)
def test_every_study_has_experiments_with_unique_names(name):
    module = import_module(f"vicinal.studies.{reproduce.STUDIES[name].module}")
    _, experiments = module.plan(True, None)
    names = [experiment.name for experiment in experiments]
    assert names
    assert len(set(names)) == len(names)
