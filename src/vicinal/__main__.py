"""The process of the command: from its first import on, a signal ends it cleanly."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn


def main() -> int:
    """Run the command in a process of its own and return its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # A shell starts jobs in the background with interrupts ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    # The imports take longer than the time to press Ctrl-C after a typing error.
    from vicinal.cli import main as run

    return run()


def _end(number: int, _: Any) -> NoReturn:
    """Remove what is being written, and end without another step of the program.

    An exception would be swallowed by some imports and by callbacks from C, and would wait for the blocks of
    other threads; a regular exit destroys C++ objects under threads that use them, which aborts.
    """
    try:
        for other in (signal.SIGINT, signal.SIGTERM):
            signal.signal(other, signal.SIG_IGN)
        from vicinal._core.files import remove_unfinished

        remove_unfinished()
        if number == signal.SIGINT:
            # Not by print, whose buffer may be in use by what was interrupted.
            os.write(2, b"vicinal: interrupted; no partial files were left behind\n")
    finally:
        os._exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
