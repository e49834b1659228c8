"""Signals, cold caches, threads and many fits: what goes wrong around the work does not change its result."""

import gc
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import vicinal
from fault_injection import run_struck
from vicinal.cli import main
from vicinal.report.pipeline import STEPS

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
# Each step in its turn, then the report.
MOMENTS = [("computing", stage) for stage in range(len(STEPS))] + [("report", 0)]
WRITING = [("writing", stage) for stage in range(len(STEPS))]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data" / "points.csv"
    path.parent.mkdir()
    points, _ = make_blobs(45, 3, centers=3, cluster_std=0.5, random_state=0)
    np.savetxt(path, points, delimiter=",", header="x,y,z", comments="")
    return path


def words_for(table, n_jobs):
    output = table.with_name("report.html")
    words = ["perceive", str(table), "-o", str(output), "--resume", "--json", "--clusters", "3"]
    return [*words, "--jobs", str(n_jobs)]


def without_times(text):
    result = json.loads(text)
    result.pop("step_seconds")
    return result


def interrupted_here(words, moment, stage, number):
    with pytest.raises(KeyboardInterrupt):
        run_struck(lambda: main(words), moment, stage, number)
    return EXIT_CODES[signal.SIGINT]


def struck_elsewhere(words, moment, stage, number):
    script = Path(__file__).with_name("fault_injection.py")
    given = [sys.executable, script, moment, stage, int(number), *words]
    return subprocess.run(
        [str(word) for word in given], capture_output=True, timeout=300, check=False
    ).returncode


def check_interrupted_run(table, capsys, strike, number, moments, n_jobs=1):
    words = words_for(table, n_jobs)
    assert main(words) == 0
    expected = without_times(capsys.readouterr().out)
    table.with_name("report.html").unlink()

    kept_steps = table.with_name("report.steps")
    for moment, stage in moments:
        assert strike(words, moment, stage, number) == EXIT_CODES[number]
        names = {path.name for path in table.parent.iterdir()}
        if number == signal.SIGKILL:
            # What a killed process left behind is hidden, and the next one removes it.
            names = {name for name in names if not name.startswith(".")}
            kept = [path for path in kept_steps.iterdir() if not path.name.startswith(".")]
        else:
            kept = list(kept_steps.iterdir())
        assert names == {"points.csv", "report.steps"}
        expected_count = len(STEPS) if moment == "report" else stage
        # With several threads, steps that run at the same time as the interrupted one may finish too, and so
        # may that one if the main thread, which the interrupt stops, is slow to hear of it.
        if n_jobs > 1:
            assert STEPS.index("maps") <= len(kept) <= len(STEPS)
        else:
            assert len(kept) == expected_count
    capsys.readouterr()
    assert main(words) == 0
    captured = capsys.readouterr()
    assert without_times(captured.out) == expected
    assert {path.name for path in table.parent.iterdir()} == {"points.csv", "report.html"}


def test_an_interrupted_run_goes_on_from_every_stage_to_the_same_result(table, capsys):
    check_interrupted_run(table, capsys, interrupted_here, signal.SIGINT, MOMENTS)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_ends_while_it_writes_leaves_no_partial_file(table, capsys, number):
    moments = [("writing", 1), ("report", 0)]
    check_interrupted_run(table, capsys, struck_elsewhere, number, moments)


def test_an_interrupted_run_with_threads_goes_on_to_the_same_result(table, capsys):
    at_once = [("computing", STEPS.index(name)) for name in ("maps", "explanations")]
    check_interrupted_run(table, capsys, interrupted_here, signal.SIGINT, at_once, n_jobs=2)


@pytest.mark.slow
@pytest.mark.parametrize("number", EXIT_CODES)
@pytest.mark.parametrize("moments", [MOMENTS, WRITING], ids=["computing", "writing"])
def test_a_process_that_is_ended_at_any_stage_goes_on_to_the_same_result(
    table, capsys, number, moments
):
    check_interrupted_run(table, capsys, struck_elsewhere, number, moments)


@pytest.mark.slow
def test_eight_processes_on_a_cold_cache_give_one_result(table, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    words = [sys.executable, "-m", "vicinal.cli", "graph", str(table), "--kind", "dmst", "--json"]
    runs = [
        subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    outputs = [run.communicate(timeout=550) for run in runs]
    assert [run.returncode for run in runs] == [0] * 8, outputs
    results = [json.loads(out) for out, _ in outputs]
    for result in results:
        result.pop("seconds")
    assert all(result == results[0] for result in results)
    assert any(cache.iterdir())


def tables_of_threads():
    return [
        make_blobs(120, 4, centers=3, cluster_std=0.5, random_state=seed)[0] for seed in range(4)
    ]


ESTIMATORS = {
    "PerceptualClustering": lambda: vicinal.PerceptualClustering(3, random_state=0),
    "SpectralClustering": lambda: vicinal.SpectralClustering(3, random_state=0),
    "KernelKMeans": lambda: vicinal.KernelKMeans(3, random_state=0),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_four_threads_with_an_estimator_each_agree_with_one(name):
    def labels(points):
        return ESTIMATORS[name]().fit(points).labels_

    tables = tables_of_threads()
    expected = [labels(points) for points in tables]
    with ThreadPoolExecutor(4) as pool:
        for result, alone in zip(pool.map(labels, tables * 3), expected * 3, strict=True):
            np.testing.assert_array_equal(result, alone)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_four_threads_that_fit_one_estimator_to_the_same_points_agree(name):
    points = tables_of_threads()[0]
    expected = ESTIMATORS[name]().fit(points).labels_
    shared = ESTIMATORS[name]()
    with ThreadPoolExecutor(4) as pool:
        for model in pool.map(shared.fit, [points] * 12):
            np.testing.assert_array_equal(model.labels_, expected)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_four_threads_that_share_a_fitted_estimator_agree_with_one(name):
    points, *others = tables_of_threads()
    model = ESTIMATORS[name]().fit(points)
    expected = [model.predict(other) for other in others]
    with ThreadPoolExecutor(4) as pool:
        for result, alone in zip(pool.map(model.predict, others * 4), expected * 4, strict=True):
            np.testing.assert_array_equal(result, alone)


def resident_bytes():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


GROWING = {
    "PerceptualClustering": lambda: vicinal.PerceptualClustering(3, random_state=0),
    "SpectralClustering": lambda: vicinal.SpectralClustering(3, random_state=0),
    "Isomap": lambda: vicinal.Isomap(2),
    "SelfSmoothing": lambda: vicinal.SelfSmoothing(5),
}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", GROWING)
def test_memory_does_not_grow_over_200_fits(name):
    points = np.random.default_rng(0).random((500, 8))
    for _ in range(30):
        GROWING[name]().fit(points)
    before = resident_bytes()
    for _ in range(200):
        GROWING[name]().fit(points)
    # One array (n, 10) kept per fit, the least that a fit makes, would be 8 MB; one (n, n) 400 MB.
    assert resident_bytes() - before < 6_000_000
