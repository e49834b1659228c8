"""Folders of images as tables of grey levels, a row an image."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from vicinal.cli.columns import UNREADABLE, Table
from vicinal.exceptions import InvalidValueError, MissingDependencyError

FORMATS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
# Modes and formats of 16 bits that Pillow reads into 32.
SHORT = {("I", "PNG"), ("I", "PPM")}
# Larger images are made smaller: what is alike does not show in single pixels.
SIDE = 64


def read_images(folder: Path, label: str | None = None) -> Table:
    """Grey levels of all images in a folder and its folders, in the order of their names.

    Rows are named by their files. With ``label="folder"`` the folder that an image is in is its class.
    """
    paths = image_files(folder)
    pixels, notes = load_images(paths)
    homes = np.array([str(path.parent.relative_to(folder)) for path in paths])
    several = len(set(homes.tolist())) > 1
    if label is not None and (label != "folder" or not several):
        raise InvalidValueError(
            f"--label {label}: images have no columns; sort them into folders and give --label folder."
        )
    rows, columns = np.divmod(np.arange(pixels[0].size), pixels.shape[2])
    return Table(
        pixels.reshape(len(pixels), -1).astype(np.float64),
        notes,
        [f"pixel {r} {c}" for r, c in zip(rows, columns, strict=True)],
        np.array([str(path.relative_to(folder)) for path in paths]),
        homes if label is not None else None,
        {"folder": homes} if several and label is None else {},
        pixels,
    )


def images_of_rows(folder: Path, n_rows: int, ids: np.ndarray | None) -> np.ndarray:
    """A picture for each row: the one named by its id, or the one in its place."""
    paths = image_files(folder)
    by_name = {path.stem: path for path in paths}
    names = [] if ids is None else [Path(str(name)).stem for name in ids]
    if names and all(name in by_name for name in names):
        paths = [by_name[name] for name in names]
    elif len(paths) != n_rows:
        raise InvalidValueError(
            f"--images {folder} holds {len(paths):,} images for {n_rows:,} rows; name them by --id, or "
            "give one for each row, in the order of their names."
        )
    return load_images(paths)[0]


def image_files(folder: Path) -> list[Path]:
    """Images in a folder and its folders, in the order of their names."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is no folder; name one that holds images.")
    walk = os.walk(folder, onerror=_refuse_closed)
    found = (Path(home, name) for home, _, names in walk for name in names)
    paths = sorted(path for path in found if path.suffix.lower() in FORMATS)
    if not paths:
        raise InvalidValueError(
            f"{folder} holds no image ({' '.join(FORMATS)}); name a folder that does."
        )
    return paths


def _refuse_closed(error: OSError) -> None:
    if not isinstance(error, PermissionError):
        raise error
    raise PermissionError(
        f"the folder {error.filename} may not be read; change its rights (chmod u+rx), or move it away."
    ) from error


@contextmanager
def opened_image(path: Path) -> Iterator[Any]:
    """An image, while it is read; whatever is wrong with the file names it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError("images need Pillow: pip install 'vicinal[cli]'.") from error
    try:
        with Image.open(path) as opened:
            yield opened
    except PermissionError:
        raise
    except Image.DecompressionBombError as error:
        raise InvalidValueError(
            f"{path} is too large to be read as an image: {error} Make it smaller first."
        ) from error
    except (*UNREADABLE, SyntaxError, TypeError, struct.error) as error:
        raise InvalidValueError(f"{path} could not be read as an image: {error}") from error


def load_images(paths: list[Path]) -> tuple[np.ndarray, list[str]]:
    """Grey levels (n, height, width) of images brought to one size, and what was done to them."""

    def grey(path: Path) -> Any:
        with opened_image(path) as opened:
            return _grey_levels(opened)

    first = grey(paths[0]).size
    from PIL import Image  # there, or the first image could not have been read

    shrink = min(1.0, SIDE / max(first))
    size = tuple(max(1, round(side * shrink)) for side in first)
    pixels = np.empty((len(paths), size[1], size[0]), dtype=np.uint8)
    resized, deep = 0, {}
    for i, path in enumerate(paths):
        image = grey(path)
        if image.size != size:
            image, resized = image.resize(size, Image.Resampling.BOX), resized + 1
        if image.mode == "F":
            deep[i] = np.nan_to_num(np.asarray(image), posinf=0.0, neginf=0.0)
        else:
            pixels[i] = np.asarray(image)
    notes = [f"{len(paths):,} images as grey levels, {size[1]} x {size[0]} pixels"]
    if resized:
        notes.append(f"{resized:,} of them had another size and were brought to this one")
    if deep:
        # One scale for all, so that what is brighter stays brighter.
        low = min(0.0, *(float(levels.min()) for levels in deep.values()))
        high = max(float(levels.max()) for levels in deep.values())
        for i, levels in deep.items():
            pixels[i] = np.round((levels - low) * (255.0 / ((high - low) or 1.0)))
        notes.append(
            f"levels of {len(deep):,} of them, from {low:g} to {high:g}, were scaled to 0 to 255"
        )
    return pixels, notes


def _grey_levels(opened: Any) -> Any:
    """An image of 8 bits (mode L), or of numbers whose largest is not known yet (mode F)."""
    from PIL import Image

    if opened.mode.startswith("I;16") or (opened.mode, opened.format) in SHORT:
        return Image.fromarray(np.round(np.asarray(opened) / 257.0).astype(np.uint8))
    if opened.mode in ("I", "F"):
        return Image.fromarray(np.asarray(opened, dtype=np.float32))
    return opened.convert("L")
