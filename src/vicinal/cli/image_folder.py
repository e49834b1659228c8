"""Folders of images as tables of grey levels, one row per image."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.foreign_files import reading
from vicinal._core.tables import RawTable
from vicinal.exceptions import InvalidValueError, MissingDependencyError

FORMATS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
# Modes and formats with 16 bits that Pillow reads as 32 bits.
MODES_16_BIT = {("I", "PNG"), ("I", "PPM")}
# Larger images are downscaled: similarity does not depend on single pixels.
MAX_SIDE = 64


def read_images(folder: Path, label: str | None = None, split: str | None = None) -> RawTable:
    """Grey levels of all images in a folder and its subfolders, sorted by name.

    File names are row names. With ``label="folder"``, the folder of an image is its class. With
    ``split="folder"``, the outermost folder is its split, and the folders in it are its class.
    """
    paths = image_files(folder)
    pixels, notes = load_images(paths)
    folders = np.array([str(path.parent.relative_to(folder)) for path in paths])
    has_subfolders = len(set(folders.tolist())) > 1
    if label is not None and (label != "folder" or not has_subfolders):
        raise InvalidValueError(
            f"--label {label}: images have no columns; sort them into subfolders and use --label folder."
        )
    splits = None
    if split is not None:
        if split != "folder" or not has_subfolders:
            raise InvalidValueError(
                f"--split {split}: images have no columns; sort them into one subfolder per split and use "
                "--split folder."
            )
        splits = np.array([name.split(os.sep)[0] for name in folders.tolist()])
        folders = np.array([os.sep.join(name.split(os.sep)[1:]) for name in folders.tolist()])
    rows, columns = np.divmod(np.arange(pixels[0].size), pixels.shape[2])
    return RawTable(
        pixels.reshape(len(pixels), -1).astype(np.float64),
        notes,
        [f"pixel {r} {c}" for r, c in zip(rows, columns, strict=True)],
        np.array([str(path.relative_to(folder)) for path in paths]),
        folders if label is not None else None,
        {"folder": folders} if has_subfolders and label is None else {},
        pixels,
        splits=splits,
    )


def images_of_rows(folder: Path, n_rows: int, ids: np.ndarray | None) -> np.ndarray:
    """One image per row, matched by row name or by order."""
    paths = image_files(folder)
    by_name = {path.stem: path for path in paths}
    names = [] if ids is None else [Path(str(name)).stem for name in ids]
    if names and all(name in by_name for name in names):
        paths = [by_name[name] for name in names]
    elif len(paths) != n_rows:
        raise InvalidValueError(
            f"--images {folder} contains {len(paths):,} images for {n_rows:,} rows; name them like the "
            "--id column, or provide one per row, sorted by name."
        )
    return load_images(paths)[0]


def image_files(folder: Path) -> list[Path]:
    """Images in a folder and its subfolders, sorted by name."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder; choose a folder of images.")
    walk = os.walk(folder, onerror=_raise_unreadable_folder)
    files = (Path(parent, name) for parent, _, names in walk for name in names)
    paths = sorted(path for path in files if path.suffix.lower() in FORMATS)
    if not paths:
        raise InvalidValueError(
            f"{folder} contains no images ({' '.join(FORMATS)}); choose a folder of images."
        )
    return paths


def _raise_unreadable_folder(error: OSError) -> None:
    if not isinstance(error, PermissionError):
        raise error
    raise PermissionError(
        f"cannot read the folder {error.filename}; change its permissions (chmod u+rx), or move it."
    ) from error


@contextmanager
def open_image(path: Path) -> Iterator[Any]:
    """Open image; errors name the file."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError("images need Pillow: pip install 'vicinal[cli]'.") from error
    with reading(path, "an image"):
        try:
            with Image.open(path) as image:
                yield image
        except Image.DecompressionBombError as error:
            raise InvalidValueError(
                f"{path} is too large to read as an image: {error} Downscale it first."
            ) from error


def load_images(paths: list[Path]) -> tuple[np.ndarray, list[str]]:
    """Grey levels (n, height, width) of images resized to one size, and notes on what was done."""

    def load_grey(path: Path) -> Any:
        with open_image(path) as image:
            return _grey_levels(image)

    first_size = load_grey(paths[0]).size
    from PIL import Image  # opening the first image has checked that it is installed

    factor = min(1.0, MAX_SIDE / max(first_size))
    size = tuple(max(1, round(side * factor)) for side in first_size)
    pixels = np.empty((len(paths), size[1], size[0]), dtype=np.uint8)
    n_resized, float_images = 0, {}
    for i, path in enumerate(paths):
        image = load_grey(path)
        if image.size != size:
            image, n_resized = image.resize(size, Image.Resampling.BOX), n_resized + 1
        if image.mode == "F":
            float_images[i] = np.nan_to_num(np.asarray(image), posinf=0.0, neginf=0.0)
        else:
            pixels[i] = np.asarray(image)
    notes = [f"{len(paths):,} images as grey levels, {size[1]} x {size[0]} pixels"]
    if n_resized:
        notes.append(f"{n_resized:,} of them were resized to this size")
    if float_images:
        # One scale for all images, so that brightness stays comparable.
        low = min(0.0, *(float(levels.min()) for levels in float_images.values()))
        high = max(float(levels.max()) for levels in float_images.values())
        for i, levels in float_images.items():
            pixels[i] = np.round((levels - low) * (255.0 / ((high - low) or 1.0)))
        notes.append(
            f"levels of {len(float_images):,} of them were rescaled from {low:g}..{high:g} to 0..255"
        )
    return pixels, notes


def _grey_levels(image: Any) -> Any:
    """8-bit image (mode L), or floating-point image whose range is not known yet (mode F)."""
    from PIL import Image

    if image.mode.startswith("I;16") or (image.mode, image.format) in MODES_16_BIT:
        return Image.fromarray(np.round(np.asarray(image) / 257.0).astype(np.uint8))
    if image.mode in ("I", "F"):
        return Image.fromarray(np.asarray(image, dtype=np.float32))
    return image.convert("L")
