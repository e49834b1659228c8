"""Rows of .npy files are read chunk by chunk."""

import numpy as np
import pytest

from vicinal import scale

da = pytest.importorskip("dask.array")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("chunk_rows", [None, 1, 7, 100])
def test_rows_are_those_of_the_file(tmp_path, order, chunk_rows):
    values = np.asarray(np.random.default_rng(0).normal(size=(20, 3)), order=order)
    np.save(tmp_path / "X.npy", values)
    X = scale.read_npy(tmp_path / "X.npy", chunk_rows)
    assert X.chunks[0][0] == min(20, chunk_rows or 20)
    assert X.dtype == values.dtype
    np.testing.assert_array_equal(X.compute(), values)


def test_no_chunk_holds_the_whole_file(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((1000, 50)))
    X = scale.read_npy(tmp_path / "X.npy", 100)
    arrays = [getattr(node, "value", node) for node in dict(X.dask).values()]
    assert not any(isinstance(value, np.ndarray) for value in arrays)


def test_what_is_not_an_array_of_rows_is_rejected(tmp_path, monkeypatch):
    with pytest.raises(TypeError, match=r"path=3, but the name of an \.npy file is needed"):
        scale.read_npy(3)
    with pytest.raises(FileNotFoundError, match=r"missing\.npy' does not exist"):
        scale.read_npy(tmp_path / "missing.npy")
    with pytest.raises(FileNotFoundError, match="is a folder"):
        scale.read_npy(tmp_path)
    (tmp_path / "text.npy").write_text("text")
    with pytest.raises(ValueError, match=r"cannot read .*text.npy"):
        scale.read_npy(tmp_path / "text.npy")
    np.save(tmp_path / "number.npy", 3.0)
    with pytest.raises(ValueError, match="an array with one row per point"):
        scale.read_npy(tmp_path / "number.npy")
    np.save(tmp_path / "X.npy", np.zeros((3, 2)))
    with pytest.raises(ValueError, match="chunk_rows=0"):
        scale.read_npy(tmp_path / "X.npy", 0)
    monkeypatch.chdir(tmp_path)
    assert scale.read_npy("X.npy").shape == (3, 2)
