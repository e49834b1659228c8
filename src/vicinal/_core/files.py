"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


@contextmanager
def atomic_write(path: Path, *, replace: bool = True) -> Iterator[Path]:
    """A temporary neighbour of ``path`` that takes its place only when the block ends well.

    With ``replace=False``, a file that appeared at ``path`` in the meantime stays, and is an error: of
    several runs that write the same file, one succeeds.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}; make it.")
    remove_abandoned(path.parent)
    # Not from tempfile: its files are private to the user, and would stay so under the final name.
    unfinished = path.with_name(
        f".{path.stem}-{_owner()}-{os.getpid()}-{threading.get_ident()}{path.suffix}"
    )
    try:
        try:
            yield unfinished
        except OSError as error:
            raise _not_written(path, unfinished, error) from error
        if replace:
            os.replace(unfinished, path)
        else:
            _publish(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def remove_abandoned(folder: Path) -> None:
    """Remove temporary files of `atomic_write` whose process on this computer was killed."""
    if os.name != "posix":  # elsewhere, asking for a process may end it
        return
    for path in folder.glob(f".*-{escape(_owner())}-*-*"):
        process, _, thread = path.stem.rpartition(f"-{_owner()}-")[2].partition("-")
        if process.isdigit() and thread.isdigit() and not _is_alive(int(process)):
            with suppress(OSError):
                path.unlink()


def _owner() -> str:
    # A process number means nothing on another computer that writes into the same folder.
    return f"vicinal-{platform.node() or 'local'}"


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _publish(unfinished: Path, path: Path) -> None:
    """Give a finished file its name, in one step, unless another file has it."""
    try:
        try:
            os.link(unfinished, path)
        except FileExistsError:
            raise
        except (OSError, AttributeError):  # a file system without hard links
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            os.replace(unfinished, path)
    except FileExistsError as error:
        raise FileExistsError(
            f"{path} exists: it was written by something else while this ran, and is kept as it is; "
            "choose another name, or give --force to overwrite it."
        ) from error


def _not_written(path: Path, unfinished: Path, error: OSError) -> OSError:
    """The error, with the name of the file that was to be written and what to do."""
    words = (error.strerror or str(error)).replace(str(unfinished), str(path))
    if str(path) not in words:
        words = f"{path} could not be written: {words}"
        # Short writes of numpy have no number.
        if error.errno is None or error.errno in FULL:
            words += "; free some space, or choose a folder on another disk"
        words += "."
    told = type(error)(words)
    told.errno = error.errno
    return told
