"""Atomic writing of files."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import secrets
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from glob import escape
from pathlib import Path

NOT_WRITABLE_ERRORS = (errno.EROFS, errno.EACCES, errno.EPERM)
DISK_FULL_ERRORS = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
PRIVATE = 0o600
# Files and folders of blocks that have not been left.
_unfinished: set[Path] = set()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unfinished.clear)  # they are those of the parent


@contextmanager
def atomic_write(path: Path, *, replace: bool = True) -> Iterator[Path]:
    """Yield a temporary path, which becomes the file that a person asked for if the block succeeds.

    A file that is replaced keeps its permissions, because others may not be meant to read it, and a link is
    followed. With ``replace=False``, an error is raised if a file has appeared at ``path`` in the meantime,
    so that only one of several processes writes it.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {path.parent} does not exist; create it.")
    target = Path(os.path.realpath(path))
    remove_abandoned(target.parent)
    mode = stat.S_IMODE(target.stat().st_mode) if target.is_file() else None
    with whole_file(target, replace=replace, shown_as=path) as temporary:
        if mode is not None:
            temporary.touch(PRIVATE)  # nobody else reads it while it is written
        yield temporary
        if mode is not None:
            temporary.chmod(mode)


@contextmanager
def whole_file(path: Path, *, replace: bool = True, shown_as: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path in the same folder, which is renamed to ``path`` if the block succeeds.

    Nothing else in the folder is looked at: it may have many files, and links that others made.
    """
    # Files made by tempfile are readable by their user only, even after the rename.
    temporary = path.with_name(
        f".{path.stem}-{_owner()}-{os.getpid()}-{threading.get_ident()}{path.suffix}"
    )
    shown = shown_as or path
    _unfinished.add(temporary)
    try:
        try:
            yield temporary
        except OSError as error:
            raise _not_written(shown, temporary, error) from error
        if replace:
            os.replace(temporary, path)
        else:
            _publish(temporary, path, shown)
    finally:
        # Where nothing can be written, nothing can be removed either.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        _unfinished.discard(temporary)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder, which is removed after the block."""
    folder = Path(tempfile.mkdtemp(prefix="vicinal-"))
    _unfinished.add(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _unfinished.discard(folder)


def remove_unfinished() -> None:
    """Remove the files and folders of all blocks, for a process that ends without leaving them."""
    for path in list(_unfinished):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def remove_abandoned(folder: Path) -> None:
    """Remove temporary files of `atomic_write` whose process on this computer was killed."""
    if os.name != "posix":  # on Windows, os.kill(process, 0) ends the process
        return
    for path in folder.glob(f".*-{escape(_owner())}-*-*"):
        process, _, thread = path.stem.rpartition(f"-{_owner()}-")[2].partition("-")
        if process.isdigit() and thread.isdigit() and not _is_alive(int(process)):
            with suppress(OSError):
                path.unlink()


@cache
def _owner() -> str:
    """Where this process runs: its number means nothing elsewhere, and others may write to the same folder.

    Containers can share a folder and a host name, so the name also has the start of the system and the
    namespace of process numbers.
    """
    place = ""
    if sys.platform.startswith("linux"):
        try:
            place = Path("/proc/sys/kernel/random/boot_id").read_text()
            place += os.readlink("/proc/self/ns/pid")
        except OSError:
            place = (
                secrets.token_hex()
            )  # not known, so that no other process takes this one for dead
    digest = hashlib.sha256(place.encode()).hexdigest()[:12]
    return f"vicinal-{platform.node() or 'local'}-{digest}"


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _publish(temporary: Path, path: Path, shown: Path) -> None:
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
            f"{shown} exists: another process wrote it during this run, and it was left unchanged; "
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
