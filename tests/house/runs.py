"""The measures of the house that need a run: modules entered, and how often counted functions are called.

``python -m tests.house.runs`` prints them as JSON. They are counted in a process of their own, with one
thread, so that they are the same on every machine and do not depend on what other tests have imported.
"""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
import threading
import types
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

THREE, AUTOMATIC, PERCEIVE = (
    "SpectralClustering(3).fit",
    "SpectralClustering().fit",
    "perceive of 150 rows",
)
# What is counted, the functions that do it, and the runs in which each of them must be called.
COUNTED = {
    "k-d trees": (["vicinal.neighbors._kdtree.build_kdtree"], [AUTOMATIC, PERCEIVE]),
    "check_points": (["vicinal._core.array_checks.check_points"], [PERCEIVE]),
    "perceptual clusterings": (
        ["vicinal.cluster.perceptual.PerceptualClustering._cluster"],
        [PERCEIVE],
    ),
    "k-subspaces": (["vicinal.cluster.subspaces.k_subspaces"], [PERCEIVE]),
}


class StaleRegistryError(Exception):
    """A function in `COUNTED` is gone, or is no longer the one that is called."""


def runs() -> dict[str, Callable[[], Any]]:
    from sklearn.datasets import load_iris, make_blobs

    import vicinal

    X, _ = make_blobs(400, n_features=4, centers=3, random_state=0)
    table = load_iris(as_frame=True).data
    return {
        THREE: lambda: vicinal.SpectralClustering(3, random_state=0, n_jobs=1).fit(X),
        AUTOMATIC: lambda: vicinal.SpectralClustering(random_state=0, n_jobs=1).fit(X),
        PERCEIVE: lambda: vicinal.perceive(table, n_jobs=1),
    }


def measures() -> dict[str, int]:
    """Every measure of a run, and the size of the public face."""
    counted = {
        what: ([code_of(name) for name in names], where) for what, (names, where) in COUNTED.items()
    }
    found = {}
    for title, call in runs().items():
        call()  # the first call also imports and compiles
        modules, calls = profile(call)
        found[f"modules entered by {title}"] = len(modules)
        for what, (codes, where) in counted.items():
            if title in where:
                found[f"{what} in {title}"] = count(calls, codes, f"{what} in {title}")
    return found | public_face()


def code_of(name: str) -> types.CodeType:
    """The code of a function or method, without its decorators, from its full name."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            thing = getattr(thing, part, None)
        code = getattr(inspect.unwrap(thing), "__code__", None) if callable(thing) else None
        if isinstance(code, types.CodeType):
            return code
    raise StaleRegistryError(
        f"{name} is counted, but is no function: name what does its work now in COUNTED of {__file__}."
    )


def profile(
    call: Callable[[], Any], package: str = "vicinal"
) -> tuple[set[str], Counter[types.CodeType]]:
    """Modules of the package that a call enters, in all threads, and how often each code runs."""
    entered: list[tuple[str, types.CodeType]] = []

    def look(frame: types.FrameType, event: str, _: object) -> None:
        if event == "call":
            module = frame.f_globals.get("__name__", "")
            if module.partition(".")[0] == package:
                entered.append((module, frame.f_code))  # atomic, unlike adding to a counter

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {module for module, _ in entered}, Counter(code for _, code in entered)


def count(calls: Mapping[types.CodeType, int], codes: Sequence[types.CodeType], what: str) -> int:
    """How often any of the functions was called; each must have been."""
    for code in codes:
        if not calls.get(code):
            raise StaleRegistryError(
                f"{code.co_qualname} is counted as {what}, but was never called: "
                f"name what does its work now in COUNTED of {__file__}."
            )
    return sum(calls[code] for code in codes)


def public_face() -> dict[str, int]:
    """Functions and classes that users call, and their parameters; errors and results are not called."""
    import vicinal

    packages = [vicinal, *filter(inspect.ismodule, _listed(vicinal))]
    things = {
        thing
        for package in packages
        for thing in _listed(package)
        if callable(thing)
        and getattr(thing, "__module__", "").startswith("vicinal")
        and not (inspect.isclass(thing) and issubclass(thing, (BaseException, tuple)))
    }
    parameters = [
        name
        for thing in things
        for name in inspect.signature(thing).parameters
        if name not in ("self", "args", "kwargs")
    ]
    return {
        "public functions and classes": len(things),
        "parameters of public functions and classes": len(parameters),
    }


def _listed(package: types.ModuleType) -> list[Any]:
    return [getattr(package, name) for name in dir(package) if not name.startswith("_")]


def measures_of_a_process(root: Path) -> dict[str, int]:
    """`measures` in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.house.runs"], cwd=root, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"The measured calls failed:\n{done.stderr}")
    measured: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return measured


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measures()))
