"""Large arrays in files have the values of arrays in memory, and their pages leave memory."""

import gc
import os
import resource
import sys

import numpy as np
import pytest
from scipy import sparse

from vicinal._core import file_arrays, memory
from vicinal._core.file_arrays import large_arrays_in_files
from vicinal.exceptions import InsufficientMemoryError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
LIMIT = 2 * 10**8


def handler_of(array):
    return file_arrays._core().multiarray.get_handler_name(array)


def open_files(folder):
    links = (f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd"))
    return [link for link in links if os.path.realpath(link).startswith(str(folder))]


def mapped_bytes():
    """Bytes of mapped arrays of all blocks that exist."""
    from vicinal._core._allocation_kernels import TABLE

    tables = (state[TABLE:] for _, state in file_arrays._HANDLERS)
    return sum(
        length
        for table in tables
        for address, length in zip(table[::2], table[1::2], strict=True)
        if address
    )


def test_large_arrays_are_in_a_file_and_small_ones_are_not(tmp_path):
    before = mapped_bytes()
    with large_arrays_in_files(tmp_path, LIMIT):
        small, large = np.arange(1000), np.arange(1_000_000)
        assert mapped_bytes() - before == -(-(large.nbytes + 64) // 4096) * 4096
        assert list(tmp_path.iterdir()) == []  # the file has no name
        zeros = np.zeros(1_000_000)
        assert not zeros.any()
        zeros[:] = 1.0
        del zeros
        # A range of the file that was used before is not used again.
        assert not np.zeros(1_000_000).any()
    np.testing.assert_array_equal(large, np.arange(1_000_000))
    np.testing.assert_array_equal(small, np.arange(1000))
    assert handler_of(np.arange(1_000_000)) == "default_allocator"
    assert open_files(tmp_path)
    del large
    assert not open_files(tmp_path)
    assert mapped_bytes() == before


def test_resident_memory_stays_near_the_limit(tmp_path):
    resident, _ = file_arrays._resident_bytes()
    with large_arrays_in_files(tmp_path, 10**8):
        array = np.empty(4 * 10**7)
        for a in range(0, len(array), 10**6):
            array[a : a + 10**6] = np.arange(a, a + 10**6)
            assert file_arrays._resident_bytes()[0] - resident < LIMIT
        assert float(array.sum()) == 4 * 10**7 * (4 * 10**7 - 1) / 2
    np.testing.assert_array_equal(array[:: 10**6], np.arange(0, 4 * 10**7, 10**6))


def test_arrays_may_grow_and_shrink_across_the_threshold(tmp_path):
    with large_arrays_in_files(tmp_path, LIMIT):
        array = np.arange(100)
        for size in (200, 10**6, 2 * 10**6, 10**6, 100, 50):
            array.resize(size, refcheck=False)
            np.testing.assert_array_equal(array[: min(size, 50)], np.arange(min(size, 50)))


def test_results_of_libraries_are_the_same_in_files(tmp_path):
    random = sparse.random(10_000, 10_000, density=1e-3, random_state=0, format="csr")
    matrix = sparse.csr_array(random)
    expected = matrix @ matrix
    with large_arrays_in_files(tmp_path, 10**8):
        product = matrix @ matrix
        assert handler_of(product.data.base) == "vicinal files"
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(product, name), getattr(expected, name))


def test_a_full_disk_is_an_error_and_not_the_end_of_the_process(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with large_arrays_in_files(tmp_path, LIMIT):
        resource.setrlimit(resource.RLIMIT_FSIZE, (10**7, hard))
        try:
            with pytest.raises(MemoryError):
                np.empty(10**8)
            array = np.ones(10**6)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert array.sum() == 10**6


def test_many_large_arrays_share_one_file(tmp_path):
    with large_arrays_in_files(tmp_path, 10**6):
        arrays = [np.empty(4000, np.int64) for i in range(1100)]  # more than there are slots
        for i, array in enumerate(arrays):
            array[::512] = i
        assert len(open_files(tmp_path)) == 1
    assert all((array[::512] == i).all() for i, array in enumerate(arrays))
    del arrays
    gc.collect()
    assert not open_files(tmp_path)


def test_checks_of_memory_look_at_the_disk(tmp_path, monkeypatch):
    from shutil import disk_usage

    with large_arrays_in_files(tmp_path, 10**8):
        memory.require_memory(3e8, "The graph", "Use fewer neighbours.")
        assert memory.free_memory() <= 10**8
        monkeypatch.setattr(
            memory.shutil, "disk_usage", lambda folder: disk_usage(folder)._replace(free=2**30)
        )
        with pytest.raises(
            InsufficientMemoryError, match=r"The graph needs about 3.7 GiB, but 1.0 GiB are free in"
        ):
            memory.require_memory(4e9, "The graph", "Use fewer neighbours.")
    with pytest.raises(InsufficientMemoryError, match="GiB of memory are free"):
        memory.require_memory(1e18, "The graph", "Use fewer neighbours.")


def test_errors_within_a_block_restore_the_allocator(tmp_path):
    with large_arrays_in_files(tmp_path, LIMIT):
        kept = np.ones(10**6)
        with pytest.raises(ZeroDivisionError), large_arrays_in_files(tmp_path, LIMIT):
            raise ZeroDivisionError
        assert handler_of(np.empty(10**6)) == "vicinal files"
    assert handler_of(np.empty(10**6)) == "default_allocator"
    assert file_arrays.current_limit() is None
    assert kept.sum() == 10**6


def test_other_systems_get_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "darwin")
    with (
        pytest.raises(ValueError, match=r"on Linux only, and this is darwin; remove the limit"),
        large_arrays_in_files(tmp_path, LIMIT),
    ):
        pass
