"""The study of cluster preserving embedding, on small data."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from studies import cluster_preserving as study
from studies import cluster_preserving_report as report
from studies import loaders
from studies.__main__ import main
from vicinal import ClusterPreservingEmbedding, path_similarity

TINY = study.QUICK._replace(n_repeats=2, n_images=40, subsets=((1, 3),), factors=(0.25, 1.0))
FOLDER = os.environ.get("VICINAL_DATA")
needs_data = pytest.mark.skipif(
    FOLDER is None or not (Path(FOLDER) / loaders.DIGITS).is_file(),
    reason="VICINAL_DATA is not a folder with the images",
)


def test_spirals_are_recovered_by_path_similarity_and_not_by_k_means():
    result = study.spiral_embeddings(TINY)
    table = {row[0]: row for row in report.spiral_table(result)}
    assert table["CPE-Lap"][1:] == table["CPE-MDS"][1:] == ["1.000 ± 0.000", "2 of 2"]
    assert float(table["k-means on the points"][1][:5]) < 0.7


def test_digits_are_sampled_without_replacement_and_differ_between_repeats():
    first, again, second = (study.sample_digits(TINY, (1, 3), repeat) for repeat in (0, 0, 1))
    assert len(first.points) == 80
    assert len(np.unique(first.points, axis=0)) == 80
    np.testing.assert_array_equal(first.points, again.points)
    assert not np.array_equal(first.points, second.points)
    np.testing.assert_array_equal(np.unique(first.truth, return_counts=True)[1], [40, 40])


def test_a_verdict_needs_a_clear_lead():
    level = np.full(20, 0.8)
    rng = np.random.default_rng(0)
    scores = {"PCA": level, "CPE-Lap": level + 0.1, "CPE-MDS": level - 0.1}
    assert report.verdict(scores) == "holds: ahead of PCA"
    assert report.verdict(scores | {"CPE-Lap": level - 0.1}) == "does not hold: behind PCA"
    noisy = level + 0.01 * rng.standard_normal(20)
    assert report.verdict(scores | {"CPE-Lap": noisy}) == "on par with PCA"


def test_widths_are_multiples_of_the_automatic_width():
    result = study.width_effect(TINY)
    rows = [row for row in result.rows if row["data"] == "1, 3" and row["method"] == "CPE-Lap"]
    assert [row["factor"] for row in rows] == [0.25, 1.0]
    automatic = path_similarity(study.sample_digits(TINY, (1, 3), 0).points).sigma
    np.testing.assert_allclose([row["sigma"] for row in rows], [automatic / 4, automatic])


def test_the_command_writes_a_table_and_a_plot_for_every_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study, "QUICK", TINY)
    folder = tmp_path / "study"
    main(["cluster-preserving", "--quick", "-o", str(folder)])
    names = ["figure-1", "figure-2", "figure-3", "sigma"]
    expected = {f"{name}.{kind}" for name in names for kind in ("csv", "md", "png")}
    assert {path.name for path in folder.iterdir()} == expected
    for name in names:
        with (folder / f"{name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) > 1
    assert "CPE-MDS" in capsys.readouterr().out


@needs_data
def test_digits_1_and_3_of_mnist_are_separated_with_default_parameters():
    setting = study.FULL._replace(data=Path(FOLDER))
    scores = []
    for repeat in range(20):
        sample = study.sample_digits(setting, (1, 3), repeat)
        similarity = path_similarity(sample.points)
        for method in ("laplacian", "mds"):
            Y = ClusterPreservingEmbedding(method=method).fit_transform(similarity)
            scores.append(study.score(Y, sample.truth, repeat))
    assert np.mean(scores[::2]) >= 0.96
    assert np.mean(scores[1::2]) >= 0.96
