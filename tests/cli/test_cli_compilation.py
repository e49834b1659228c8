"""The note to users who wait for kernels to be compiled."""

from __future__ import annotations

import io
import sys
import time
from types import SimpleNamespace

import pytest

from vicinal.cli import compilation


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


def printed_by_command(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, misses: int, limit: float = 0.01
) -> str:
    """What is printed during a command of 0.2 seconds whose kernels were compiled this often."""
    kernels = [
        SimpleNamespace(_cache_misses={}),
        SimpleNamespace(_cache_misses={"types": misses} if misses else {}),
    ]
    monkeypatch.setitem(sys.modules, "vicinal._core.jit", SimpleNamespace(KERNELS=kernels))
    monkeypatch.setattr(sys, "stderr", stream)
    with compilation.note_if_compiling(limit):
        time.sleep(0.2)
    return stream.getvalue()


def test_a_long_command_that_compiles_says_so_once(monkeypatch):
    printed = printed_by_command(monkeypatch, Terminal(), misses=3)
    assert printed.count("vicinal warm") == 1


@pytest.mark.parametrize(
    ("stream", "misses", "limit"),
    [(Terminal(), 0, 0.01), (io.StringIO(), 3, 0.01), (Terminal(), 3, 60.0)],
    ids=["compiled before", "not a terminal", "short command"],
)
def test_no_note(monkeypatch, stream, misses, limit):
    assert printed_by_command(monkeypatch, stream, misses, limit) == ""
