import shutil
import subprocess

import pytest

from vicinal.cli import build_parser
from vicinal.cli.completion import SHELLS, commands_of
from vicinal.cli.kinds import KINDS
from vicinal.cli.reproduce import STUDIES

BASH = """
source {script}
COMP_WORDS=({words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_vicinal
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def completions(tmp_path, run, capsys):
    """Completions of a shell after some words; the last may be partial."""

    def call(shell, *words):
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not installed")
        assert run("completion", shell) == 0
        script = tmp_path / f"vicinal.{shell}"
        script.write_text(capsys.readouterr().out)
        if shell == "bash":
            quoted = " ".join(f"'{word}'" for word in words)
            code = BASH.format(script=script, words=quoted)
        else:
            code = f"source {script}; complete -C '{' '.join(words)}'"
        result = subprocess.run([shell, "-c", code], capture_output=True, text=True)
        assert result.stderr == ""
        return {line.split("\t")[0] for line in result.stdout.splitlines()} - {""}

    return call


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_the_script_completes_commands_options_and_choices(shell, completions, table):
    names = {command.name for command in commands_of(build_parser())}
    assert names <= completions(shell, "vicinal", "")
    assert completions(shell, "vicinal", "gr") == {"graph"}
    assert completions(shell, "vicinal", "graph", "--kind", "") == set(KINDS)
    assert completions(shell, "vicinal", "graph", "--neighb") == {"--neighbors"}
    assert completions(shell, "vicinal", "reproduce", "") == set(STUDIES)
    assert completions(shell, "vicinal", "graph", str(table)[:-2]) == {str(table)}
    assert completions(shell, "vicinal", "graph", "x.csv", "--neighbors", "") == set()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_valid_shell(shell, tmp_path, run, capsys):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert run("completion", shell) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    result = subprocess.run([shell, "-n", script], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_of_every_command_is_in_the_script(shell, facts_of):
    script = facts_of("completion", shell)["script"]
    for command in commands_of(build_parser()):
        for option in command.options:
            for flag in option.flags:
                spelling = f"-l {flag[2:]}" if shell == "fish" and flag.startswith("--") else flag
                spelling = (
                    f"-s {flag[1:]}" if shell == "fish" and not flag.startswith("--") else spelling
                )
                assert spelling in script
