"""Location of real data: a folder given by the user. Nothing is downloaded without being requested."""

from __future__ import annotations

import os
from pathlib import Path

from vicinal.exceptions import InvalidTypeError

# Environment variable with the default folder of all loaders.
VARIABLE = "VICINAL_DATA"


def find_file(name: str, folder: str | Path | None) -> Path | None:
    """Path of a file in the folder, by default in $VICINAL_DATA; None if it does not exist.

    A folder given as an argument must exist.
    """
    if folder is None:
        default = os.environ.get(VARIABLE)
        path = Path(default) / name if default else None
    else:
        if not isinstance(folder, (str, os.PathLike)):
            raise InvalidTypeError(f"folder={folder!r}, but the path of a folder is needed.")
        if not Path(folder).is_dir():
            raise FileNotFoundError(
                f"folder={str(folder)!r} is not a folder; pass one that contains {name}."
            )
        path = Path(folder) / name
    return path if path is not None and path.is_file() else None


def missing_file_error(
    name: str, content: str, folder: str | Path | None, alternative: str = ""
) -> FileNotFoundError:
    """Error that names the missing file, the folder searched and the alternatives."""
    searched = os.environ.get(VARIABLE) if folder is None else str(folder)
    problem = f"was not found in {searched}" if searched else "was not found: no folder was given"
    return FileNotFoundError(
        f"{name} {problem}; pass folder= or set {VARIABLE} to a folder that contains this file "
        f"({content}).{alternative}"
    )
