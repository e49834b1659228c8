"""Square tables may be points, distances or affinities: a note says how they are interpreted."""

import numpy as np
import pytest

pytest.importorskip("pandas")


@pytest.fixture
def distances(tmp_path, points):
    path = tmp_path / "D.npy"
    np.save(path, np.linalg.norm(points[:, None] - points[None], axis=-1))
    return path


POINTS = "looks like a distance matrix, but its rows are interpreted as points"


@pytest.mark.parametrize("args", [["cluster"], ["embed"], ["rank", "--query", 0], ["graph"]])
def test_distances_interpreted_as_points_are_noted(args, distances, run, capsys):
    command, *options = args
    assert run(command, distances, *options) == 0
    assert f"D.npy: {POINTS}; methods on graphs take distances" in capsys.readouterr().err


def test_the_report_notes_distances_interpreted_as_points(distances, tmp_path, run, capsys):
    assert run("perceive", distances, "-o", tmp_path / "report.html") == 0
    assert POINTS in capsys.readouterr().out
    assert POINTS in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_matrix_of_affinities_is_noted(distances, tmp_path, run, capsys):
    np.save(tmp_path / "W.npy", np.exp(-np.load(distances)))
    args = ["--graph", "precomputed", "--clusters", 2]
    assert run("cluster", tmp_path / "W.npy", *args) == 0
    stderr = capsys.readouterr().err
    assert "W.npy: interpreted as a matrix of affinities (larger means closer)\n" in stderr
    assert run("cluster", distances, *args) == 0
    assert (
        "for distances, use --graph precomputed_distances or --metric precomputed"
        in capsys.readouterr().err
    )


def test_an_unambiguous_table_has_no_note(distances, table, tmp_path, points, run, capsys):
    np.save(tmp_path / "square.npy", points[:2])
    np.save(tmp_path / "truths.npy", np.triu(np.ones((8, 8), dtype=bool), 1))
    assert run("cluster", distances, "--metric", "precomputed", "--clusters", 2) == 0
    assert run("graph", table) == 0
    assert run("graph", tmp_path / "square.npy", "--kind", "mst") == 0
    assert run("graph", tmp_path / "truths.npy", "--kind", "mst") == 0
    assert "interpreted as" not in capsys.readouterr().err
