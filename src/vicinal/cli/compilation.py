"""A note to users who wait for kernels to be compiled."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Below this, nobody wonders what takes so long.
SECONDS = 3.0
NOTE = (
    "vicinal: compiling code that is used for the first time; later runs start at once "
    "('vicinal warm' compiles everything in advance)"
)


@contextmanager
def note_if_compiling(seconds: float = SECONDS) -> Iterator[None]:
    """Print a note on stderr, if it is a terminal, once kernels are compiled by a command that takes long."""
    if not sys.stderr.isatty():
        yield
        return
    finished = threading.Event()
    thread = threading.Thread(target=_watch, args=(finished, seconds), daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()


def _watch(finished: threading.Event, seconds: float) -> None:
    while not finished.wait(seconds):
        if _has_compiled():
            # Over a progress bar, which is drawn again below.
            print(f"\r{NOTE}", file=sys.stderr, flush=True)
            return


def _has_compiled() -> bool:
    # Not imported here: that takes time, and commands that compute nothing do without it.
    module = sys.modules.get("vicinal._core.jit")
    kernels = list(getattr(module, "KERNELS", ()))
    return any(kernel.stats.cache_misses for kernel in kernels)
