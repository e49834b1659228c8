"""Programs without a console have no stderr: progress is then not shown."""

import sys

import numpy as np
import pytest

import vicinal
from vicinal import graphs

X = np.random.default_rng(0).random((60, 2))


@pytest.mark.parametrize(
    "call",
    [lambda: graphs.gabriel(X, verbose=1), lambda: vicinal.perceive(X, n_clusters=2, verbose=1)],
)
def test_progress_without_stderr_is_not_shown(call, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    call()
    assert capsys.readouterr().out == ""
