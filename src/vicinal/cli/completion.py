"""``vicinal completion``: shell completion scripts, generated from the parsers of the commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from vicinal.cli.options import new_command
from vicinal.cli.stdin import path_or_stdin


class Option(NamedTuple):
    """An option, or a positional argument (no flags), for completion."""

    flags: tuple[str, ...]
    about: str
    choices: tuple[str, ...]
    takes_value: bool
    takes_file: bool


class Command(NamedTuple):
    """A command with its options and arguments."""

    name: str
    about: str
    options: list[Option]

    @property
    def arguments(self) -> list[Option]:
        """Positional arguments."""
        return [option for option in self.options if not option.flags]


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "completion",
        run,
        "generate a shell completion script",
        "Print a script that completes commands and options in bash, zsh or fish.",
        "examples:\n"
        "  vicinal completion bash > ~/.local/share/bash-completion/completions/vicinal\n"
        "  vicinal completion zsh > ~/.zfunc/_vicinal       # if ~/.zfunc is in fpath\n"
        "  vicinal completion fish > ~/.config/fish/completions/vicinal.fish\n",
    )
    parser.add_argument("shell", choices=SHELLS, help="shell that reads the script")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Print the script without formatting, so that a shell can read it."""
    from vicinal.cli import build_parser

    script = SHELLS[arguments.shell](commands_of(build_parser()))
    if arguments.json:
        return {"shell": arguments.shell, "script": script}
    print(script)
    return {}


def commands_of(parser: argparse.ArgumentParser) -> list[Command]:
    """Commands of a parser with their options, in order."""
    (choice,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    about = {action.dest: action.help or "" for action in choice._choices_actions}
    return [
        Command(name, about[name], [_option(action, sub) for action in sub._actions])
        for name, sub in choice.choices.items()
    ]


def _option(action: argparse.Action, parser: argparse.ArgumentParser) -> Option:
    return Option(
        tuple(action.option_strings),
        parser._get_formatter()._expand_help(action) if action.help else "",
        tuple(map(str, action.choices or ())),
        action.nargs != 0,
        action.type in (Path, path_or_stdin),
    )


def bash_script(commands: list[Command]) -> str:
    """Bash function that completes by command and previous word."""
    values, flags, words = [], [], []
    for command in commands:
        for option in command.options:
            if option.flags and option.takes_value:
                cases = "|".join(f'"{command.name} {flag}"' for flag in option.flags)
                values.append(f"        {cases}) {_bash_completions(option)}; return ;;")
        names = " ".join(flag for option in command.options for flag in option.flags)
        flags.append(f"        {command.name}) _vicinal_words '{names}' ;;")
        for argument in command.arguments:
            words.append(f"        {command.name}) {_bash_completions(argument)} ;;")
    return "\n".join(
        [
            "# bash completion of vicinal",
            "_vicinal_words() {",
            '    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")',
            "}",
            "_vicinal_files() {",
            "    compopt -o filenames 2> /dev/null",
            '    mapfile -t COMPREPLY < <(compgen -f -- "$cur")',
            "}",
            "_vicinal() {",
            '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
            '    local command="${COMP_WORDS[1]}"',
            "    COMPREPLY=()",
            "    if (( COMP_CWORD == 1 )); then",
            f"        _vicinal_words '{' '.join(c.name for c in commands)} --help --version'",
            "        return",
            "    fi",
            '    case "$command $prev" in',
            *values,
            "    esac",
            '    if [[ "$cur" == -* ]]; then',
            '        case "$command" in',
            *(f"    {line}" for line in flags),
            "        esac",
            "        return",
            "    fi",
            '    case "$command" in',
            *words,
            "    esac",
            "}",
            "complete -F _vicinal vicinal",
        ]
    )


def _bash_completions(option: Option) -> str:
    if option.choices:
        return f"_vicinal_words '{' '.join(option.choices)}'"
    return "_vicinal_files" if option.takes_file else ":"


def zsh_script(commands: list[Command]) -> str:
    """Zsh function based on ``_arguments``."""
    names = [f"        {_quote(f'{_escape_zsh(c.name)}:{_escape_zsh(c.about)}')}" for c in commands]
    cases = []
    for command in commands:
        specifications = [s for option in command.options for s in _zsh_specifications(option)]
        lines = " \\\n".join(f"                {_quote(s)}" for s in specifications)
        cases.append(f"        {command.name})\n            _arguments \\\n{lines}\n            ;;")
    return "\n".join(
        [
            "#compdef vicinal",
            "_vicinal() {",
            "    local -a commands=(",
            *names,
            "    )",
            "    if (( CURRENT == 2 )); then",
            "        _describe command commands",
            "        return",
            "    fi",
            '    local command="${words[2]}"',
            "    shift words",
            "    (( CURRENT-- ))",
            '    case "$command" in',
            *cases,
            "    esac",
            "}",
            # Autoloaded, the file is the body of the function; sourced, it only defines it.
            'if [ "$funcstack[1]" = "_vicinal" ]; then',
            '    _vicinal "$@"',
            "else",
            "    compdef _vicinal vicinal",
            "fi",
        ]
    )


def _zsh_specifications(option: Option) -> list[str]:
    value = f":{_escape_zsh(option.about) or 'value'}:"
    if option.choices:
        value += f"({' '.join(option.choices)})"
    elif option.takes_file:
        value += "_files"
    if not option.flags:
        return [value]
    return [
        f"{flag}[{_escape_zsh(option.about)}]" + (value if option.takes_value else "")
        for flag in option.flags
    ]


def _escape_zsh(text: str) -> str:
    for character in "\\:[]":
        text = text.replace(character, f"\\{character}")
    return text


def fish_script(commands: list[Command]) -> str:
    """Fish script with one line per command and option."""
    base = "complete -c vicinal"
    lines = ["# fish completion of vicinal", f"{base} -f"]
    for command in commands:
        lines.append(
            f"{base} -n __fish_use_subcommand -a {command.name} -d {_quote(command.about)}"
        )
    for command in commands:
        prefix = f"{base} -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            names = "".join(
                f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}"
                for flag in option.flags
            )
            lines.append(f"{prefix}{names}{_fish_completions(option)} -d {_quote(option.about)}")
    return "\n".join(lines)


def _fish_completions(option: Option) -> str:
    if option.choices:
        return f" -x -a {_quote(' '.join(option.choices))}"
    if option.takes_file:
        return " -r -F"
    return " -x" if option.takes_value and option.flags else ""


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


SHELLS: dict[str, Callable[[list[Command]], str]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}
