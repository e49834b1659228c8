"""Arrays of a store are complete or absent, local or remote."""

import errno
import pickle
import re
import shutil
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


def refuse_writing(monkeypatch, error, n_before=0):
    """The store's files can be opened for writing only so many times."""
    opened, written = Path.open, []

    def refuse(path, mode="r", *args, **kwargs):
        file = opened(path, mode, *args, **kwargs)
        if mode == "wb":
            written.append(path)
            if len(written) > n_before:
                file.write(b"part")
                file.close()
                raise error
        return file

    monkeypatch.setattr(Path, "open", refuse)


FULL = OSError(errno.ENOSPC, "No space left on device")
READ_ONLY = OSError(errno.EROFS, "Read-only file system")


def test_a_full_disk_leaves_no_part_of_a_file(tmp_path, monkeypatch):
    store = Store(tmp_path)
    refuse_writing(monkeypatch, FULL)
    with pytest.raises(
        OSError, match=r"values.npy could not be written: No space left.*free some space"
    ):
        store.save("values", VALUES)
    assert list(tmp_path.iterdir()) == []


def read_only(*args, **kwargs):
    raise READ_ONLY


def test_finished_results_are_read_where_nothing_can_be_written(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 3))
    array = da.from_array(X, chunks=70)
    with scale.config(store=tmp_path, cell_size=60):
        first = graphs.knn(array, 5)
        refuse_writing(monkeypatch, READ_ONLY)
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
        refuse_writing(monkeypatch, READ_ONLY)
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
    with scale.config(store=tmp_path, cell_size=50):
        refuse_writing(monkeypatch, FULL, n_before=40)
        with pytest.raises(OSError, match=r"could not be written: No space left.*free some space"):
            graphs.knn(array, 5)
        monkeypatch.undo()
        assert graphs.knn(array, 5) == graphs.knn(X, 5)


def test_a_read_only_store_is_an_error(tmp_path, monkeypatch):
    refuse_writing(monkeypatch, PermissionError(errno.EACCES, "Permission denied"))
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


def truncated(file):
    file.write_bytes(file.read_bytes()[:-3])


def zeroed(file):
    """As after a power loss: the size is known, the values are not."""
    content = file.read_bytes()
    file.write_bytes(content[:128] + bytes(len(content) - 128))


def one_bit_flipped(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)


def with_objects(file):
    """A header that takes the values for addresses of objects."""
    content = file.read_bytes()
    file.write_bytes(re.sub(rb"'[<|]\w+'", b"'|O8'", content, count=1))


@pytest.mark.parametrize(
    "damage",
    [Path.unlink, truncated, zeroed, one_bit_flipped, with_objects],
    ids=lambda f: f.__name__,
)
def test_damaged_files_of_a_finished_store_are_computed_again(tmp_path, damage):
    X = np.random.default_rng(0).normal(size=(200, 3))
    expected = graphs.knn(X, 4)
    with scale.config(store=tmp_path, cell_size=50):
        assert graphs.knn(da.from_array(X, chunks=60), 4) == expected
        # One file of each kind.
        files = {re.sub(r"\d+", "", file.name): file for file in sorted(tmp_path.rglob("*.npy"))}
        assert len(files) > 10
        for file in files.values():
            damage(file)
            _layout._load_layout.cache_clear()
            assert graphs.knn(da.from_array(X, chunks=60), 4) == expected


@pytest.mark.parametrize("damage", [zeroed, one_bit_flipped, with_objects])
def test_a_damaged_array_is_never_read(tmp_path, damage):
    store = Store(tmp_path)
    store.save("values", np.arange(100.0))
    damage(tmp_path / "values.npy")
    assert not store.is_whole("values")
    with pytest.raises(ValueError, match=r"values in Store.* is damaged"):
        store.load("values", 1, 2)


@pytest.mark.parametrize("values", [np.array(["a"]), np.array([None]), np.array(["NaT"], "M8[s]")])
def test_only_numbers_are_stored(store, values):
    with pytest.raises(TypeError, match=r"values has dtype .*, but numbers are needed"):
        store.save("values", values)


@pytest.mark.parametrize(
    "name", ["cell-000001-rows", "cell-000001-lists-4-rows", "cell-000001-tree"]
)
@pytest.mark.parametrize("row", [-2, 10**6])
def test_rows_that_do_not_exist_are_refused_before_kernels_see_them(tmp_path, name, row):
    X = np.random.default_rng(0).normal(size=(200, 3))
    array = da.from_array(X, chunks=60)
    with scale.config(store=tmp_path, cell_size=50):
        graphs.knn(array, 4)
        (file,) = tmp_path.rglob(f"{name}.npy")
        store = Store(file.parent)
        wrong = np.array(store.load(name))
        wrong.flat[0] = row
        store.save(name, wrong)
        _layout._RECENT._kept.clear()
        with pytest.raises(ValueError, match=rf"{name} in Store.* names rows that do not exist"):
            graphs.mst(array) if name.endswith("tree") else graphs.knn(array, 4)


def test_files_of_another_format_are_left_alone_and_computed_anew(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 3))
    with scale.config(store=tmp_path, cell_size=50):
        graphs.knn(da.from_array(X, chunks=60), 4)
        files = {path: path.read_bytes() for path in tmp_path.rglob("*.npy")}
        monkeypatch.setattr("vicinal.scale.stored_points.FORMAT", 99)
        assert graphs.knn(da.from_array(X, chunks=60), 4) == graphs.knn(X, 4)
    assert len(list(tmp_path.iterdir())) == 2
    assert all(path.read_bytes() == content for path, content in files.items())


def test_a_store_that_is_deleted_while_it_is_used_says_what_to_do(store):
    store.save("values", VALUES)
    store.delete()
    with pytest.raises(FileNotFoundError, match=r"Store.* is missing.*values.npy. Run again"):
        store.load("values")


def test_a_folder_that_is_deleted_during_the_run_says_what_to_do(tmp_path):
    folder, n_read = tmp_path / "store", []

    def read(block):
        n_read.append(1)
        if len(n_read) == 10:
            shutil.rmtree(folder)
        return block

    X = da.from_array(np.random.default_rng(0).normal(size=(3000, 3)), chunks=(700, 3))
    array = X.map_blocks(read, dtype=float, meta=np.empty((0, 3)))
    with (
        scale.config(store=folder, cell_size=300),
        pytest.raises(FileNotFoundError, match=r"Store.* is missing.* Run again"),
    ):
        graphs.knn(array, 5, n_jobs=1)
