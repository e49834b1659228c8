"""Records of calls: made, stored in a folder, read and compared.

A record has the parts of the result, of the warnings, and of the error if there is one, by their paths.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .call import Call, Outcome
from .digest import Part, of_text, parts

Record = dict[str, Part]
HASHES, VALUES = "record.json", "values.npz"


def record_of(outcome: Outcome) -> Record:
    warned = {f"warning {i}": of_text(text) for i, text in enumerate(outcome.warned)}
    return parts(outcome.result) | warned


def record(calls: Iterable[Call], n_jobs: int = 2) -> dict[str, Record]:
    return {call.name: record_of(call.run(n_jobs)) for call in calls}


def save(records: Mapping[str, Record], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    values: dict[str, np.ndarray] = {}
    hashes: dict[str, dict[str, dict[str, str]]] = {}
    for name, record in records.items():
        hashes[name] = {}
        for path, part in record.items():
            entry = hashes[name][path] = {"kind": part.kind, "sha256": part.sha256}
            if isinstance(part.values, str):
                entry["text"] = part.values
            elif part.values is not None:
                # Equal values are stored once.
                entry["array"] = part.sha256
                values[part.sha256] = part.values
    # The hashes last, so that a record which was not written to its end is none.
    np.savez_compressed(folder / VALUES, **values)
    (folder / HASHES).write_text(json.dumps(hashes, indent=1), encoding="utf-8")


def load(folder: Path) -> dict[str, Record]:
    hashes = json.loads((folder / HASHES).read_text(encoding="utf-8"))
    with np.load(folder / VALUES) as stored:
        values = {name: stored[name] for name in stored.files}
    return {
        name: {
            path: Part(p["kind"], p["sha256"], p.get("text", values.get(p.get("array", ""))))
            for path, p in record.items()
        }
        for name, record in hashes.items()
    }


class Difference(NamedTuple):
    """What is different about a part, and how far, if it is a matter of rounding."""

    said: str
    far: float = np.inf


def differences(old: Record, new: Record) -> dict[str, Difference]:
    """Each part that is not the same."""
    found = {}
    for path in old | new:
        before, after = old.get(path), new.get(path)
        if before is None:
            found[path] = Difference(f"new: {_described(after)}")
        elif after is None:
            found[path] = Difference(f"gone: {_described(before)}")
        elif before != after:
            found[path] = _difference(before, after)
    return found


def _described(part: Part) -> str:
    return part.values if isinstance(part.values, str) else part.kind


def _difference(old: Part, new: Part) -> Difference:
    a, b = old.values, new.values
    if isinstance(a, str) and isinstance(b, str):
        return Difference(f"was {a!r}, is {b!r}")
    kinds = f"{old.kind} became {new.kind}"
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        content = "other content, too large to be kept"
        return Difference(content if old.kind == new.kind else kinds)
    if a.shape != b.shape:
        return Difference(kinds)
    found = difference_of_arrays(a, b)
    return found if old.kind == new.kind else Difference(f"{kinds}; {found.said}")


def difference_of_arrays(a: np.ndarray, b: np.ndarray) -> Difference:
    """How far two arrays of one shape differ, in the words of `tests/recorder_changes.md`."""
    if a.dtype.kind in "fc" and b.dtype.kind in "fc":
        finite = np.isfinite(a)
        if not np.array_equal(finite, np.isfinite(b)):
            return Difference(f"{_count(finite != np.isfinite(b))} became finite or ceased to be")
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return Difference("other infinities")
        wide = np.result_type(a, b, np.float64)
        a, b = a[finite].astype(wide), b[finite].astype(wide)
        size, far = np.abs(a).max(initial=0.0), np.abs(a - b).max(initial=0.0)
        if far == 0:
            return Difference("values equal, bits not", 0.0)
        relative = float(far / size) if size else np.inf
        return Difference(f"floats within {relative:.1e} relative to the largest", relative)
    which = a != b
    if a.dtype.kind in "iub" and b.dtype.kind in "iub" and a.ndim == 1 and which.any():
        pairs = np.unique(np.column_stack([a, b]), axis=0)
        if len(pairs) == len(np.unique(a)) == len(np.unique(b)):
            return Difference(f"the same groups, numbered otherwise: {_count(which)} differ")
    return Difference(f"{_count(which)} differ")


def _count(which: np.ndarray) -> str:
    return f"{np.count_nonzero(which)} of {np.size(which)}"
