"""Where real data lies: in a folder that the user names, never fetched unasked."""

from __future__ import annotations

import os
from pathlib import Path

from vicinal.exceptions import InvalidTypeError

# Names a folder once, for all loaders.
VARIABLE = "VICINAL_DATA"


def find_file(name: str, folder: str | Path | None) -> Path | None:
    """The file in the folder, by default the one that VICINAL_DATA names; None if it is not there.

    A folder that is named by an argument has to exist.
    """
    if folder is None:
        named = os.environ.get(VARIABLE)
        path = Path(named) / name if named else None
    else:
        if not isinstance(folder, (str, os.PathLike)):
            raise InvalidTypeError(f"folder={folder!r}, but the path of a folder is needed.")
        if not Path(folder).is_dir():
            raise FileNotFoundError(
                f"folder={str(folder)!r} is no folder; give one that holds {name}."
            )
        path = Path(folder) / name
    return path if path is not None and path.is_file() else None


def missing(
    name: str, content: str, folder: str | Path | None, other: str = ""
) -> FileNotFoundError:
    """The error that says what was looked for, where, and what else there is."""
    place = os.environ.get(VARIABLE) if folder is None else str(folder)
    where = f"is not in {place}" if place else "is nowhere: no folder was given"
    return FileNotFoundError(
        f"{name} {where}; give folder=, or set {VARIABLE} to a folder, with that file in it "
        f"({content}).{other}"
    )
