"""Arrays of a store are complete or absent, local or remote."""

import errno
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from vicinal import graphs, scale
from vicinal.exceptions import InsufficientMemoryError
from vicinal.neighbors import NeighborSearch
from vicinal.scale import Store, _layout

da = pytest.importorskip("dask.array")

VALUES = np.arange(12.0).reshape(6, 2)


@pytest.fixture(params=["local", "remote"])
def store(request, tmp_path):
    if request.param == "local":
        return Store(tmp_path / "store")
    pytest.importorskip("fsspec")
    return Store(f"memory://{tmp_path.name}")


def test_rows_of_a_saved_array_are_read(store):
    store.save("values", VALUES)
    np.testing.assert_array_equal(store.load("values"), VALUES)
    np.testing.assert_array_equal(store.load("values", 2, 5), VALUES[2:5])
    np.testing.assert_array_equal(store.load("values", 4), VALUES[4:])
    store.save("empty", np.empty((0, 3)))
    assert store.load("empty").shape == (0, 3)
    assert store.is_whole("values", "empty")


def test_joined_arrays_follow_each_other(store):
    for i in range(3):
        store.save(f"part-{i}", VALUES[2 * i : 2 * i + 2])
    store.join("values", [f"part-{i}" for i in range(3)])
    np.testing.assert_array_equal(store.load("values"), VALUES)
    assert store.is_whole("values")
    with pytest.raises(ValueError, match="parts is empty"):
        store.join("values", [])


def test_a_pickled_store_is_the_same_folder(store):
    store.save("values", VALUES)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(store)).load("values"), VALUES)


def test_what_is_missing_or_removed_is_not_whole(store):
    assert not store.is_whole("values")
    store.save("values", VALUES)
    store.remove("values", "others")
    assert not store.is_whole("values")
    with pytest.raises(FileNotFoundError):
        store.load("values")


@pytest.mark.parametrize("size", [0, 20, 130, -1])
def test_a_truncated_file_is_not_whole_and_reading_it_names_it(tmp_path, size):
    store = Store(tmp_path)
    store.save("values", VALUES)
    data = (tmp_path / "values.npy").read_bytes()
    (tmp_path / "values.npy").write_bytes(data[:size])
    assert not store.is_whole("values")
    with pytest.raises(ValueError, match=r"values in Store.* is damaged"):
        store.load("values")


def test_a_full_disk_leaves_no_part_of_a_file(tmp_path, monkeypatch):
    def full(path, array):
        path.write_bytes(b"part")
        raise OSError(errno.ENOSPC, "No space left on device")

    store = Store(tmp_path)
    monkeypatch.setattr(np, "save", full)
    with pytest.raises(
        OSError, match=r"values.npy could not be written: No space left.*free some space"
    ):
        store.save("values", VALUES)
    assert list(tmp_path.iterdir()) == []


def read_only(*args, **kwargs):
    raise OSError(errno.EROFS, "Read-only file system")


def test_finished_results_are_read_where_nothing_can_be_written(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 3))
    array = da.from_array(X, chunks=70)
    with scale.config(store=tmp_path, cell_size=60):
        first = graphs.knn(array, 5)
        monkeypatch.setattr(np, "save", read_only)
        monkeypatch.setattr(Path, "write_text", read_only)
        monkeypatch.setattr(Path, "unlink", read_only)
        assert graphs.knn(array, 5) == first
        with pytest.raises(
            OSError, match=r"could not be written: Read-only.*choose a folder in which files"
        ):
            graphs.knn(array, 9)


def test_a_store_on_which_nothing_can_be_written_is_searched(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 3))
    array = da.from_array(X, chunks=90)
    with scale.config(store=tmp_path, cell_size=60):
        NeighborSearch(array)
        assert not list(tmp_path.rglob("cell-*-tree.npy"))
        monkeypatch.setattr(np, "save", read_only)
        found = NeighborSearch(array).nearest(3, X[:20] + 0.1)
    for values, expected in zip(found, NeighborSearch(X).nearest(3, X[:20] + 0.1), strict=True):
        np.testing.assert_array_equal(values, expected)


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"store .*file/store cannot be created"):
        Store(tmp_path / "file" / "store")
    with pytest.raises(TypeError, match="path=3, but the name of a folder or a URL is needed"):
        Store(3)


def test_a_temporary_store_is_deleted_with_its_last_reference():
    inside = Store.temporary().folder({}, "inside")
    inside.save("values", VALUES)
    folder = Path(inside.path)
    assert folder.is_dir()
    del inside
    assert not folder.parent.exists()


def test_work_continues_after_a_full_disk(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 2))
    array = da.from_array(X, chunks=100)
    save, written = np.save, []

    def fill_up(path, values):
        written.append(path)
        if len(written) > 40:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(path, values)

    with scale.config(store=tmp_path, cell_size=50):
        monkeypatch.setattr(np, "save", fill_up)
        with pytest.raises(OSError, match=r"could not be written: No space left.*free some space"):
            graphs.knn(array, 5)
        monkeypatch.setattr(np, "save", save)
        assert graphs.knn(array, 5) == graphs.knn(X, 5)


def test_a_read_only_store_is_an_error(tmp_path, monkeypatch):
    def deny(path, values):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(np, "save", deny)
    with pytest.raises(PermissionError, match=r"x.npy could not be written: Permission denied"):
        scale.Store(tmp_path).save("x", np.zeros(3))


def test_a_cell_that_does_not_fit_into_memory_is_an_error(monkeypatch):
    from vicinal._core import memory

    array = da.from_array(np.random.default_rng(0).normal(size=(900, 2)), chunks=300)
    with scale.config(cell_size=300):
        search = NeighborSearch(array)
        monkeypatch.setattr(memory, "free_memory", lambda: 20_000)
        with pytest.raises(
            InsufficientMemoryError, match=r"Searching a cell of .* points.*cell_size"
        ):
            search.nearest(3)


@pytest.mark.parametrize("damage", ["truncated", "deleted"])
def test_damaged_files_of_a_finished_store_are_computed_again(tmp_path, damage):
    X = np.random.default_rng(0).normal(size=(200, 3))
    expected = graphs.knn(X, 4)
    with scale.config(store=tmp_path, cell_size=50):
        assert graphs.knn(da.from_array(X, chunks=60), 4) == expected
        # One file of each kind.
        files = {re.sub(r"\d+", "", file.name): file for file in sorted(tmp_path.rglob("*.npy"))}
        assert len(files) > 10
        for file in files.values():
            if damage == "deleted":
                file.unlink()
            else:
                file.write_bytes(file.read_bytes()[:-3])
            _layout._load_layout.cache_clear()
            assert graphs.knn(da.from_array(X, chunks=60), 4) == expected
