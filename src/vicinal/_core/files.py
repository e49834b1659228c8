"""Atomic writing of files."""

from __future__ import annotations

import errno
import os
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

NOT_WRITABLE_ERRORS = (errno.EROFS, errno.EACCES, errno.EPERM)
DISK_FULL_ERRORS = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


@contextmanager
def atomic_write(path: Path, *, replace: bool = True, clean: bool = True) -> Iterator[Path]:
    """Yield a temporary path in the same folder, which is renamed to ``path`` if the block succeeds.

    With ``replace=False``, an error is raised if a file has appeared at ``path`` in the meantime: if several
    processes write the same file, only one succeeds. With ``clean=False``, temporary files of killed
    processes are left in the folder, whose files need not be listed then.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {path.parent} does not exist; create it.")
    if clean:
        remove_abandoned(path.parent)
    # Files made by tempfile are readable by their user only, even after the rename.
    temporary = path.with_name(
        f".{path.stem}-{_owner()}-{os.getpid()}-{threading.get_ident()}{path.suffix}"
    )
    try:
        try:
            yield temporary
        except OSError as error:
            raise _not_written(path, temporary, error) from error
        if replace:
            os.replace(temporary, path)
        else:
            _publish(temporary, path)
    finally:
        # Where nothing can be written, nothing can be removed either.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove_abandoned(folder: Path) -> None:
    """Remove temporary files of `atomic_write` whose process on this computer was killed."""
    if os.name != "posix":  # on Windows, os.kill(process, 0) ends the process
        return
    for path in folder.glob(f".*-{escape(_owner())}-*-*"):
        process, _, thread = path.stem.rpartition(f"-{_owner()}-")[2].partition("-")
        if process.isdigit() and thread.isdigit() and not _is_alive(int(process)):
            with suppress(OSError):
                path.unlink()


def _owner() -> str:
    # Process ids are only valid on one computer, and others may write to the same folder.
    return f"vicinal-{platform.node() or 'local'}"


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _publish(temporary: Path, path: Path) -> None:
    """Rename a finished file atomically, unless the name is taken."""
    try:
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise
        except (OSError, AttributeError):  # a file system without hard links
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            os.replace(temporary, path)
    except FileExistsError as error:
        raise FileExistsError(
            f"{path} exists: another process wrote it during this run, and it was left unchanged; "
            "choose another name, or pass --force to overwrite it."
        ) from error


def _not_written(path: Path, temporary: Path, error: OSError) -> OSError:
    """The same error, with the name of the target file and advice."""
    message = (error.strerror or str(error)).replace(str(temporary), str(path))
    if str(path) not in message:
        message = f"{path} could not be written: {message}"
        # Incomplete writes of numpy raise an OSError without a number.
        if error.errno is None or error.errno in DISK_FULL_ERRORS:
            message += "; free some space, or choose a folder on another disk"
        elif error.errno in NOT_WRITABLE_ERRORS:
            message += "; choose a folder in which files can be written"
        message += "."
    renamed = type(error)(message)
    renamed.errno = error.errno
    return renamed
