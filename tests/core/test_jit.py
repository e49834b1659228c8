"""Disk problems never make a call fail: kernels are loaded, rebuilt, stored elsewhere, or not stored."""

import gc
import importlib.util
import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
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
    """A package with two kernels, a home and a folder for temporary files, all empty."""
    for name in ("package", "home", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "package" / "kernels.py").write_text(KERNEL)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(_jit, "KERNELS", [])
    return tmp_path


def call(place, argument=21):
    """Call the kernels as a new process does: the number loaded, the folder used, and the warnings."""
    _jit._warned = False
    spec = importlib.util.spec_from_file_location("kernels", place / "package" / "kernels.py")
    kernels = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spec.loader.exec_module(kernels)
        assert kernels.twice(argument) == 2 * argument
        assert kernels.thrice(argument) == 3 * argument
    hits = sum(kernels.twice._cache_hits.values())
    return hits, kernels.twice._cache.cache_path, [str(w.message) for w in caught]


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


@contextmanager
def full_disk():
    """A limit on the size of files, which fails as a full disk does: not before something is written."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def block(folder):
    """Make a folder impossible to write to, for the superuser too: a file has its name."""
    folder.write_text("")


def test_a_second_process_loads_what_the_first_compiled(place):
    folder = str(place / "package" / "__pycache__")
    assert call(place) == (0, folder, [])
    assert call(place) == (1, folder, [])


NEW_PROCESS = """
import sys
import numpy as np
from kernels import halves

assert halves(np.arange(4.0)).tolist() == [0.0, 0.5, 1.0, 1.5]
print("numba.np.linalg" in sys.modules)

from vicinal._core.jit import jit

@jit
def total(x):
    return halves(x).sum()

assert total(np.arange(4.0)) == 3.0
"""


def test_a_compiled_kernel_is_loaded_without_the_compiler_and_called_by_a_new_one(place):
    (place / "package" / "kernels.py").write_text(
        """
import numpy as np
from vicinal._core.jit import jit

@jit
def halves(x):
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = x[i] / 2
    return out
"""
    )
    folder = str(place / "package")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, *sys.path])}
    process = [sys.executable, "-c", NEW_PROCESS]
    compiled, loaded = (
        subprocess.run(process, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert (compiled.strip(), loaded.strip()) == ("True", "False")


def test_numba_cache_dir_comes_first(place, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(place / "mine"))
    hits, folder, messages = call(place)
    assert (hits, Path(folder).parent, messages) == (0, place / "mine", [])
    assert not (place / "package" / "__pycache__").exists()


def test_without_a_writable_package_the_user_cache_is_used(place):
    block(place / "package" / "__pycache__")
    _, folder, messages = call(place)
    assert place / "home" in Path(folder).parents
    assert messages == []


def test_without_a_writable_home_a_temporary_folder_is_used_with_one_warning(place):
    block(place / "package" / "__pycache__")
    block(place / "home" / ".cache")
    for hits in (0, 1):
        result, folder, messages = call(place)
        assert (result, Path(folder).parents[1]) == (hits, place / "tmp")
    assert messages == []  # loaded: nothing had to be stored
    (mine,) = (place / "tmp").iterdir()
    assert mine.stat().st_mode & 0o077 == 0


def test_the_warning_lists_the_folders_and_the_remedy(place):
    block(place / "package" / "__pycache__")
    block(place / "home" / ".cache")
    (message,) = call(place)[2]
    assert str(place / "package" / "__pycache__") in message
    assert str(place / "home" / ".cache") in message
    assert f"stored in {place / 'tmp'}" in message
    assert "NUMBA_CACHE_DIR" in message
    assert "vicinal warm" in message


def test_without_any_folder_kernels_are_compiled_with_one_warning(place):
    block(place / "package" / "__pycache__")
    block(place / "home" / ".cache")
    block(place / "tmp" / f"vicinal-{os.getuid()}")
    for _ in range(2):
        hits, folder, (message,) = call(place)
        assert (hits, folder) == (0, None)
        assert "compiled again in every process" in message


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="temporary folders of Windows are private")
def test_a_temporary_folder_that_others_can_write_to_is_not_trusted(place):
    block(place / "package" / "__pycache__")
    block(place / "home" / ".cache")
    (place / "tmp" / f"vicinal-{os.getuid()}").mkdir(mode=0o777)
    (place / "tmp" / f"vicinal-{os.getuid()}").chmod(0o777)
    assert call(place)[1] is None


def test_a_full_disk_does_not_raise(place):
    with full_disk():
        _, folder, (message,) = call(place)
    assert folder is None
    assert f"{place / 'package' / '__pycache__'} (File too large)" in message
    assert call(place)[0] == 0
    assert call(place)[0] == 1


def test_cached_code_is_loaded_from_read_only_folders(place):
    folder = call(place)[1]
    with full_disk():
        assert call(place) == (1, folder, [])


@pytest.mark.parametrize("length", [0, 1, 40])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_cache_file_is_rebuilt(kind, length, place):
    folder = call(place)[1]
    for path in Path(folder).glob(f"*.{kind}"):
        path.write_bytes(path.read_bytes()[:length])
    assert call(place) == (0, folder, [])
    assert call(place) == (1, folder, [])


def test_cached_code_of_other_types_is_not_run(place):
    folder = call(place)[1]
    call(place, 1.5)
    first, second = sorted(Path(folder).glob("kernels.twice-*.nbc"))
    first.write_bytes(second.read_bytes())
    assert call(place) == (0, folder, [])


def test_every_kernel_uses_the_shared_decorator():
    root = Path(_jit.__file__).parents[1]
    compiling = {
        p.relative_to(root).as_posix() for p in root.rglob("*.py") if "njit(" in p.read_text()
    }
    assert compiling == {"_core/jit.py"}
