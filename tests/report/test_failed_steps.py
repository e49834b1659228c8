"""A failed step of `perceive` is reported in its section; the others are shown."""

import json

import numpy as np
import pytest

import vicinal
from vicinal.datasets import make_two_moons
from vicinal.report import pipeline

STEPS = {
    "neighbour structure": "find_neighborhoods",
    "number of clusters": "count_clusters",
    "clusters and noise": "find_clusters",
    "layers": "find_layers",
    "maps": "draw_maps",
    "typical and atypical rows": "pick_exemplars",
    "explanations": "explain",
    "scores against labels": "score_against",
}


def fail(*args, **kwargs):
    raise RuntimeError("3 eigenpairs <did> not converge")


def break_step(monkeypatch, name):
    monkeypatch.setattr(pipeline, STEPS[name], fail)


@pytest.mark.parametrize("name", STEPS)
def test_a_failed_step_is_reported_and_the_others_are_shown(name, monkeypatch, tmp_path):
    break_step(monkeypatch, name)
    X, arm = make_two_moons(90, noise=0.05, random_state=0)
    result = vicinal.perceive(X, labels=arm, sample=60, n_clusters=2, n_jobs=1)
    assert result.failures == {name: "RuntimeError: 3 eigenpairs <did> not converge"}
    page = result.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
    message = (
        f"The step &#x27;{name}&#x27; failed: RuntimeError: 3 eigenpairs &lt;did&gt; not converge"
    )
    assert message in page
    if name not in ("layers", "maps", "typical and atypical rows"):
        assert f"The step '{name}' failed" in result.summary()
    assert result.n_clusters == (1 if name == "clusters and noise" else 2)
    assert len(result.to_frame()) == 90


def test_the_report_is_written_even_if_all_steps_fail(monkeypatch, tmp_path):
    for name in STEPS:
        break_step(monkeypatch, name)
    X = np.random.default_rng(0).normal(size=(60, 2))
    result = vicinal.perceive(X, n_jobs=1)
    assert set(result.failures) == set(STEPS) - {"scores against labels"}
    assert result.to_html(tmp_path / "report.html").stat().st_size > 10_000
    assert result.snippet()


def test_results_that_depend_on_a_failed_step_are_not_cached(monkeypatch, tmp_path):
    X, _ = make_two_moons(80, noise=0.05, random_state=0)
    with monkeypatch.context() as broken:
        break_step(broken, "clusters and noise")
        vicinal.perceive(X, sample=60, n_clusters=2, n_jobs=1, resume=tmp_path / "steps")
    cached = {path.stem for path in (tmp_path / "steps").glob("*.npz")}
    assert cached == {"neighbour-structure", "number-of-clusters"}
    again = vicinal.perceive(X, sample=60, n_clusters=2, n_jobs=1, resume=tmp_path / "steps")
    assert again.failures == {}
    assert again.n_clusters == 2


def test_the_json_of_the_command_lists_failures(monkeypatch, tmp_path, capsys):
    from vicinal.cli import main

    break_step(monkeypatch, "maps")
    X, _ = make_two_moons(80, noise=0.05, random_state=0)
    np.savetxt(tmp_path / "moons.csv", X, delimiter=",", header="x,y", comments="")
    output = tmp_path / "moons.html"
    arguments = ["perceive", str(tmp_path / "moons.csv"), "-o", str(output), "--clusters", "2"]
    assert main([*arguments, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["failures"] == {"maps": "RuntimeError: 3 eigenpairs <did> not converge"}
