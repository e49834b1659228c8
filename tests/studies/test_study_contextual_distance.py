"""The study of contextual distances, at sizes that only show that it works and says what it measured."""

import argparse
import csv
import os
from pathlib import Path

import numpy as np
import pytest

from vicinal.cli import reproduce
from vicinal.studies import contextual_distance as study
from vicinal.studies import contextual_noise as noise
from vicinal.studies import contextual_report as report
from vicinal.studies import images

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
    FOLDER is None or not (Path(FOLDER) / images.FACES).is_file(),
    reason="VICINAL_DATA names no folder with the images",
)


def values(found, what, **fixed):
    return [row[what] for row in found.rows if all(row[k] == v for k, v in fixed.items())]


def test_contextual_order_tells_the_clusters_and_euclidean_order_does_not():
    found = study.distances_from_one(TINY)
    assert len(found.rows) == 9
    first, second = (values(found, "contextual", cluster=name) for name in ("I", "II"))
    assert max(first) < min(second)
    first, second = (values(found, "euclidean", cluster=name) for name in ("I", "II"))
    assert sorted(first)[-3] > max(second)


def test_perception_maps_one_cluster_to_a_line_and_the_other_to_a_point():
    found = study.embeddings_of_ten(TINY)
    for method in ("perceptual, coding length", "perceptual, centroid"):
        assert values(found, "width_of_II", method=method)[0] < 0.02
        assert values(found, "I_on_a_line", method=method)[0] > 0.99


def test_the_digraph_is_asymmetric():
    found = study.digraph_of_ten(TINY)
    table = dict(report.digraph_table(found)[1:])
    assert table["edges"] == "20"
    one_way, both_ways = (
        int(table["pairs joined one way only"]),
        int(table["pairs joined both ways"]),
    )
    assert one_way + 2 * both_ways == 20
    assert one_way > 0
    assert int(table["... with different weights"]) > 0


def test_perceptual_clusters_beat_their_peers_in_noise():
    found = noise.surface_clusters(TINY)
    assert len(found.rows) == 7
    for level in TINY.noise:
        ours = values(
            found, "accuracy", noise=level, method="perceptual, coding length, noise given"
        )
        peers = [
            values(found, "accuracy", noise=level, method=method)[0]
            for method in ("NJW", "normalised cut", "k-means")
        ]
        assert ours[0] > max(peers)


def test_noise_is_near_the_origin():
    found = noise.surface_embeddings(TINY)
    assert len(found.rows) == 4
    assert values(found, "noise_is_nearer", method="perceptual, coding length")[0] > 0.7


def test_shares_are_probabilities():
    low, high = np.array([1.0, 2.0]), np.array([1.5, 3.0, 0.5])
    pairs = [(a < b) for a in low for b in high]
    assert noise._share_below(low, high) == pytest.approx(np.mean(pairs))
    flat = np.random.default_rng(0).normal(size=(30, 3)) * [1, 1, 0]
    assert noise._share_of_plane(flat) == pytest.approx(1.0)


def test_perceptual_ranking_beats_its_peer_in_noise():
    found = noise.surface_ranking(TINY)
    for level in TINY.noise:
        ours = values(found, "precision", noise=level, alpha=0.999)
        peers = values(found, "precision", noise=level, method="Zhou")
        assert len(ours) == len(peers) == 2
        assert min(ours) > max(peers)
    best = report.ranking_table(found)[-1]
    assert best[1].startswith(f"{max(values(found, 'precision', noise=150, method='Zhou')):.3f}")


def test_digits_are_clustered_and_sorted_by_norm():
    found = study.digit_clusters(TINY)
    assert found.scene["source"] == "digits of scikit-learn"
    assert len(found.rows) == 7
    assert all(0 <= row["nmi"] <= 1 and row["accuracy"] > 1 / 3 for row in found.rows)
    sorted_by_norm = study.digits_by_norm(TINY)
    assert len(sorted_by_norm.rows) == 2 * 3 * 2
    near = np.mean(values(sorted_by_norm, "distance_of_neighbors", from_origin="near"))
    far = np.mean(values(sorted_by_norm, "distance_of_neighbors", from_origin="far"))
    assert near > far


def test_ranking_of_images_covers_alpha_and_k():
    found = study.face_ranking(TINY)
    assert {(row["K"], row["alpha"]) for row in found.rows if row["method"] == "Zhou"} == {
        (7, 0.1),
        (7, 0.9),
        (7, 0.99),
        (5, 0.9),
    }
    assert found.scene["n_first"] <= 23
    assert found.scene["n_queries"] == 30
    assert found.rows[-1]["method"] == "nearest"
    table = report.face_table(found)
    assert len(table) == 5
    assert len({len(row) for row in table}) == 1


def test_images_are_taken_class_by_class():
    some = images.handwritten(None, (1, 2, 3), 90)
    np.testing.assert_array_equal(np.bincount(some.classes), [0, 30, 30, 30])
    assert some.points.shape == (90, 64)
    assert some.pixels.min() == 0
    assert some.pixels.max() == 1
    whole = images.handwritten(None, (1, 2, 3), None)
    assert len(whole.classes) == 182 + 177 + 183


@needs_data
def test_images_of_the_folder_are_used():
    digits = images.handwritten(Path(FOLDER), (1, 2, 3), None)
    assert digits.source == "MNIST"
    np.testing.assert_array_equal(np.bincount(digits.classes), [0, 1135, 1032, 1010])
    found = images.faces(Path(FOLDER), None)
    assert found.source == "ORL faces"
    assert found.pixels.shape == (400, 28, 23)


def test_faces_are_averaged_over_blocks_of_pixels(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (6, 9, 8)).astype(np.uint8)
    np.savez(tmp_path / images.FACES, X=pixels, y=np.arange(6) // 2)
    found = images.faces(tmp_path, None)
    assert found.pixels.shape == (6, 2, 2)
    assert found.pixels[3, 1, 0] == pytest.approx(pixels[3, 4:8, :4].mean() / 255)


def parsed(*words):
    parser = argparse.ArgumentParser()
    reproduce.add_to(parser.add_subparsers())
    return parser.parse_args(["reproduce", *words])


def test_command_writes_a_table_and_a_picture_for_every_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study, "QUICK", TINY)
    arguments = parsed("contextual-distance", "--quick", "-o", str(tmp_path / "study"))
    arguments.run(arguments)
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


def test_a_folder_without_images_is_refused_before_any_work(tmp_path):
    arguments = parsed("contextual-distance", "--data", str(tmp_path), "-o", str(tmp_path / "out"))
    with pytest.raises(FileNotFoundError, match=r"contains neither mnist_test\.npz nor orl_faces"):
        arguments.run(arguments)
    assert not (tmp_path / "out").exists()


def test_data_mean_nothing_to_the_other_study(tmp_path):
    arguments = parsed("proximity-graphs", "--data", str(tmp_path))
    with pytest.raises(ValueError, match="--data has no effect"):
        arguments.run(arguments)
