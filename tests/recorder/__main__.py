"""Record the public calls, or compare them with a record."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from . import __doc__ as about
from . import records
from .call import Call
from .calls import CALLS
from .records import Record, differences

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "recorder"


def main() -> int:
    parser = argparse.ArgumentParser("python -m tests.recorder", description=about.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, action, words in [
        ("list", _list, "name the calls"),
        ("show", _show, "print the parts of what calls give"),
        ("record", _record, "record what the calls give"),
        ("check", _check, "compare what the calls give with a record"),
    ]:
        command = commands.add_parser(name, help=words)
        command.set_defaults(action=action)
        command.add_argument("--only", default="", metavar="WORDS", help="calls with these words")
        if name in ("record", "check"):
            option = {"record": "--to", "check": "--from"}[name]
            command.add_argument(option, type=Path, default=FOLDER, dest="folder", metavar="FOLDER")
        if name == "record":
            command.add_argument("--once", action="store_true", help="repeat nothing, for a look")
    arguments = parser.parse_args()
    chosen = [call for call in CALLS if all(word in call.name for word in arguments.only.split())]
    return arguments.action(chosen, arguments)


def _list(calls: list[Call], _: argparse.Namespace) -> int:
    print(*(call.name for call in calls), f"{len(calls)} calls", sep="\n")
    return 0


def _show(calls: list[Call], _: argparse.Namespace) -> int:
    for call in calls:
        print(call.name)
        for path, part in records.record_of(call.run()).items():
            said = part.values if isinstance(part.values, str) else part.sha256[:12]
            print(f"    {path:<50} {part.kind:<24} {said}")
    return 0


def _record(calls: list[Call], arguments: argparse.Namespace) -> int:
    if arguments.once:
        records.save(records.record(calls), arguments.folder)
        return 0
    with tempfile.TemporaryDirectory() as other:
        command = [sys.executable, "-m", "tests.recorder", "record", "--once", "--to", other]
        process = subprocess.Popen([*command, "--only", arguments.only], cwd=ROOT)
        # The other process began with the first call; this one ends with it.
        two = records.record(calls[::-1])
        one = records.record(calls, n_jobs=1)
        if process.wait():
            print("Nothing was recorded: the calls failed in a process of their own.")
            return 1
        again = records.load(Path(other))
    unequal = [
        f"{call.name} {why}: {path}: {difference.said}"
        for call in calls
        for why, repeated in (("with one thread or again", one), ("in a new process", again))
        for path, difference in differences(two[call.name], repeated[call.name]).items()
    ]
    if unequal:
        print(*unequal, "Nothing was recorded: these are not equal each time.", sep="\n")
        return 1
    records.save({call.name: two[call.name] for call in calls}, arguments.folder)
    print(f"{len(calls)} calls recorded in {arguments.folder}")
    return 0


def _check(calls: list[Call], arguments: argparse.Namespace) -> int:
    old = records.load(arguments.folder)
    words = arguments.only.split()
    old = {name: record for name, record in old.items() if all(word in name for word in words)}
    lines, is_equal = compared(old, records.record(calls))
    print(*lines, sep="\n")
    return 0 if is_equal else 1


def compared(old: Mapping[str, Record], new: Mapping[str, Record]) -> tuple[list[str], bool]:
    """What is different, in lines, and whether all that was recorded is the same."""
    changed = {name: differences(old[name], new[name]) for name in old if name in new}
    changed = {name: found for name, found in changed.items() if found}
    gone = {name: record for name, record in old.items() if name not in new}
    fresh = {name: record for name, record in new.items() if name not in old}
    lines = [
        line
        for name, found in changed.items()
        for line in (name, *(f"    {path}: {one.said}" for path, one in found.items()))
    ]
    for title, names, others in (("gone", gone, fresh), ("new", fresh, gone)):
        for name, one in names.items():
            same = [f" (the same as {n})" for n, other in others.items() if one == other]
            lines.append("".join([f"{title}: {name}", *same[:1]]))
    far = [max(one.far for one in found.values()) for found in changed.values()]
    rounded = [one for one in far if np.isfinite(one)]
    if rounded:
        size = f"floats within {max(rounded):.1e}, all else equal"
        lines.append(f"{len(rounded)} of {len(changed)} changed calls: {size}")
    counts = f"{len(changed)} changed, {len(gone)} gone, {len(fresh)} new"
    return [*lines, f"{len(new)} calls: {counts}"], not changed and not gone


if __name__ == "__main__":
    sys.exit(main())
