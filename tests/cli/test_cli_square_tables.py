"""Square tables may hold points, distances or affinities: what they are taken for is said."""

import numpy as np
import pytest

pytest.importorskip("pandas")


@pytest.fixture
def distances(tmp_path, points):
    path = tmp_path / "D.npy"
    np.save(path, np.linalg.norm(points[:, None] - points[None], axis=-1))
    return path


POINTS = "looks like distances of all pairs, but its rows are taken for points"


@pytest.mark.parametrize("words", [["cluster"], ["embed"], ["rank", "--query", 0], ["graph"]])
def test_distances_taken_for_points_are_named(words, distances, run, capsys):
    command, *rest = words
    assert run(command, distances, *rest) == 0
    assert f"D.npy: it {POINTS}; methods on a graph take distances" in capsys.readouterr().err


def test_the_report_names_them_too(distances, tmp_path, run, capsys):
    assert run("perceive", distances, "-o", tmp_path / "report.html") == 0
    assert POINTS in capsys.readouterr().out
    assert POINTS in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_matrix_of_affinities_is_said_to_be_one(distances, tmp_path, run, capsys):
    np.save(tmp_path / "W.npy", np.exp(-np.load(distances)))
    words = ["--graph", "precomputed", "--clusters", 2]
    assert run("cluster", tmp_path / "W.npy", *words) == 0
    shown = capsys.readouterr().err
    assert "the matrix is taken for affinities: the larger, the nearer\n" in shown
    assert run("cluster", distances, *words) == 0
    assert "should it hold distances, give --metric precomputed" in capsys.readouterr().err


def test_what_is_plain_needs_no_note(distances, table, tmp_path, points, run, capsys):
    np.save(tmp_path / "square.npy", points[:2])
    np.save(tmp_path / "truths.npy", np.triu(np.ones((8, 8), dtype=bool), 1))
    assert run("cluster", distances, "--metric", "precomputed", "--clusters", 2) == 0
    assert run("graph", table) == 0
    assert run("graph", tmp_path / "square.npy", "--kind", "mst") == 0
    assert run("graph", tmp_path / "truths.npy", "--kind", "mst") == 0
    assert "taken for" not in capsys.readouterr().err
