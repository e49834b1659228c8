"""The note to users who wait for kernels to be compiled."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from vicinal.cli import compilation


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


class Kernels(list):
    """Kernels that count how often somebody looks at them."""

    def __init__(self, kernels: list) -> None:
        super().__init__(kernels)
        self.looks = threading.Semaphore(0)

    def __iter__(self) -> Iterator:
        """Return an iterator, and count it."""
        self.looks.release()
        return super().__iter__()


def printed_by_command(
    monkeypatch: pytest.MonkeyPatch,
    stream: io.StringIO,
    misses: int,
    limit: float = 0.001,
    looks: int = 0,
) -> str:
    """What is printed during a command whose kernels were compiled this often.

    It takes until somebody has looked at its kernels so many times.
    """
    kernels = Kernels(
        [
            SimpleNamespace(stats=SimpleNamespace(cache_misses=counts))
            for counts in ({}, {"types": misses} if misses else {})
        ]
    )
    monkeypatch.setitem(sys.modules, "vicinal._core.jit", SimpleNamespace(KERNELS=kernels))
    monkeypatch.setattr(sys, "stderr", stream)
    with compilation.note_if_compiling(limit):
        for _ in range(looks):
            assert kernels.looks.acquire(timeout=300)
    return stream.getvalue()


def test_a_long_command_that_compiles_says_so_once(monkeypatch):
    printed = printed_by_command(monkeypatch, Terminal(), misses=3, looks=1)
    assert printed.count("vicinal warm") == 1


@pytest.mark.parametrize(
    ("stream", "misses", "limit", "looks"),
    [(Terminal(), 0, 0.001, 3), (io.StringIO(), 3, 0.001, 0), (Terminal(), 3, 300.0, 0)],
    ids=["compiled before", "not a terminal", "short command"],
)
def test_no_note(monkeypatch, stream, misses, limit, looks):
    assert printed_by_command(monkeypatch, stream, misses, limit, looks) == ""
