"""The gallery scripts run, and each produces a plot."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_an_example_produces_a_plot(script, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    # Figures that are not shown do not appear on the page.
    shown = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.extend(pyplot.get_fignums()))
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        pyplot.close("all")
    assert shown
