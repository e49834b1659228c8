"""The command ``vicinal``: one module per subcommand.

A subcommand returns its result and raises errors. This module prints the result, as text or with
``--json`` as JSON, and turns an error into one line on stderr and an exit code: 0 success,
1 internal error, 2 invalid input or usage, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

from vicinal import __version__
from vicinal._core.suggestions import suggestion
from vicinal.cli import (
    assign,
    audit,
    bench,
    cluster,
    compare,
    completion,
    demo,
    duplicates,
    embed,
    explore,
    fuse,
    graph,
    label,
    perceive,
    rank,
    reproduce,
    segment,
    smooth,
    warm,
)
from vicinal.cli.compilation import note_if_compiling
from vicinal.cli.names import in_terms_of_options
from vicinal.cli.options import HelpPage
from vicinal.cli.output import format_facts, format_json

COMMANDS = (
    perceive,
    explore,
    audit,
    assign,
    compare,
    graph,
    cluster,
    embed,
    rank,
    duplicates,
    label,
    smooth,
    fuse,
    segment,
    reproduce,
    demo,
    bench,
    warm,
    completion,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Replace characters the terminal cannot encode instead of failing.
        sys.stdout.reconfigure(errors="replace")
    arguments = _parse(argv)
    try:
        # The purpose of `vicinal warm` is to compile.
        note = nullcontext() if arguments.run is warm.run else note_if_compiling()
        with _one_line_warnings(arguments), _exit_on_sigterm(), note:
            facts = arguments.run(arguments)
        text = format_json(facts) if arguments.json else format_facts(facts)
        if text:
            _print(text)
        if not arguments.json and facts.get("written") == {} and hasattr(arguments, "unsaved"):
            print(f"no file written; use -o FILE to save the {arguments.unsaved}", file=sys.stderr)
    except KeyboardInterrupt:
        print("vicinal: interrupted; no partial files were left behind", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does.
        _drop_output()
        return 0
    except Exception as error:
        if arguments.debug:
            raise
        message = " ".join(_message(error, arguments).split())
        if isinstance(error, (ValueError, TypeError, OSError, MemoryError, ImportError)):
            print(f"vicinal: error: {message}", file=sys.stderr)
            return 2
        print(
            f"vicinal: internal error: {type(error).__name__}: {message}; please report it with the "
            "output of --debug.",
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
            f"cannot write to standard output: {error.strerror}; output files are complete."
        ) from error


def _drop_output() -> None:
    # Otherwise Python reports the closed pipe again when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _message(error: Exception, arguments: argparse.Namespace) -> str:
    # Errors of the operating system name a file, but not what to do.
    if isinstance(error, PermissionError) and error.filename is not None:
        return (
            f"{error.filename}: {error.strerror}; change its permissions (chmod), or choose another "
            "file."
        )
    return in_terms_of_options(str(error), arguments)


class Parser(argparse.ArgumentParser):
    """Parser that suggests a close name for an unknown command or choice."""

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and exit with code 2."""
        unknown = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if unknown:
            choices = [name.strip(" '") for name in unknown[2].split(",")]
            is_file = "perceive" in choices and os.path.exists(unknown[1])
            message += (
                f"; to analyse this file, use: vicinal perceive {unknown[1]}"
                if is_file
                else suggestion(unknown[1], choices)
            )
        super().error(message)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = build_parser()
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help(sys.stderr)
        sys.exit(2)
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        parser = arguments.command_parser
        flags = [option for action in parser._actions for option in action.option_strings]
        option = unknown[0].partition("=")[0]
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{suggestion(option, flags)}")
    return arguments


def build_parser() -> argparse.ArgumentParser:
    """Parser of all commands."""
    parser = Parser(
        prog="vicinal",
        description="Find the structure of a table: graphs, clusters, noise, embeddings, rankings.",
        epilog="Run 'vicinal COMMAND --help' for the options and examples of a command.",
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
def _one_line_warnings(arguments: argparse.Namespace) -> Iterator[None]:
    def show(message: Any, *_: Any, **__: Any) -> None:
        text = in_terms_of_options(str(message), arguments)
        print(f"vicinal: warning: {' '.join(text.split())}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM into an exception, so that partial files are removed."""
    # Only the main thread may set signal handlers.
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def exit_process(*_: Any) -> None:
        sys.exit(128 + signal.SIGTERM)

    previous_handler = signal.signal(signal.SIGTERM, exit_process)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous_handler)
