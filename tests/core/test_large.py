"""Large arrays are in files where memory is limited; their values and their life do not depend on it."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest

from vicinal._core import memory
from vicinal._core.large import forget, large
from vicinal.exceptions import InsufficientMemoryError
from vicinal.scale import config

LIMIT = 10**8


def open_files(folder):
    """Files of this process in a folder, with or without a name."""
    links = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if
             Path(f"/proc/self/fd/{fd}").is_symlink()]  # fmt: skip
    return [link for link in links if link.startswith(str(folder))]


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


@pytest.mark.parametrize("shape", [10**6, (10**5, 10)])
def test_values_outlive_the_limit_and_forgotten_pages(shape, tmp_path):
    expected = np.arange(10**6, dtype=np.float32).reshape(shape)
    with config(memory=LIMIT, store=tmp_path):
        array = large(shape, np.float32)
        array[...] = expected
        forget(array)
        assert (array == expected).all()
    forget(array, array[5:], np.ones(3))
    assert (array == expected).all()
    assert type(array) is np.ndarray
    assert array.flags.c_contiguous


@needs_proc
def test_files_end_with_their_arrays(tmp_path):
    with config(memory=LIMIT, store=tmp_path):
        arrays = [large(10**6, np.int32) for _ in range(3)]
        small = large(1000, np.int32)
        assert len(open_files(tmp_path)) == 3
    assert not list(tmp_path.iterdir())  # they have no names
    del arrays
    gc.collect()
    assert not open_files(tmp_path)
    assert small.base is None


@needs_proc
def test_without_a_limit_arrays_are_in_memory(tmp_path):
    with config(memory=LIMIT, store=tmp_path):
        pass
    assert large(10**6, np.int32).base is None


def test_a_full_disk_is_an_error_that_names_the_folder(tmp_path):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with config(memory=LIMIT, store=tmp_path):
        resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, before[1]))
        try:
            with pytest.raises(InsufficientMemoryError, match=str(tmp_path)):
                large(10**6, np.int64)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_checks_of_memory_look_at_the_limit_and_for_large_arrays_at_the_disk(tmp_path, monkeypatch):
    from shutil import disk_usage

    with config(memory=LIMIT, store=tmp_path):
        assert memory.free_memory() <= LIMIT
        with pytest.raises(InsufficientMemoryError, match=r"0\.1 GiB of memory are free"):
            memory.require_memory(3e8, "The matrix", "Use fewer points.")
        memory.require_memory(3e8, "The graph", "Use fewer neighbours.", in_files=True)
        monkeypatch.setattr(
            memory.shutil, "disk_usage", lambda folder: disk_usage(folder)._replace(free=2**30)
        )
        with pytest.raises(
            InsufficientMemoryError, match=r"The graph needs about 3.7 GiB, but 1.0 GiB are free in"
        ):
            memory.require_memory(4e9, "The graph", "Use fewer neighbours.", in_files=True)
    with pytest.raises(InsufficientMemoryError, match="GiB of memory are free"):
        memory.require_memory(1e18, "The graph", "Use fewer neighbours.", in_files=True)
