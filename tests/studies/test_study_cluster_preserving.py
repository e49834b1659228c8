"""The study of cluster preserving embeddings, at sizes that only show that it works."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from vicinal import ClusterPreservingEmbedding, path_similarity
from vicinal.cli import main
from vicinal.studies import cluster_preserving as study
from vicinal.studies import cluster_preserving_report as report
from vicinal.studies import images

TINY = study.QUICK._replace(n_draws=2, n_images=40, subsets=((1, 3),), factors=(0.25, 1.0))
FOLDER = os.environ.get("VICINAL_DATA")
needs_data = pytest.mark.skipif(
    FOLDER is None or not (Path(FOLDER) / images.DIGITS).is_file(),
    reason="VICINAL_DATA names no folder with the images",
)


def test_spirals_are_recovered_by_paths_and_not_by_positions():
    found = study.spiral_embeddings(TINY)
    table = {row[0]: row for row in report.spiral_table(found)}
    assert table["CPE-Lap"][1:] == table["CPE-MDS"][1:] == ["1.000 ± 0.000", "2 of 2"]
    assert float(table["k-means on the points"][1][:5]) < 0.7


def test_digits_are_drawn_without_repetition_and_differ_by_draw():
    one, same, other = (study.draw_digits(TINY, (1, 3), draw) for draw in (0, 0, 1))
    assert len(one.points) == 80
    assert len(np.unique(one.points, axis=0)) == 80
    np.testing.assert_array_equal(one.points, same.points)
    assert not np.array_equal(one.points, other.points)
    np.testing.assert_array_equal(np.unique(one.truth, return_counts=True)[1], [40, 40])


def test_a_verdict_needs_a_clear_lead():
    level = np.full(20, 0.8)
    rng = np.random.default_rng(0)
    scores = {"PCA": level, "CPE-Lap": level + 0.1, "CPE-MDS": level - 0.1}
    assert report.verdict(scores) == "holds: ahead of PCA"
    assert report.verdict(scores | {"CPE-Lap": level - 0.1}) == "does not hold: behind PCA"
    noisy = level + 0.01 * rng.standard_normal(20)
    assert report.verdict(scores | {"CPE-Lap": noisy}) == "as good as PCA"


def test_widths_are_in_units_of_the_automatic_one():
    found = study.width_effect(TINY)
    rows = [row for row in found.rows if row["data"] == "1, 3" and row["method"] == "CPE-Lap"]
    assert [row["factor"] for row in rows] == [0.25, 1.0]
    automatic = path_similarity(study.draw_digits(TINY, (1, 3), 0).points).sigma
    np.testing.assert_allclose([row["sigma"] for row in rows], [automatic / 4, automatic])


def test_command_writes_a_table_and_a_picture_for_every_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study, "QUICK", TINY)
    folder = tmp_path / "study"
    main(["reproduce", "cluster-preserving", "--quick", "-o", str(folder)])
    names = ["figure-1", "figure-2", "figure-3", "sigma"]
    expected = {f"{name}.{kind}" for name in names for kind in ("csv", "md", "png")}
    assert {path.name for path in folder.iterdir()} == expected
    for name in names:
        with (folder / f"{name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) > 1
    assert "CPE-MDS" in capsys.readouterr().out


@needs_data
def test_ones_and_threes_of_mnist_are_clusters_with_defaults():
    setting = study.FULL._replace(data=Path(FOLDER))
    scores = []
    for draw in range(20):
        drawn = study.draw_digits(setting, (1, 3), draw)
        similarity = path_similarity(drawn.points)
        for method in ("laplacian", "mds"):
            Y = ClusterPreservingEmbedding(method=method).fit_transform(similarity)
            scores.append(study.score(Y, drawn.truth, draw))
    assert np.mean(scores[::2]) >= 0.96
    assert np.mean(scores[1::2]) >= 0.96
