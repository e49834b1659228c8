"""The study of proximity graphs, at sizes that only show that it works and says what it measured."""

import argparse
import csv

import numpy as np
import pytest

from vicinal.cli import reproduce
from vicinal.studies import proximity_graphs as study
from vicinal.studies import proximity_report as report

TINY = study.QUICK._replace(
    n_draws=2,
    image_shape=(8, 10),
    scales=(1.0, np.inf),
    n_points=120,
    sweeps={"epsilon": (0.5, 9.0), "k": (5,), "r": (0.2,), "t": (2,)},
)


@pytest.fixture(scope="module")
def clustering():
    return study.clustering_errors(TINY)


@pytest.fixture(scope="module")
def isomap():
    return study.isomap_errors(TINY)


def test_segments_are_a_disc_before_two_halves():
    image, truth = study.make_segments((20, 30), 0.0, seed=0)
    assert image.shape == (20, 30, 3)
    np.testing.assert_array_equal(image[..., 2].ravel(), study.STEP * truth)
    np.testing.assert_array_equal(np.unique(truth), [0, 1, 2])
    assert truth.reshape(20, 30)[0, 0] == 0
    assert truth.reshape(20, 30)[10, 10] == 2


def test_every_graph_scale_and_draw_has_its_error(clustering):
    cases = {(row["noise"], row["graph"], row["scale"], row["draw"]) for row in clustering}
    assert len(cases) == len(clustering) == 3 * len(study.IMAGE_GRAPHS) * 2 * 2
    assert all(0.0 <= row["error"] < 0.67 for row in clustering)


def test_the_grid_needs_a_scale_and_trees_do_not(clustering):
    def mean(graph, scale):
        found = report.curve(clustering, "low", graph, "scale", "error")
        return found.mean[found.values.index(scale)]

    assert mean("grid, 8 neighbours", 1.0) < 0.1 < 0.2 < mean("grid, 8 neighbours", np.inf)
    assert mean("DMST, t = 4", np.inf) < 0.1


def test_a_graph_in_pieces_counts_as_failed(isomap):
    pieces = [row for row in isomap if row["components"] > 1]
    assert pieces
    assert all(row["value"] == 0.5 and row["geodesic_error"] == np.inf for row in pieces)
    assert all(np.isfinite(row["true_residual"]) for row in isomap if row["components"] == 1)


def test_edges_of_two_trees_are_among_those_of_one():
    X = study.make_swiss_roll(100, random_state=0)[0]
    every = study.FAMILIES["PMST"].build(X, 0.4, 0)
    twice = study.FAMILIES["PMST, in 2 trees"].build(X, 0.4, 0)
    assert twice < every
    assert twice.strengths.min() == pytest.approx(2 / study.N_TREES)


def test_curves_are_means_and_deviations_over_draws(isomap):
    found = report.curve(isomap, "high", "DMST", "value", "geodesic_error")
    errors = [
        row["geodesic_error"] for row in isomap if row["noise"] == "high" and row["graph"] == "DMST"
    ]
    assert found.values == [2]
    np.testing.assert_allclose([found.mean[0], found.spread[0]], [np.mean(errors), np.std(errors)])


@pytest.mark.parametrize(
    ("good", "expected"),
    [
        ([0, 0, 0, 0], "none"),
        ([0, 1, 0, 0], "2 (1 of 4)"),
        ([1, 0, 1, 1], "4 to inf (2 of 4)"),
        ([1, 1, 1, 1], "1 to inf (4 of 4)"),
    ],
)
def test_the_longest_run_of_good_values_is_told(good, expected):
    assert report.run_of([1.0, 2.0, 4.0, np.inf], np.array(good, dtype=bool)) == expected


def test_command_writes_tables_and_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study, "QUICK", TINY)
    parser = argparse.ArgumentParser()
    reproduce.add_to(parser.add_subparsers())
    folder = tmp_path / "new" / "study"
    arguments = parser.parse_args(["reproduce", "proximity-graphs", "--quick", "-o", str(folder)])
    arguments.run(arguments)
    names = [f"{name}.{kind}" for name in ("clustering", "isomap") for kind in ("csv", "md", "png")]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    with (folder / "isomap.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 6
    lines = (folder / "clustering.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 + 3 * len(study.IMAGE_GRAPHS)
    assert len({line.count("|") for line in lines}) == 1
    assert "DMST" in capsys.readouterr().out
