"""Streams that the caller closed, and warnings that the caller made errors."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("pandas")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_a_command_works_without_streams(closed, table, tmp_path):
    target = tmp_path / "edges.csv"
    command = [sys.executable, "-m", "vicinal.cli", "graph", table, "--kind", "mst", "-o", target]
    line = " ".join([*(f"'{word}'" for word in command), closed])
    done = subprocess.run(line, shell=True, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0
    assert len(target.read_text().splitlines()) == 60
    # Notes for stderr do not appear among the results.
    assert b"header" not in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_closed_standard_input_is_empty(tmp_path):
    command = f"'{sys.executable}' -m vicinal.cli graph - <&-"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=300, check=False)
    assert (done.returncode, b"standard input is empty" in done.stderr) == (2, True)


def test_a_warning_that_the_user_made_an_error_ends_in_one_line(tmp_path, error_of):
    rng = np.random.default_rng(0)
    far = np.vstack([rng.random((20, 2)), 90 + rng.random((20, 2))])
    np.savetxt(tmp_path / "two.csv", far, delimiter=",", header="x,y", comments="")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = error_of(
            "cluster", tmp_path / "two.csv", "--clusters", 3, "--graph", "knn", "--neighbors", 2
        )
    assert "the graph is not fully connected" in message
    assert message.endswith("(a warning, which -W error or PYTHONWARNINGS made an error)")
