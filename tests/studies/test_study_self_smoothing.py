"""The study of self-smoothing, on small data."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from studies import self_smoothing as study
from studies import smoothing_data as data
from studies import smoothing_report as report
from studies.__main__ import main
from studies.loaders import DISTANCES
from studies.smoothing_segments import segments
from vicinal import KernelKMeans, SelfSmoothing
from vicinal.metrics import normalized_mutual_info

TINY = study.QUICK._replace(
    max_items=100, steps=(0, 50, 500), cluster_steps=(0, 50), n_trials=1, n_photographs=1
)
FOLDER = os.environ.get("VICINAL_DATA")
needs_data = pytest.mark.skipif(
    FOLDER is None or not (Path(FOLDER) / DISTANCES).is_file(),
    reason="VICINAL_DATA is not a folder with the distances",
)


def values(result, key, **fixed):
    return [row[key] for row in result.rows if all(row[k] == v for k, v in fixed.items())]


def test_the_example_matches_the_paper():
    table = report.example_table(study.three_items(TINY))
    assert [row[2] for row in table[1:]] == ["1.273", "0.289", "0.346", "0.851"]


def test_smoothing_improves_retrieval_and_diffusion_maps_start_below():
    result = study.retrieval(TINY)
    sources = {row["source"] for row in result.rows if row["method"] == "SSO"}
    assert len(sources) == 2
    for source in sources:
        smooth = dict(
            zip(
                values(result, "t", source=source, method="SSO"),
                values(result, "score", source=source, method="SSO"),
                strict=True,
            )
        )
        assert max(smooth.values()) > smooth[0] + 0.02
        (first,) = values(result, "score", source=source, method="diffusion maps", t=0)
        assert first < smooth[0]
        assert len(values(result, "score", source=source, method="label propagation")) == 2
    assert len({len(row) for row in report.retrieval_table(result)}) == 1


def test_clusters_are_measured_for_every_method():
    result = study.clusters(TINY)
    assert {row["method"] for row in result.rows} == {
        "SSO",
        "diffusion maps",
        "affinity propagation",
    }
    assert {row["data"] for row in result.rows} == {"digits", "digits, one metric"}
    assert all(0 <= row["nmi"] <= 1 for row in result.rows)
    assert len({len(row) for row in report.cluster_table(result)}) == 1


def test_segments_are_measured_at_every_step():
    result = segments(TINY)
    assert len(result.rows) == 1 + 2 * len(TINY.cut_steps)
    assert all(row["lce"] <= row["gce"] + 1e-12 for row in result.rows)
    table = report.segment_table(result)
    assert all(row[1] == "" for row in table[1:])


def test_automatic_steps_are_close_to_the_best():
    result = study.automatic_steps(TINY)
    assert all(row["shortfall"] < 0.03 for row in result.rows)
    assert all(row["automatic"] > row["input"] for row in result.rows)


def test_items_are_complete_classes_and_weights_are_averages():
    distances = {"d": np.arange(36.0).reshape(6, 6)}
    items = data.Items(distances, np.array([5, 5, 7, 7, 9, 9]), np.zeros((6, 1, 1)), "x")
    selected = data._first_classes(items, 4)
    assert selected.classes.tolist() == [5, 5, 7, 7]
    np.testing.assert_array_equal(selected.distances["d"], distances["d"][:4, :4])
    weights = data.area_means(92, 16)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    np.testing.assert_allclose(weights.sum(axis=0), 16 / 92)


@needs_data
def test_the_data_sets_of_the_paper_are_read_from_the_folder():
    items = data.shapes(Path(FOLDER), None)
    assert items.name == "MPEG-7"
    assert list(items.distances) == ["SC", "IDSC", "HF"]
    assert np.bincount(items.classes)[items.classes].min() == 20
    assert all(matrix.min() == 0 for matrix in items.distances.values())
    result = data.faces(Path(FOLDER), 50)
    assert result.name == "ORL"
    assert len(result.classes) == 50
    photograph = next(data.photographs(Path(FOLDER), 1))
    assert photograph.maps.shape[1:] == photograph.grey.shape


@needs_data
def test_smoothing_improves_clusters_of_faces_over_a_wide_range_of_steps():
    """ORL by kernel k-means (figure 6): from 0.74 at t = 0 to 0.93 at t = 10,000."""
    items = data.faces(Path(FOLDER), None)
    W = study.kernel_of(items, ["euclidean"], study.FACE_NEIGHBORS)
    model = SelfSmoothing(0, metric="similarity").fit(W)
    scores = {}
    for t, similarity in model.sweep((0, 20, 200, 10_000)):
        models = [
            KernelKMeans(40, kernel="precomputed", psd="project", n_init=1, random_state=trial)
            for trial in range(3)
        ]
        result = [
            normalized_mutual_info(items.classes, model.fit_predict(similarity)) for model in models
        ]
        scores[t] = np.mean(result)
    assert scores[0] + 0.03 < scores[20] < scores[200] < scores[10_000]
    assert scores[10_000] > 0.91


def test_the_command_writes_a_table_and_a_plot_for_every_experiment(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study, "QUICK", TINY)
    main(["self-smoothing", "--quick", "-o", str(tmp_path / "study")])
    names = [experiment.name for experiment in report.EXPERIMENTS]
    expected = {f"{name}.{kind}" for name in names for kind in ("csv", "md", "png")}
    assert {path.name for path in (tmp_path / "study").iterdir()} == expected
    for name in names:
        lines = (tmp_path / "study" / f"{name}.md").read_text(encoding="utf-8").splitlines()
        assert lines[-1].startswith("The paper: ")
        assert len({line.count("|") for line in lines[:-2]}) == 1
        with (tmp_path / "study" / f"{name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) > 1
    assert "0.346" in capsys.readouterr().out


@pytest.mark.slow
@needs_data
def test_smoothing_improves_segments_of_photographs():
    """Table 2: GCE 0.109 at t = 0, 0.097 at t = 20, 0.101 at t = 100 in the mean of 50 photographs."""
    result = segments(study.FULL._replace(data=Path(FOLDER), cut_steps=(20, 100)))
    assert result.figure_data["name"] == "Berkeley"
    for key in ("gce", "lce"):
        before, *after = (np.mean(values(result, key, method="SSO", t=t)) for t in (0, 20, 100))
        assert max(after) < 0.96 * before
    assert np.mean(values(result, "largest_segment", method="SSO")) < 0.7
