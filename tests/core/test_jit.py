"""Kernels are loaded from numba's cache, and work without one."""

import gc
import importlib.util
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import pytest

from vicinal._core import jit as _jit

KERNEL = """
from vicinal._core.jit import jit

@jit
def twice(x):
    return 2 * x

@jit(allocates=False)
def thrice(x):
    return 3 * x
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A package with two kernels and a home, both without compiled code."""
    for name in ("package", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "package" / "kernels.py").write_text(KERNEL)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(_jit, "KERNELS", [])
    return tmp_path


def call(place):
    """Call the kernels as a new process does: the number loaded, the folder used, and the warnings."""
    _jit._warn_once.cache_clear()
    spec = importlib.util.spec_from_file_location("kernels", place / "package" / "kernels.py")
    kernels = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spec.loader.exec_module(kernels)
        assert kernels.twice(21) == 42
        assert kernels.thrice(21) == 63
    stats = kernels.twice.stats
    return sum(stats.cache_hits.values()), stats.cache_path, [str(w.message) for w in caught]


def block(folder):
    """Make a folder impossible to write to, for the superuser too: a file has its name."""
    folder.write_text("")


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_garbage_collector_is_as_before_after_compiling(is_enabled):
    @_jit.jit
    def inner(x):
        return x + gc_probe(x)

    @_jit.jit
    def gc_probe(x):
        return x * 2

    @_jit.jit
    def fails(x):
        return x.missing

    was_enabled = gc.isenabled()
    (gc.enable if is_enabled else gc.disable)()
    try:
        assert inner(2) == 6
        assert gc.isenabled() == is_enabled
        with pytest.raises(numba.TypingError):
            fails(2)
        assert gc.isenabled() == is_enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_a_second_process_loads_what_the_first_compiled(place):
    folder = str(place / "package" / "__pycache__")
    assert call(place) == (0, folder, [])
    assert call(place) == (1, folder, [])


def test_another_version_does_not_load_it(place, monkeypatch):
    call(place)
    monkeypatch.setattr(_jit, "__version__", "99.0")
    assert call(place)[0] == 0
    assert call(place)[0] == 1


def test_numba_cache_dir_comes_first(place, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(place / "mine"))
    hits, folder, messages = call(place)
    assert (hits, Path(folder).parent, messages) == (0, place / "mine", [])
    assert not (place / "package" / "__pycache__").exists()


def test_without_a_writable_package_the_user_cache_is_used(place):
    block(place / "package" / "__pycache__")
    for hits in (0, 1):
        result, folder, messages = call(place)
        assert (result, messages) == (hits, [])
        assert place / "home" in Path(folder).parents


def test_without_any_folder_kernels_are_compiled_with_one_warning_that_names_the_remedy(place):
    block(place / "package" / "__pycache__")
    block(place / "home" / ".cache")
    for _ in range(2):
        hits, folder, (message,) = call(place)
        assert (hits, folder) == (0, None)
        assert "compiled again in every process" in message
        assert "NUMBA_CACHE_DIR" in message
        assert "vicinal warm" in message


TREE = """
import numpy as np
from vicinal import graphs
print(graphs.mst(np.random.default_rng(0).random((20, 2))).lengths.data.tobytes().hex())
"""


def test_a_tree_is_the_same_without_compilation():
    def run(**variables):
        done = subprocess.run(
            [sys.executable, "-c", TREE],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert run(NUMBA_DISABLE_JIT="1") == run()


def test_every_kernel_uses_the_shared_decorator():
    root = Path(_jit.__file__).parents[1]
    compiling = {
        p.relative_to(root).as_posix() for p in root.rglob("*.py") if "njit(" in p.read_text()
    }
    assert compiling == {"_core/jit.py"}
