"""What holds for every command: exit codes, one-line errors, --json, --debug and --force."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

import vicinal  # noqa: E402
from vicinal import graphs  # noqa: E402
from vicinal.cli import COMMANDS, RETIRED, build_parser  # noqa: E402
from vicinal.cli.kinds import KINDS  # noqa: E402

NAMES = [module.__name__.rpartition(".")[2] for module in COMMANDS]


def options_of(name):
    (commands,) = (a for a in build_parser()._actions if hasattr(a, "choices") and a.choices)
    return {o: action for action in commands.choices[name]._actions for o in action.option_strings}


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_the_common_options(name):
    options = options_of(name)
    assert {"--json", "--debug", "--help"} <= set(options)
    # Nothing is overwritten without --force.
    assert ("--output" in options) == ("--force" in options)
    assert "--n-jobs" not in options


@pytest.mark.parametrize("name", NAMES)
def test_help_shows_an_example_of_the_command(name, run, capsys):
    with pytest.raises(SystemExit) as stop:
        run(name, "--help")
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert "example" in out
    assert f"vicinal {name} " in out.partition("example")[2]


@pytest.mark.parametrize("arguments", [[], ["graph"], ["graph", "x.csv", "--kind", "nonsense"]])
def test_usage_errors_exit_with_2(arguments, capsys, run):
    with pytest.raises(SystemExit) as stop:
        run(*arguments)
    assert stop.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_without_a_command_all_commands_are_listed(capsys, run):
    with pytest.raises(SystemExit) as stop:
        run()
    assert stop.value.code == 2
    page = capsys.readouterr().err
    assert all(f"\n    {name} " in page for name in NAMES)


def test_a_file_in_place_of_a_command_leads_to_perceive(table, capsys, run):
    with pytest.raises(SystemExit) as stop:
        run(table)
    assert stop.value.code == 2
    assert f"use: vicinal perceive {table}" in capsys.readouterr().err


@pytest.mark.parametrize("name", RETIRED)
def test_a_retired_command_says_what_to_write_instead(name, capsys, run):
    with pytest.raises(SystemExit) as stop:
        run(name, "argument", "--option")
    assert stop.value.code == 2
    assert RETIRED[name] in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shtab_completes_commands_and_their_options(shell):
    shtab = pytest.importorskip("shtab")
    script = shtab.complete(build_parser(), shell)
    # Commands, and choices of their options.
    assert all(name in script for name in (*NAMES, *KINDS))


def test_json_and_text_agree(table, tmp_path, run, facts_of, capsys):
    facts = facts_of("graph", table, "--kind", "mst", "-o", tmp_path / "a.csv")
    assert (facts["nodes"], facts["edges"], facts["components"]) == (60, 59, 1)
    assert facts["written"] == {"edges": str(tmp_path / "a.csv")}
    assert run("graph", table, "--kind", "mst") == 0
    out = capsys.readouterr().out
    for name in ("shortest_edge", "median_edge", "longest_edge"):
        assert f"{facts[name]:.6g}" in out


def test_json_has_no_nan_or_infinity(run, capsys, monkeypatch):
    from vicinal.cli import demo

    result = {
        "fraction": np.float32(np.inf),
        "curve": np.array([1.0, np.nan]),
        "count": np.int64(3),
    }
    monkeypatch.setattr(demo, "run", lambda arguments: result)
    assert run("demo", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "fraction": None,
        "curve": [1.0, None],
        "count": 3,
    }


def test_debug_raises_the_original_error(tmp_path, run):
    with pytest.raises(FileNotFoundError):
        run("graph", tmp_path / "nowhere.csv", "--debug")


def test_an_internal_error_is_distinguished_from_invalid_input(run, capsys, monkeypatch):
    from vicinal.cli import demo

    def broken(arguments):
        raise KeyError("lost")

    monkeypatch.setattr(demo, "run", broken)
    assert run("demo") == 1
    assert "vicinal: internal error: KeyError: 'lost'; please report it" in capsys.readouterr().err


def test_warnings_are_one_line(run, capsys, monkeypatch):
    import warnings

    from vicinal.cli import demo

    def warned(arguments):
        warnings.warn("few\n points", stacklevel=1)
        return {}

    monkeypatch.setattr(demo, "run", warned)
    assert run("demo") == 0
    assert capsys.readouterr().err == "vicinal: warning: few points\n"


def test_a_demo_rejects_a_file_name_for_its_folder(tmp_path, error_of):
    message = error_of("demo", "-o", tmp_path / "demo.html")
    assert "writes to a folder; use a folder such as" in message
    assert list(tmp_path.iterdir()) == []


# Overwriting


def test_an_existing_file_is_overwritten_only_with_force(table, tmp_path, run, error_of):
    target = tmp_path / "edges.csv"
    target.write_text("old")
    assert "exists; use --force to overwrite it" in error_of("graph", table, "-o", target)
    assert target.read_text() == "old"
    assert run("graph", table, "-o", target, "--force") == 0
    assert target.read_text().startswith("source,target")


# Complete files or none


def test_a_failure_while_writing_leaves_the_old_file(table, tmp_path, monkeypatch, run):
    target = tmp_path / "edges.csv"
    target.write_text("old")

    def fail(frame, path, **keywords):
        path.write_text("half of")
        raise OSError("stopped")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    assert run("graph", table, "--kind", "mst", "-o", target, "--force") == 2
    assert target.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["edges.csv", "points.csv"]


def test_a_graph_too_large_to_write_is_one_error_line(table, monkeypatch, error_of):
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 1000)
    message = error_of("graph", table, "--kind", "mst", "-o", table.with_name("e.csv"))
    assert "Writing 59 edges needs" in message
    assert not table.with_name("e.csv").exists()


def test_nothing_is_built_if_the_output_is_not_writable(table, monkeypatch, run):
    def never(*arguments, **keywords):
        raise AssertionError("built")

    monkeypatch.setitem(vars(graphs), "disjoint_mst", never)
    assert run("graph", table, "-o", "no/such/folder/edges.csv") == 2


# Other properties


def test_version_from_a_fresh_process():
    result = subprocess.run(
        [sys.executable, "-m", "vicinal.cli", "--version"], capture_output=True, text=True
    )
    assert result.stdout.strip() == f"vicinal {vicinal.__version__}"
    assert result.returncode == 0


def test_help_starts_without_the_heavy_libraries():
    code = (
        "import sys, vicinal.cli as c; c.build_parser(); "
        "print([m for m in ('numba', 'scipy', 'sklearn', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]"


def test_a_closed_pipe_is_not_an_error(table):
    code = "import sys; from vicinal.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "graph", str(table), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        errors = process.stderr.read().decode()
    assert process.returncode == 0
    assert "Traceback" not in errors
