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

# Used only for very many points, many duplicates, or values over many orders of magnitude.
RARE = {
    "_brute_kernels.recheck",
    "_brute_kernels.sort_lists",
    "_nearest_foreign_kernels.search_rows",
    "_coding_kernels.literal_lengths",
    "_coding_kernels._logdet_of_rows",
    "_contextual_kernels.coding_length_literal",
    "_code_kernels.correlate",
    "_code_kernels.extrapolate",
    "_matmul_kernels.rows_times_vector",
    "_matmul_kernels.hops_from",
    "_kmeans_kernels.move_sparse_rows",
    "_duplicate_kernels.row_sizes",
    "_duplicate_kernels.fill_rows",
}
# Compiles everything in a new process and lists the kernels that were not used.
WARM = """
import importlib, json, sys
from vicinal._core import jit as _jit
from vicinal.cli.warm import run
facts = run(None)
for name in sys.argv[1:]:
    importlib.import_module(name)
inlined = [k for k in _jit.KERNELS if k.targetoptions.get("inline") == "always"]
unused = [k for k in _jit.KERNELS if not k.overloads and k not in inlined]
unused = [f"{k.py_func.__module__.rpartition('.')[2]}.{k.__name__}" for k in unused]
print(json.dumps({**facts, "unused": unused}))
"""


def test_warm_reports_the_cache_folders(run, capsys, monkeypatch):
    X = np.random.default_rng(0).random((50, 2))
    monkeypatch.setattr(warm, "calls", lambda: [lambda: graphs.knn(X, 3)])
    assert run("warm", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["compiled"] + facts["already_compiled"] > 0
    used = {k.stats.cache_path for k in _jit.KERNELS if k.signatures} - {None}
    assert {row["folder"] for row in facts["folders"]} == used
    assert any(list(Path(folder).glob("*.nbi")) for folder in used)


@pytest.mark.slow
def test_warm_compiles_all_but_rare_kernels_so_that_a_second_process_compiles_none(tmp_path):
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
    assert set(first["unused"]) <= RARE
    assert all(Path(row["folder"]).parent == tmp_path for row in first["folders"])
    assert warmed()["compiled"] == 0
