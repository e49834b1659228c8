"""The study of contextual distances, on small data."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from studies import contextual_distance as study
from studies import contextual_noise as noise
from studies import contextual_report as report
from studies import images, loaders
from studies.__main__ import main

TINY = study.QUICK._replace(
    n_points=300,
    noise=(150,),
    n_queries=8,
    peer_alphas=(0.1, 0.99),
    face_alphas=(0.1, 0.9, 0.99),
    face_neighbors=(5, 7),
    max_images=240,
    max_queries=30,
)
FOLDER = os.environ.get("VICINAL_DATA")
needs_data = pytest.mark.skipif(
    FOLDER is None or not (Path(FOLDER) / loaders.FACES).is_file(),
    reason="VICINAL_DATA is not a folder with the images",
)


def values(result, key, **fixed):
    return [row[key] for row in result.rows if all(row[k] == v for k, v in fixed.items())]


def test_contextual_distances_separate_the_clusters_and_euclidean_ones_do_not():
    result = study.distances_from_one(TINY)
    assert len(result.rows) == 9
    first, second = (values(result, "contextual", cluster=name) for name in ("I", "II"))
    assert max(first) < min(second)
    first, second = (values(result, "euclidean", cluster=name) for name in ("I", "II"))
    assert sorted(first)[-3] > max(second)


def test_the_perceptual_embedding_maps_one_cluster_to_a_line_and_the_other_to_a_point():
    result = study.embeddings_of_ten(TINY)
    for method in ("perceptual, coding length", "perceptual, centroid"):
        assert values(result, "width_of_II", method=method)[0] < 0.02
        assert values(result, "I_on_a_line", method=method)[0] > 0.99


def test_the_digraph_is_asymmetric():
    result = study.digraph_of_ten(TINY)
    table = dict(report.digraph_table(result)[1:])
    assert table["edges"] == "20"
    one_way, both_ways = (
        int(table["one-way pairs"]),
        int(table["two-way pairs"]),
    )
    assert one_way + 2 * both_ways == 20
    assert one_way > 0
    assert int(table["... with different weights"]) > 0


def test_perceptual_clusters_beat_their_peers_in_noise():
    result = noise.surface_clusters(TINY)
    assert len(result.rows) == 7
    for level in TINY.noise:
        ours = values(
            result, "accuracy", noise=level, method="perceptual, coding length, noise given"
        )
        peers = [
            values(result, "accuracy", noise=level, method=method)[0]
            for method in ("NJW", "normalised cut", "k-means")
        ]
        assert ours[0] > max(peers)


def test_noise_is_near_the_origin():
    result = noise.surface_embeddings(TINY)
    assert len(result.rows) == 4
    assert values(result, "noise_closer_to_origin", method="perceptual, coding length")[0] > 0.7


def test_probabilities_and_explained_variances_match_direct_computation():
    low, high = np.array([1.0, 2.0]), np.array([1.5, 3.0, 0.5])
    pairs = [(a < b) for a in low for b in high]
    assert noise._probability_below(low, high) == pytest.approx(np.mean(pairs))
    flat = np.random.default_rng(0).normal(size=(30, 3)) * [1, 1, 0]
    assert noise._variance_in_plane(flat) == pytest.approx(1.0)


def test_perceptual_ranking_beats_its_peer_in_noise():
    result = noise.surface_ranking(TINY)
    for level in TINY.noise:
        ours = values(result, "precision", noise=level, alpha=0.999)
        peers = values(result, "precision", noise=level, method="Zhou")
        assert len(ours) == len(peers) == 2
        assert min(ours) > max(peers)
    best = report.ranking_table(result)[-1]
    assert best[1].startswith(f"{max(values(result, 'precision', noise=150, method='Zhou')):.3f}")


def test_digits_are_clustered_and_sorted_by_norm():
    result = study.digit_clusters(TINY)
    assert result.figure_data["source"] == "digits of scikit-learn"
    assert len(result.rows) == 7
    assert all(0 <= row["nmi"] <= 1 and row["accuracy"] > 1 / 3 for row in result.rows)
    sorted_by_norm = study.digits_by_norm(TINY)
    assert len(sorted_by_norm.rows) == 2 * 3 * 2
    near = np.mean(values(sorted_by_norm, "neighbor_distance", from_origin="near"))
    far = np.mean(values(sorted_by_norm, "neighbor_distance", from_origin="far"))
    assert near > far


def test_ranking_of_images_covers_alpha_and_k():
    result = study.face_ranking(TINY)
    assert {(row["K"], row["alpha"]) for row in result.rows if row["method"] == "Zhou"} == {
        (7, 0.1),
        (7, 0.9),
        (7, 0.99),
        (5, 0.9),
    }
    assert result.figure_data["n_first"] <= 23
    assert result.figure_data["n_queries"] == 30
    assert result.rows[-1]["method"] == "nearest"
    table = report.face_table(result)
    assert len(table) == 5
    assert len({len(row) for row in table}) == 1


def test_as_many_images_are_selected_from_each_class():
    selected = images.handwritten(None, (1, 2, 3), 90)
    np.testing.assert_array_equal(np.bincount(selected.classes), [0, 30, 30, 30])
    assert selected.points.shape == (90, 64)
    assert selected.pixels.min() == 0
    assert selected.pixels.max() == 1
    all_images = images.handwritten(None, (1, 2, 3), None)
    assert len(all_images.classes) == 182 + 177 + 183


@needs_data
def test_images_of_the_folder_are_used():
    digits = images.handwritten(Path(FOLDER), (1, 2, 3), None)
    assert digits.source == "MNIST"
    np.testing.assert_array_equal(np.bincount(digits.classes), [0, 1135, 1032, 1010])
    result = images.faces(Path(FOLDER), None)
    assert result.source == "ORL faces"
    assert result.pixels.shape == (400, 28, 23)


def test_faces_are_averaged_over_blocks_of_pixels(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (6, 9, 8)).astype(np.uint8)
    np.savez(tmp_path / loaders.FACES, X=pixels, y=np.arange(6) // 2)
    result = images.faces(tmp_path, None)
    assert result.pixels.shape == (6, 2, 2)
    assert result.pixels[3, 1, 0] == pytest.approx(pixels[3, 4:8, :4].mean() / 255)


def test_the_command_writes_a_table_and_a_plot_for_every_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study, "QUICK", TINY)
    main(["contextual-distance", "--quick", "-o", str(tmp_path / "study")])
    numbers = ["03", "04", "06", "07", "08", "09", "10", "11", "13"]
    expected = {f"figure-{n}.{kind}" for n in numbers for kind in ("csv", "md", "png")}
    assert {path.name for path in (tmp_path / "study").iterdir()} == expected
    for number in numbers:
        lines = (
            (tmp_path / "study" / f"figure-{number}.md").read_text(encoding="utf-8").splitlines()
        )
        assert lines[-1].startswith("The paper: ")
        assert len({line.count("|") for line in lines[:-2]}) == 1
        with (tmp_path / "study" / f"figure-{number}.csv").open() as file:
            assert len(list(csv.DictReader(file))) > 1
    assert "perceptual, coding length" in capsys.readouterr().out
