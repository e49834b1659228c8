"""Real data is read from a folder, and an error says which file it lacks."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.neighbors import KNeighborsClassifier

from studies import loaders

FOLDER = os.environ.get("VICINAL_DATA")
with_data = pytest.mark.skipif(FOLDER is None, reason="VICINAL_DATA names no folder of real data")


def one_nearest(X, y):
    """Fraction of points whose nearest other point is of their class."""
    model = KNeighborsClassifier(1).fit(X, y)
    others = model.kneighbors(X, 2)[1]
    nearest = np.where(others[:, 0] == np.arange(len(X)), others[:, 1], others[:, 0])
    return np.mean(y[nearest] == y)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "glass.csv").write_text("a,b,class\n1,2.5,0\n3,,1\n")
    images = rng.integers(0, 256, (6, 28, 28), dtype=np.uint8)
    np.savez(tmp_path / "mnist_test.npz", X=images, y=np.arange(6))
    np.savez(tmp_path / "orl_faces.npz", X=images[:, :8], y=np.arange(6) // 2)
    distances = pdist(rng.random((4, 2)))
    distances[0] = -1e-3
    np.savez(
        tmp_path / "mpeg7_dist.npz", sc=distances, idsc=distances, hf=distances, labels=[0, 0, 1, 1]
    )
    np.savez(tmp_path / "shapes2d.npz", **{"x/ring": rng.random((5, 2)), "x/ring.labels0": [1] * 5})
    return tmp_path


def test_files_of_the_folder_are_read(folder):
    X, y = loaders.load_uci_table("glass", folder)
    np.testing.assert_array_equal(X, [[1, 2.5], [3, np.nan]])
    assert y.tolist() == [0, 1]
    images, digits = loaders.load_mnist(folder)
    assert images.shape == (6, 28, 28)
    assert images.max() <= 1
    assert digits.tolist() == [*range(6)]
    assert loaders.load_orl_faces(folder)[0].shape == (6, 8, 28)
    shapes = loaders.load_mpeg7_distances(folder)
    assert shapes.distances["hf"].shape == (4, 4)
    assert shapes.masks is None
    assert shapes.distances["sc"].min() == 0
    X, y = loaders.load_plane_shapes("ring", folder)
    assert X.shape == (5, 2)
    assert y.tolist() == [1] * 5


def test_the_environment_names_a_folder_for_all(folder, monkeypatch):
    monkeypatch.setenv("VICINAL_DATA", str(folder))
    assert len(loaders.load_mnist()[0]) == 6
    assert len(loaders.load_uci_table("glass")[0]) == 2


def test_a_photograph_comes_with_its_maps(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    Image.fromarray(np.full((6, 9, 3), 128, np.uint8)).save(file, format="jpeg")
    np.savez(
        tmp_path / "bsds_half.npz",
        ids=["7"],
        jpg_7=np.frombuffer(file.getvalue(), np.uint8),
        seg_7=np.zeros((2, 6, 9), np.int64),
    )
    (photograph,) = loaders.load_berkeley_photographs(tmp_path)
    assert photograph.colors.shape == (6, 9, 3)
    assert photograph.maps.shape == (2, 6, 9)


@pytest.mark.parametrize(
    "load",
    [
        lambda folder: loaders.load_uci_table("soybean", folder),
        lambda folder: loaders.load_plane_shapes("ring", folder),
        loaders.load_mnist,
        loaders.load_orl_faces,
        loaders.load_mpeg7_distances,
        loaders.load_berkeley_photographs,
    ],
)
def test_errors_name_the_missing_file_and_the_folder(load, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=rf"{tmp_path} does not contain \w+\.(npz|csv) \("):
        load(tmp_path)
    monkeypatch.delenv("VICINAL_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="set VICINAL_DATA"):
        load(None)


@with_data
@pytest.mark.parametrize(
    ("name", "shape", "n_classes", "rate"),
    [
        ("breast_tissue", (106, 9), 6, 67.9),
        ("wine", (178, 13), 3, 95.5),
        ("glass", (214, 9), 6, 70.1),
        ("soybean", (307, 35), 19, 88.6),
        ("vehicle", (846, 18), 4, 70.4),
        ("image_segmentation", (2100, 19), 7, 96.0),
    ],
)
def test_tables_are_those_of_the_paper(name, shape, n_classes, rate):
    X, y = loaders.load_uci_table(name, Path(FOLDER))
    assert X.shape == shape
    assert len(np.unique(y)) == n_classes
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    assert 100 * one_nearest(X, y) == pytest.approx(rate, abs=0.5)


@with_data
def test_images_and_shapes_are_those_of_the_papers():
    folder = Path(FOLDER)
    faces, persons = loaders.load_orl_faces(folder)
    assert 100 * one_nearest(faces.reshape(400, -1), persons) == pytest.approx(97.5, abs=0.3)
    assert np.bincount(loaders.load_mnist(folder)[1])[1:4].tolist() == [1135, 1032, 1010]
    shapes = loaders.load_mpeg7_distances(folder)
    assert np.bincount(shapes.classes - shapes.classes.min()).tolist() == [20] * 70
    assert shapes.masks is not None
    assert shapes.masks.shape == (1400, 64, 64)
    assert len(loaders.load_berkeley_photographs(folder, 2)) == 2
