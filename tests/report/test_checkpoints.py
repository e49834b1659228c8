"""Cached steps are restored bit for bit, for the same data only, and never partially."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import vicinal
from vicinal.report._checkpoints import CheckpointedRunner, fingerprint_of, load_step, store_step


class Sample(NamedTuple):
    number: float
    word: str
    array: np.ndarray
    table: list[dict[str, Any]]
    arrays: dict[str, np.ndarray]
    nothing: None


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    return Sample(
        float("nan"),
        "näh <é>",
        rng.random((3, 2)),
        [{"a": 1, "b": np.float64(0.1)}, {"a": 2, "b": None}],
        {"x": rng.integers(0, 9, 4), "y": np.empty((0, 2))},
        None,
    )


def test_a_cached_result_is_restored_bit_for_bit(sample, tmp_path):
    path = tmp_path / "sample.npz"
    store_step(path, sample, "print")
    restored = load_step(path, Sample, "print")
    assert np.isnan(restored.number)
    assert (restored.word, restored.nothing) == (sample.word, None)
    assert restored.table == [{"a": 1, "b": 0.1}, {"a": 2, "b": None}]
    np.testing.assert_array_equal(restored.array, sample.array)
    for name, array in sample.arrays.items():
        np.testing.assert_array_equal(restored.arrays[name], array)
        assert restored.arrays[name].dtype == array.dtype


def test_only_results_of_the_same_data_are_used(sample, tmp_path):
    path = tmp_path / "sample.npz"
    store_step(path, sample, "print")
    assert load_step(path, Sample, "another") is None
    assert load_step(tmp_path / "nowhere.npz", Sample, "print") is None
    path.write_bytes(path.read_bytes()[:200])
    assert load_step(path, Sample, "print") is None


def test_the_fingerprint_depends_on_data_and_parameters():
    X = np.random.default_rng(0).random((4, 3))
    first = fingerprint_of([X, None], {"seed": 0})
    assert first == fingerprint_of([X.copy(), None], {"seed": 0})
    changed = X.copy()
    changed[3, 2] += 1e-12
    assert first != fingerprint_of([changed, None], {"seed": 0})
    assert first != fingerprint_of([X, None], {"seed": 1})
    assert first != fingerprint_of([X, np.array(["a"])], {"seed": 0})


def test_finished_steps_are_not_repeated(sample, tmp_path):
    def never():
        raise AssertionError("computed")

    first = CheckpointedRunner(["a step"], tmp_path / "cache", "print", 0)
    assert first("a step", Sample, lambda: sample, never) is sample
    second = CheckpointedRunner(["a step"], tmp_path / "cache", "print", 0)
    np.testing.assert_array_equal(second("a step", Sample, never, never).array, sample.array)
    assert second.seconds.keys() == {"a step"}


def test_an_interrupted_run_resumes_after_the_last_finished_step(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:30] += 10

    def stop(*arguments):
        raise KeyboardInterrupt

    from vicinal.report import pipeline

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "draw_maps", stop)
        with pytest.raises(KeyboardInterrupt):
            vicinal.perceive(X, resume=tmp_path / "cache", n_jobs=1)
    cached = sorted(path.name for path in (tmp_path / "cache").iterdir())
    assert cached == [
        "clusters-and-noise.npz",
        "layers.npz",
        "neighbour-structure.npz",
        "number-of-clusters.npz",
        "typical-and-atypical-rows.npz",
    ]
    uninterrupted = vicinal.perceive(X)
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "count_clusters", stop)
        patch.setattr(pipeline, "find_clusters", stop)
        resumed = vicinal.perceive(X, resume=tmp_path / "cache")
        with pytest.raises(KeyboardInterrupt):  # other parameters are another run
            vicinal.perceive(X, resume=tmp_path / "cache", n_clusters=4)
    np.testing.assert_array_equal(resumed.labels, uninterrupted.labels)
    np.testing.assert_array_equal(
        resumed.maps.coordinates["isomap"], uninterrupted.maps.coordinates["isomap"]
    )


def test_progress_shows_each_step(sample, capsys, tmp_path):
    run = CheckpointedRunner(["a step"], None, "", 1)
    run("a step", Sample, lambda: sample, lambda: sample)
    assert "1/1  a step" in capsys.readouterr().err
