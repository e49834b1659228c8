"""Timed steps whose results are cached on disk, so that an interrupted run can be resumed.

A result is a named tuple of numbers, strings, arrays, lists and dicts. It is stored as one .npz file
without pickled objects, so that reading it runs no code.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar
from zipfile import BadZipFile

import numpy as np

from vicinal._core.files import atomic_write, remove_abandoned


class StepResult(Protocol):
    """What a step returns: its fields by name, which are also the arguments that make it."""

    def _asdict(self) -> dict[str, Any]: ...


Result = TypeVar("Result", bound=StepResult)
ARRAY = "$array"
LINE_WIDTH = 40
# What reading a file that is not a cached step can raise.
READ_ERRORS = (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile)


class CheckpointedRunner:
    """Runs and times steps; with a folder, caches their results.

    A cached result is used only if its fingerprint of data and parameters is ``fingerprint``.
    """

    def __init__(
        self, names: list[str], folder: Path | None, fingerprint: str, verbose: int
    ) -> None:
        self.names, self.folder, self.fingerprint = names, folder, fingerprint
        self.verbose = verbose
        self.seconds: dict[str, float] = {}
        self.failures: dict[str, str] = {}
        if folder is not None:
            folder.mkdir(exist_ok=True)
            for path in map(self._path_of, names):
                if path is not None and path.exists() and not _is_step(path):
                    raise FileExistsError(
                        f"{path} is not a vicinal cache file; move it or choose another folder."
                    )

    def __call__(
        self,
        name: str,
        kind: type[Result],
        compute: Callable[[], Result],
        fallback: Callable[[], Result],
    ) -> Result:
        """The result of a step, from the cache or from ``compute``.

        After an error, which goes to ``failures``, the result is that of ``fallback``, and neither this
        nor later results are cached, since they may depend on it.
        """
        number = f"{self.names.index(name) + 1}/{len(self.names)}"
        # Steps can run at the same time: each line replaces the last unfinished one.
        self._print(f"\r{f'{number}  {name} ...':<{LINE_WIDTH}}", "")
        start = time.perf_counter()
        path = self._path_of(name)
        result = None if path is None else load_step(path, kind, self.fingerprint)
        cached = result is not None
        if result is None:
            try:
                result = compute()
            except Exception as error:
                self.failures[name] = f"{type(error).__name__}: {error}".rstrip(": ")
                result = fallback()
            if path is not None and not self.failures:
                # Another run on the same table may have finished and removed the folder.
                path.parent.mkdir(exist_ok=True)
                store_step(path, result, self.fingerprint)
        self.seconds[name] = time.perf_counter() - start
        outcome = "cached" if cached else f"{self.seconds[name]:.1f} s"
        outcome = "failed" if name in self.failures else outcome
        self._print(f"\r{f'{number}  {name:<25} {outcome:>8}':<{LINE_WIDTH}}")
        return result

    def _path_of(self, name: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{name.replace(' ', '-')}.npz"

    def _print(self, text: str, end: str = "\n") -> None:
        # Without stderr, print would use stdout.
        if self.verbose > 0 and sys.stderr is not None:
            print(text, end=end, file=sys.stderr, flush=True)


def fingerprint_of(arrays: list[Any], parameters: dict[str, Any]) -> str:
    """Digest of data and parameters."""
    digest = hashlib.sha256(json.dumps(parameters, sort_keys=True, default=str).encode())
    for array in arrays:
        if array is not None:
            array = np.ascontiguousarray(array)
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(array.data if array.dtype.kind != "O" else repr(array.tolist()).encode())
    return digest.hexdigest()


def store_step(path: Path, result: StepResult, fingerprint: str) -> None:
    """Write a result atomically."""
    arrays: dict[str, np.ndarray] = {}
    content = {"fingerprint": fingerprint, "result": _encode(result._asdict(), arrays)}
    with atomic_write(path) as unfinished:
        np.savez(unfinished, json=np.array(json.dumps(content)), **arrays)  # type: ignore[arg-type]


def load_step(path: Path, kind: type[Result], fingerprint: str) -> Result | None:
    """A cached result for the same data and parameters, otherwise None."""
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as arrays:
            content = json.loads(str(arrays["json"]))
            if content["fingerprint"] != fingerprint:
                return None
            return kind(**_decode(content["result"], arrays))
    except READ_ERRORS:
        return None  # not a cached step


def clear_checkpoints(folder: Path) -> None:
    """Remove cached steps, and their folder if it is then empty."""
    remove_abandoned(folder)
    for path in folder.glob("*.npz"):
        if _is_step(path):
            path.unlink()
    with suppress(OSError):  # other files stay
        folder.rmdir()


def _is_step(path: Path) -> bool:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {"fingerprint", "result"} <= set(json.loads(str(arrays["json"])))
    except READ_ERRORS:
        return False


def _encode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {ARRAY: name}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _encode(item, arrays) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encode(item, arrays) for item in value]
    return value


def _decode(value: Any, arrays: Any) -> Any:
    if isinstance(value, dict):
        if ARRAY in value:
            return arrays[value[ARRAY]]
        return {key: _decode(item, arrays) for key, item in value.items()}
    if isinstance(value, list):
        return [_decode(item, arrays) for item in value]
    return value
