"""A user's type checker sees the real types behind the lazy names."""

import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vicinal

SCRIPT = """\
import numpy as np

import vicinal
from vicinal import Graph, SpectralClustering, graphs
from vicinal.graphs import *
from vicinal.neighbors import NeighborSearch

X = np.zeros((20, 3))
graph = graphs.knn(X, n_neighbors=5)
reveal_type(graph)
reveal_type(graph | graphs.mst(X))
reveal_type(graph.affinity())
reveal_type(graph.n_components)
reveal_type(Graph.from_edges(2, [[0, 1]], lengths=[1.0]))
reveal_type(graphs.l1(X))
reveal_type(perturbed_mst(X))
reveal_type(SpectralClustering(2).fit(X))
reveal_type(vicinal.PerceptualClustering().fit(X).predict(X))
reveal_type(vicinal.contextual_distance(X))
reveal_type(vicinal.path_similarity(X))
reveal_type(NeighborSearch(X).nearest(3))
reveal_type(vicinal.perceive(X))
"""
# In the order of the script; the last part of each name is enough to distinguish the types.
REVEALED = [
    "Graph",
    "Graph",
    "csr_array",
    "int",
    "Graph",
    "Graph",
    "Graph",
    "SpectralClustering",
    "ndarray",
    "tuple[ndarray, ndarray]",
    "PathSimilarity",
    "tuple[ndarray, ndarray]",
    "Perception",
]
PACKAGES = [
    "vicinal",
    *(f"vicinal.{n}" for n in vicinal.__all__ if inspect.ismodule(getattr(vicinal, n))),
]
NAMES = [
    f"{package}.{name}"
    for package in PACKAGES
    for name in importlib.import_module(package).__all__
    if not inspect.ismodule(getattr(importlib.import_module(package), name))
]
# Objects of optional libraries without types: a client of distributed.
UNTYPED = {"vicinal.scale.config": ["client"]}


def shape(revealed):
    """The type in short, without modules and the parameters of arrays."""
    names = re.findall(r"Graph|SpectralClustering|PathSimilarity|Perception", revealed)
    if names:
        return names[0]
    if revealed.startswith(("tuple", "builtins.tuple")):
        return f"tuple[{', '.join(['ndarray'] * revealed.count('ndarray'))}]"
    for name in ("csr_array", "ndarray", "int"):
        if name in revealed:
            return name
    return revealed


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "user_script.py"
    path.write_text(SCRIPT)
    return path


def test_pyright_sees_the_real_types(script):
    pyright = shutil.which("basedpyright", path=str(Path(sys.executable).parent))
    assert pyright, "basedpyright is one of the test dependencies: pip install basedpyright"
    done = subprocess.run([pyright, "--outputjson", str(script)], capture_output=True, text=True)
    notes = json.loads(done.stdout)["generalDiagnostics"]
    revealed = [note["message"] for note in notes if note["severity"] == "information"]
    assert [shape(note.split('" is "')[1]) for note in revealed] == REVEALED, revealed


def test_mypy_sees_the_types_of_every_public_name_and_wrong_keywords(tmp_path, script):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from vicinal import graphs\ngraphs.knn([[0.0]], neighbours=5)\n")
    every = tmp_path / "every.py"
    lines = [f"import {package}" for package in PACKAGES] + [f"reveal_type({n})" for n in NAMES]
    every.write_text("\n".join(lines))
    options = ["--config-file=", "--ignore-missing-imports", "--follow-imports=silent"]
    command = [sys.executable, "-m", "mypy", *options, f"--cache-dir={tmp_path / 'cache'}"]
    files = [str(script), str(wrong), str(every)]
    done = subprocess.run([*command, *files], capture_output=True, text=True)
    result = re.findall(r'user_script.*Revealed type is "(.*)"', done.stdout)
    # scipy ships no types, so mypy knows nothing of its sparse arrays.
    expected = ["Any" if name == "csr_array" else name for name in REVEALED]
    assert [shape(one) for one in result] == expected, done.stdout
    assert 'Unexpected keyword argument "neighbours" for "knn"' in done.stdout
    signatures = re.findall(r'every.*Revealed type is "(.*)"', done.stdout)
    assert len(signatures) == len(NAMES)
    for name, signature in zip(NAMES, signatures, strict=True):
        assert signature.startswith("def "), f"{name}: {signature}"
        assert re.findall(r"(\w+): Any\b", signature) == UNTYPED.get(name, []), name
