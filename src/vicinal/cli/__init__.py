"""The command ``vicinal``: one module per subcommand.

A subcommand returns its result and raises errors. This module prints the result, as text or with
``--json`` as JSON, and turns an error into one line on stderr and an exit code: 0 success,
1 internal error, 2 invalid input or usage. `vicinal.__main__` ends the process at a signal: 130
interrupted, 143 terminated.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

from vicinal import __version__
from vicinal._core.suggestions import suggestion
from vicinal.cli import (
    assign,
    audit,
    cluster,
    compare,
    demo,
    duplicates,
    embed,
    explore,
    fuse,
    graph,
    label,
    perceive,
    rank,
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
    demo,
    warm,
)
# Commands of development versions, and what to write instead.
RETIRED = {
    "bench": "in a clone of the repository, write: python -m benchmarks SUITE",
    "completion": "pip install shtab, and write: shtab --shell=bash vicinal.cli.build_parser",
    "reproduce": "in a clone of the repository, write: python -m studies NAME",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Replace characters the terminal cannot encode instead of failing.
        sys.stdout.reconfigure(errors="replace")
    arguments = _parse(argv)
    try:
        # The purpose of `vicinal warm` is to compile.
        note = nullcontext() if arguments.run is warm.run else note_if_compiling()
        with _one_line_warnings(arguments), note:
            facts = arguments.run(arguments)
        text = format_json(facts) if arguments.json else format_facts(facts)
        if text:
            _print(text)
        if not arguments.json and facts.get("written") == {} and hasattr(arguments, "unsaved"):
            print(f"no file written; use -o FILE to save the {arguments.unsaved}", file=sys.stderr)
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does.
        _drop_output()
        return 0
    except Exception as error:
        if arguments.debug:
            raise
        message = " ".join(_message(error, arguments).split())
        if isinstance(error, Warning):
            message += " (a warning, which -W error or PYTHONWARNINGS made an error)"
        if isinstance(error, (ValueError, TypeError, OSError, MemoryError, ImportError, Warning)):
            print(f"vicinal: error: {message}", file=sys.stderr)
            return 2
        print(
            f"vicinal: internal error: {type(error).__name__}: {message}; please report it with the "
            "output of --debug.",
            file=sys.stderr,
        )
        return 1
    return 0


def _open_closed_streams() -> None:
    """Connect streams that the caller closed, as services do, to nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, open until the end


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
    """Parser that suggests what to write for an unknown command or choice."""

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and exit with code 2."""
        unknown = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if unknown:
            choices = [name.strip(" '") for name in unknown[2].split(",")]
            is_command = "perceive" in choices
            if is_command and unknown[1] in RETIRED:
                message = f"'{unknown[1]}' is no command any more; {RETIRED[unknown[1]]}"
            elif is_command and os.path.exists(unknown[1]):
                message += f"; to analyse this file, use: vicinal perceive {unknown[1]}"
            else:
                message += suggestion(unknown[1], choices)
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
