"""The command ``vicinal``: one module a subcommand.

A subcommand returns what it found and raises what the library raises. Only here the one is printed, for
people or with ``--json`` for machines, and the other becomes one line on stderr and an exit code:
0 done, 1 a defect of this program, 2 an error the user can mend, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from vicinal import __version__
from vicinal.cli import (
    bench,
    cluster,
    completion,
    demo,
    embed,
    graph,
    perceive,
    rank,
    reproduce,
    segment,
    smooth,
    warm,
)
from vicinal.cli.options import HelpPage
from vicinal.cli.output import format_facts, format_json

COMMANDS = (
    perceive,
    graph,
    cluster,
    embed,
    rank,
    smooth,
    segment,
    reproduce,
    demo,
    bench,
    warm,
    completion,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a character shows another, and loses no result.
        sys.stdout.reconfigure(errors="replace")
    arguments = build_parser().parse_args(argv)
    try:
        with _warnings_in_one_line(), _unwinding_when_terminated():
            facts = arguments.run(arguments)
        text = format_json(facts) if arguments.json else format_facts(facts)
        if text:
            _print(text)
    except KeyboardInterrupt:
        print("vicinal: interrupted; no unfinished file was left behind", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Who read the output has seen enough.
        _drop_output()
        return 0
    except Exception as error:
        if arguments.debug:
            raise
        words = " ".join(_in_words(error).split())
        if isinstance(error, (ValueError, TypeError, OSError, MemoryError, ImportError)):
            print(f"vicinal: error: {words}", file=sys.stderr)
            return 2
        print(
            f"vicinal: error: {type(error).__name__}: {words}; this should not happen: please report "
            "it with what --debug shows.",
            file=sys.stderr,
        )
        return 1
    return 0


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_output()
        raise OSError(
            f"standard output could not be written: {error.strerror}; files named by options are complete."
        ) from error


def _drop_output() -> None:
    # Python must not find out once more, at its exit, that nobody takes what is left.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _in_words(error: Exception) -> str:
    # One that the system raised names a file, but not what to do.
    if isinstance(error, PermissionError) and error.filename is not None:
        return (
            f"{error.filename}: {error.strerror}; change its rights (chmod), or name a file in a "
            "folder of your own."
        )
    return str(error)


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="vicinal",
        description="Find the structure of a table: graphs, clusters, noise, embeddings, rankings.",
        epilog="'vicinal COMMAND --help' shows examples of each command.",
        formatter_class=HelpPage,
    )
    parser.add_argument("--version", action="version", version=f"vicinal {__version__}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, prog="vicinal"
    )
    for module in COMMANDS:
        module.add_to(commands)
    return parser


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    def show(message: Any, *_: Any, **__: Any) -> None:
        print(f"vicinal: warning: {' '.join(str(message).split())}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextmanager
def _unwinding_when_terminated() -> Iterator[None]:
    """Leave by an exception when asked to terminate, so that unfinished files are removed."""
    if (
        threading.current_thread() is not threading.main_thread()
    ):  # signals are none of its business
        yield
        return

    def leave(*_: Any) -> None:
        sys.exit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
