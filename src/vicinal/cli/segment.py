"""``vicinal segment``: a photograph in, its segments out."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal.cli.columns import UNREADABLE
from vicinal.cli.image_folder import opened_image
from vicinal.cli.options import add_force, add_manner, new_command, number_or_word, verbosity
from vicinal.cli.output import FIGURE_FORMATS, check_target
from vicinal.cli.pictures import save_picture
from vicinal.exceptions import InvalidValueError, MissingDependencyError

LABEL_FORMATS = (".npy", ".csv", ".png")
# Shorter images are drawn enlarged, so that boundaries do not hide the pixels.
DRAWN_SIZE = 800

EXAMPLES = """\
examples:
  vicinal segment photo.jpg -n 5 -o out.png
  vicinal segment scan.png -n 3 --mean-colors -o out.png --labels labels.npy
  vicinal segment values.npy -n 8 --graph radius --radius 4 --labels labels.csv
"""


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser of ``vicinal``."""
    parser = new_command(
        commands,
        "segment",
        run,
        "cut an image into segments",
        "Cut an image into segments inside which pixels resemble their neighbours.",
        EXAMPLES,
    )
    parser.add_argument(
        "image", type=Path, metavar="IMAGE", help="a picture, or an array of values as .npy"
    )
    parser.add_argument(
        "-n", "--n-segments", type=int, required=True, metavar="N", help="number of segments"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help=f"picture with the boundaries drawn in: {' '.join(FIGURE_FORMATS)}",
    )
    parser.add_argument("--labels", type=Path, help=f"label map: {' '.join(LABEL_FORMATS)}")
    parser.add_argument(
        "--mean-colors", action="store_true", help="draw each segment in its mean colour"
    )
    parser.add_argument("--graph", default="grid", help="grid or radius; default: %(default)s")
    parser.add_argument("--radius", type=float, default=3.0, help="of --graph radius, in pixels")
    parser.add_argument(
        "--scale", type=number_or_word, default="auto", help="auto, or a difference"
    )
    parser.add_argument("--blur", type=float, default=1.0, help="in pixels; default: %(default)g")
    parser.add_argument(
        "--t", type=int, default=0, help="steps of self-smoothing before the cut; default: 0"
    )
    add_force(parser)
    add_manner(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read, cut, write, and say what was found."""
    from vicinal import segment

    if arguments.output is None and arguments.labels is None:
        raise InvalidValueError(
            "nothing to write: name a picture by -o, or a label map by --labels."
        )
    force, source = arguments.force, arguments.image
    check_target(arguments.output, FIGURE_FORMATS, "--output", force, source)
    check_target(arguments.labels, LABEL_FORMATS, "--labels", force, source)
    image = read_image(arguments.image)

    start = time.perf_counter()
    labels = segment(
        image,
        arguments.n_segments,
        graph=arguments.graph,
        radius=arguments.radius,
        scale=arguments.scale,
        smoothing=arguments.blur,
        smooth=arguments.t,
        random_state=arguments.seed,
        n_jobs=arguments.jobs,
        verbose=verbosity(arguments),
    )
    seconds = time.perf_counter() - start

    written = {}
    if arguments.labels is not None:
        with atomic_write(arguments.labels, replace=arguments.force) as unfinished:
            write_labels(labels, unfinished)
        written["label map"] = arguments.labels
    if arguments.output is not None:
        with atomic_write(arguments.output, replace=arguments.force) as unfinished:
            draw(image, labels, arguments.mean_colors, unfinished)
        written["picture"] = arguments.output
    counts = np.bincount(labels.ravel())
    return {
        "height": labels.shape[0],
        "width": labels.shape[1],
        "segments": [
            {"segment": number, "pixels": int(count), "share": count / labels.size}
            for number, count in enumerate(counts)
        ],
        "seconds": seconds,
        "written": written,
    }


def read_image(path: Path) -> np.ndarray:
    """Pixels of a picture the way it is meant to be looked at, or the array of an .npy file."""
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} {'is a folder' if path.is_dir() else 'does not exist'}; "
            f"name a file (looked in {path.parent.resolve()})."
        )
    if path.suffix.lower() == ".npy":
        return _load_values(path)
    _need_pillow()
    with opened_image(path) as opened:
        return _pixels(opened)


def _load_values(path: Path) -> np.ndarray:
    try:
        values = np.load(path, allow_pickle=False)
    except PermissionError:
        raise
    except UNREADABLE as error:
        raise InvalidValueError(
            f"{path} could not be read: {error}; save it by numpy.save."
        ) from error
    if not isinstance(values, np.ndarray):
        values.close()
        raise InvalidValueError(
            f"{path} holds several arrays, as an .npz file does; save one as .npy."
        )
    return values


def _pixels(opened: Any) -> np.ndarray:
    from PIL import ImageOps

    # Cameras store the picture as the sensor saw it, and beside it how to turn it.
    picture = ImageOps.exif_transpose(opened)
    as_they_are = ("1", "L", "I", "I;16", "F", "RGB", "RGBA")
    if picture.mode not in as_they_are and not picture.mode.startswith("I;16"):
        transparent = picture.mode in ("LA", "PA", "La", "RGBa") or "transparency" in picture.info
        picture = picture.convert("RGBA" if transparent else "RGB")
    return np.asarray(picture)


def write_labels(labels: np.ndarray, path: Path) -> None:
    """The label map as an array, as a table of numbers, or as grey levels 0, 1, 2, ... of a picture."""
    suffix = path.suffix.lower()
    if suffix == ".png" and labels.max() >= 1 << 16:
        raise InvalidValueError(
            f"{labels.max() + 1:,} segments do not fit into the grey levels of a .png; "
            "write --labels to an .npy file."
        )
    if suffix == ".npy":
        # By an open file: numpy would add its suffix to a name that ends in .NPY.
        with open(path, "wb") as file:
            np.save(file, labels)
    elif suffix == ".csv":
        np.savetxt(path, labels, fmt="%d", delimiter=",")
    else:
        grey = labels.astype(np.uint8 if labels.max() < 256 else np.uint16)
        _need_pillow().fromarray(grey).save(path)


def draw(image: np.ndarray, labels: np.ndarray, mean_colors: bool, path: Path) -> None:
    """Picture with the boundaries, each pixel of the image a whole number of pixels large."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            "--output needs matplotlib: pip install 'vicinal[plot]'."
        ) from error
    from vicinal import plot

    height, width = labels.shape
    times = max(1, -(-DRAWN_SIZE // max(height, width)))
    figure = Figure(figsize=(width * times / 100, height * times / 100), dpi=100)
    plot.segments(image, labels, mean_colors=mean_colors, ax=figure.add_axes((0, 0, 1, 1)))
    save_picture(figure, path, dpi=100)


def _need_pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError(
            "pictures need pillow: pip install 'vicinal[plot]'; arrays as .npy are read without it."
        ) from error
    return Image
