import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vicinal
from vicinal import graphs
from vicinal._core import jit as _jit
from vicinal.cli import warm

# Compiles everything in a process of its own and names the kernels that nothing used.
WARM = """
import importlib, json, sys
from vicinal._core import jit as _jit
from vicinal.cli.warm import run
facts = run(None)
for name in sys.argv[1:]:
    importlib.import_module(name)
inlined = [k for k in _jit.KERNELS if k.targetoptions.get("inline") == "always"]
unused = [k.__name__ for k in _jit.KERNELS if not k.overloads and k not in inlined]
print(json.dumps({**facts, "unused": unused}))
"""


def test_it_says_where_what_it_compiled_is_kept(run, capsys, monkeypatch):
    X = np.random.default_rng(0).random((50, 2))
    monkeypatch.setattr(warm, "calls", lambda: [lambda: graphs.knn(X, 3)])
    assert run("warm", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["compiled"] + facts["already_compiled"] > 0
    used = {k._cache.cache_path for k in _jit.KERNELS} - {None}
    assert {row["folder"] for row in facts["folders"]} == used
    assert any(list(Path(folder).glob("*.nbi")) for folder in used)


@pytest.mark.slow
def test_it_compiles_every_kernel_and_nothing_is_left_for_a_second_process(tmp_path):
    modules = [m.name for m in pkgutil.walk_packages(vicinal.__path__, "vicinal.")]
    kernels = [name for name in modules if name.endswith("_kernels")]
    assert all(map(importlib.import_module, kernels))

    def warmed():
        done = subprocess.run(
            [sys.executable, "-c", WARM, *kernels],
            env={
                **os.environ,
                "NUMBA_CACHE_DIR": str(tmp_path),
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout.splitlines()[-1])

    first = warmed()
    assert first["compiled"] > 0
    assert first["unused"] == []
    assert all(Path(row["folder"]).parent == tmp_path for row in first["folders"])
    assert warmed()["compiled"] == 0
