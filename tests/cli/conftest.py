"""A table, and fixtures that run the command like a user does."""

import json

import numpy as np
import pytest

from vicinal.cli import main


@pytest.fixture
def points():
    return np.random.default_rng(0).random((60, 2))


@pytest.fixture
def table(tmp_path, points):
    path = tmp_path / "points.csv"
    np.savetxt(path, points, delimiter=",", header="x,y", comments="", fmt="%.17g")
    return path


@pytest.fixture
def run():
    def call(*args):
        return main([str(arg) for arg in args])

    return call


@pytest.fixture
def error_of(run, capsys):
    """The single error line of a command that exits with code 2."""

    def call(*args):
        assert run(*args) == 2
        captured = capsys.readouterr()
        lines = [line for line in captured.err.splitlines() if line.startswith("vicinal: error:")]
        assert len(lines) == 1
        assert "Traceback" not in captured.err
        assert captured.out == ""
        return lines[0]

    return call


@pytest.fixture
def facts_of(run, capsys):
    """The result of a command with --json."""

    def call(*args):
        capsys.readouterr()
        assert run(*args, "--json") == 0
        return json.loads(capsys.readouterr().out)

    return call
