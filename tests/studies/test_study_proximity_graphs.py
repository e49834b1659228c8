"""The study of proximity graphs, on small data."""

import csv

import numpy as np
import pytest

from studies import proximity_graphs as study
from studies import proximity_report as report
from studies.__main__ import main

TINY = study.QUICK._replace(
    n_repeats=2,
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


def test_segments_are_a_disc_in_front_of_two_halves():
    image, truth = study.make_segments((20, 30), 0.0, seed=0)
    assert image.shape == (20, 30, 3)
    np.testing.assert_array_equal(image[..., 2].ravel(), study.GREY_STEP * truth)
    np.testing.assert_array_equal(np.unique(truth), [0, 1, 2])
    assert truth.reshape(20, 30)[0, 0] == 0
    assert truth.reshape(20, 30)[10, 10] == 2


def test_every_graph_scale_and_repetition_has_an_error(clustering):
    cases = {(row["noise"], row["graph"], row["scale"], row["repeat"]) for row in clustering}
    assert len(cases) == len(clustering) == 3 * len(study.IMAGE_GRAPHS) * 2 * 2
    assert all(0.0 <= row["error"] < 0.67 for row in clustering)


def test_the_grid_needs_a_scale_and_trees_do_not(clustering):
    def mean(graph, scale):
        points = report.curve(clustering, "low", graph, "scale", "error")
        return points.mean[points.values.index(scale)]

    assert mean("grid, 8 neighbours", 1.0) < 0.1 < 0.2 < mean("grid, 8 neighbours", np.inf)
    assert mean("DMST, t = 4", np.inf) < 0.1


def test_a_disconnected_graph_counts_as_failed(isomap):
    disconnected = [row for row in isomap if row["components"] > 1]
    assert disconnected
    assert all(row["value"] == 0.5 and row["geodesic_error"] == np.inf for row in disconnected)
    assert all(np.isfinite(row["true_residual"]) for row in isomap if row["components"] == 1)


def test_edges_in_two_trees_are_a_subset_of_all_edges():
    X = study.make_swiss_roll(100, random_state=0)[0]
    all_edges = study.FAMILIES["PMST"].build(X, 0.4, 0)
    repeated = study.FAMILIES["PMST, in 2 trees"].build(X, 0.4, 0)
    assert repeated < all_edges
    assert repeated.strengths.min() == pytest.approx(2 / study.N_TREES)


def test_curves_are_means_and_standard_deviations_over_repetitions(isomap):
    points = report.curve(isomap, "high", "DMST", "value", "geodesic_error")
    errors = [
        row["geodesic_error"] for row in isomap if row["noise"] == "high" and row["graph"] == "DMST"
    ]
    assert points.values == [2]
    np.testing.assert_allclose([points.mean[0], points.std[0]], [np.mean(errors), np.std(errors)])


@pytest.mark.parametrize(
    ("is_good", "expected"),
    [
        ([0, 0, 0, 0], "none"),
        ([0, 1, 0, 0], "2 (1 of 4)"),
        ([1, 0, 1, 1], "4 to inf (2 of 4)"),
        ([1, 1, 1, 1], "1 to inf (4 of 4)"),
    ],
)
def test_the_longest_run_of_good_values_is_described(is_good, expected):
    assert report.longest_run([1.0, 2.0, 4.0, np.inf], np.array(is_good, dtype=bool)) == expected


def test_the_command_writes_tables_and_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study, "QUICK", TINY)
    folder = tmp_path / "new" / "study"
    main(["proximity-graphs", "--quick", "-o", str(folder)])
    names = [f"{name}.{kind}" for name in ("clustering", "isomap") for kind in ("csv", "md", "png")]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    with (folder / "isomap.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 8
    lines = (folder / "clustering.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 + 3 * len(study.IMAGE_GRAPHS)
    assert len({line.count("|") for line in lines}) == 1
    assert "DMST" in capsys.readouterr().out
