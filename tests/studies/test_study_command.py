"""``python -m studies``: lists the studies, and writes a table and a figure of every experiment."""

import csv
import sys
from importlib import import_module
from types import ModuleType

import pytest

from studies.__main__ import STUDIES, Study, main
from studies.experiments import Experiment

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

    module = ModuleType("studies.fake_report")
    module.plan = plan
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(STUDIES, "fake", Study("nothing", "fake_report"))
    return calls


@pytest.fixture
def error_of(capsys):
    """What the command prints if it exits with code 2."""

    def call(*args):
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
        assert stop.value.code == 2
        return capsys.readouterr().err

    return call


def test_tables_and_figures_are_written(study, tmp_path, capsys):
    folder = tmp_path / "new" / "study"
    main(["fake", "--quick", "--data", str(tmp_path), "-o", str(folder), "--progress"])
    assert study == [(("quick", tmp_path), 1)]
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
    assert "| dmst | 0.125 |" in capsys.readouterr().out


def test_without_a_name_the_studies_are_listed(capsys):
    main([])
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(STUDIES)


def test_existing_results_are_an_error_before_any_work(study, tmp_path, error_of):
    (tmp_path / "errors.md").write_text("old")
    assert "errors.md exists; use --force" in error_of("fake", "-o", tmp_path)
    assert study == []
    main(["fake", "-o", str(tmp_path), "--force"])
    assert "trees are better" in (tmp_path / "errors.md").read_text()


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("contextual-distance", ["mnist_test.npz", "orl_faces.npz"]),
        ("cluster-preserving", ["mnist_test.npz"]),
        ("self-smoothing", ["mpeg7_dist.npz", "orl_faces.npz", "bsds_half.npz"]),
        ("structure-aware-l1", ["breast_tissue.csv", "soybean_307.csv"]),
    ],
)
def test_an_error_lists_the_files_that_a_folder_lacks_before_any_work(
    name, files, tmp_path, error_of
):
    message = error_of(name, "--data", tmp_path, "-o", tmp_path / "out")
    assert all(file in message for file in files)
    assert not (tmp_path / "out").exists()


def test_a_study_that_makes_its_own_data_rejects_a_folder(tmp_path, error_of):
    assert "--data has no effect" in error_of("proximity-graphs", "--data", tmp_path)


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_experiments_with_unique_names(name):
    module = import_module(f"studies.{STUDIES[name].module}")
    _, experiments = module.plan(True, None)
    names = [experiment.name for experiment in experiments]
    assert names
    assert len(set(names)) == len(names)
