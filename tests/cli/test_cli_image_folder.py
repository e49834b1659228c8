"""Folders of images: any bit depth, and unreadable folders."""

import os

import numpy as np
import pytest

image = pytest.importorskip("PIL.Image")

from vicinal.cli.image_folder import load_images, read_images  # noqa: E402

RAMP = np.linspace(0, 1, 40).reshape(5, 8)


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.pgm"])
def test_16_bit_levels_are_rescaled_to_8_bits_not_clipped(name, tmp_path):
    image.fromarray(np.round(RAMP * 65535).astype(np.uint16)).save(tmp_path / name)
    pixels, _ = load_images([tmp_path / name])
    np.testing.assert_allclose(pixels[0], RAMP * 255, atol=0.51)


@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_float_images_are_rescaled_together(kind, tmp_path):
    image.fromarray((RAMP * 100_000).astype(kind)).save(tmp_path / "bright.tif")
    image.fromarray((RAMP * 50_000).astype(kind)).save(tmp_path / "dim.tif")
    pixels, notes = load_images([tmp_path / "bright.tif", tmp_path / "dim.tif"])
    np.testing.assert_allclose(pixels[0], RAMP * 255, atol=0.51)
    np.testing.assert_allclose(pixels[1], RAMP * 127.5, atol=0.51)
    assert "levels of 2 of them were rescaled from 0..100000 to 0..255" in notes


def test_float_images_are_downscaled(tmp_path):
    image.fromarray(np.kron(RAMP, np.ones((20, 20), np.float32)).astype(np.float32)).save(
        tmp_path / "large.tif"
    )
    pixels, _ = load_images([tmp_path / "large.tif"])
    assert pixels.shape == (1, 40, 64)
    np.testing.assert_allclose(pixels[0, ::8, ::8], RAMP * 255, atol=1.0)


def test_missing_and_constant_levels_of_float_images_are_black(tmp_path):
    values = np.zeros((5, 8), np.float32)
    values[2, 3] = np.nan
    image.fromarray(values).save(tmp_path / "a.tif")
    assert load_images([tmp_path / "a.tif"])[0].max() == 0


def test_an_error_names_an_unreadable_folder(tmp_path, error_of, monkeypatch):
    (tmp_path / "closed").mkdir()
    image.new("L", (4, 4)).save(tmp_path / "a.png")
    listed = os.scandir

    def scandir(path="."):
        if os.path.basename(path) == "closed":
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return listed(path)

    # Tests may run as root, who can read every folder.
    monkeypatch.setattr(os, "scandir", scandir)
    for folder in (tmp_path, tmp_path / "closed"):
        message = error_of("graph", folder)
        assert f"cannot read the folder {tmp_path / 'closed'}; change its permissions" in message


def test_an_error_names_an_unreadable_image(tmp_path, error_of, monkeypatch):
    image.new("L", (4, 4)).save(tmp_path / "a.png")

    def closed(path, *arguments):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(image, "open", closed)
    assert f"{tmp_path / 'a.png'}: Permission denied; change" in error_of("graph", tmp_path)
    args = ["segment", tmp_path / "a.png", "-n", 2, "-o", tmp_path / "b.png"]
    assert f"{tmp_path / 'a.png'}: Permission denied; change" in error_of(*args)


def test_folders_named_like_images_are_ignored(tmp_path):
    (tmp_path / "b.png").mkdir()
    image.new("L", (4, 3), 7).save(tmp_path / "b.png" / "a.png")
    assert read_images(tmp_path).ids.tolist() == [os.path.join("b.png", "a.png")]
