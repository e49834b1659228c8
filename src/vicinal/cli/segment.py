"""``vicinal segment``: segments of an image."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from vicinal._core.files import atomic_write
from vicinal.cli.image_folder import open_image
from vicinal.cli.options import (
    add_force,
    add_run_options,
    new_command,
    number_or_word,
    run_parameters,
)
from vicinal.cli.output import FIGURE_FORMATS, check_target
from vicinal.cli.plots import save_figure
from vicinal.cli.tables import load_array
from vicinal.exceptions import InvalidValueError, MissingDependencyError

LABEL_FORMATS = (".npy", ".csv", ".png")
# Smaller images are enlarged, so that boundaries do not hide pixels.
MIN_DRAWN_SIZE = 800

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
        "segment an image",
        "Segment an image into regions of similar pixels.",
        EXAMPLES,
    )
    parser.add_argument(
        "image", type=Path, metavar="IMAGE", help="image, or array of values as .npy"
    )
    parser.add_argument(
        "-n", "--n-segments", type=int, required=True, metavar="N", help="number of segments"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help=f"image with segment boundaries: {' '.join(FIGURE_FORMATS)}",
    )
    parser.add_argument("--labels", type=Path, help=f"label map: {' '.join(LABEL_FORMATS)}")
    parser.add_argument(
        "--mean-colors", action="store_true", help="fill each segment with its mean colour"
    )
    parser.add_argument("--graph", default="grid", help="grid or radius (default: %(default)s)")
    parser.add_argument(
        "--radius",
        type=float,
        default=3.0,
        help="pixel radius of --graph radius (default: %(default)g)",
    )
    parser.add_argument(
        "--scale",
        type=number_or_word,
        default="auto",
        help="colour difference that separates pixels: auto or a number (default: auto)",
    )
    parser.add_argument(
        "--blur", type=float, default=1.0, help="Gaussian blur in pixels (default: %(default)g)"
    )
    parser.add_argument(
        "--t", type=int, default=0, help="steps of self-smoothing before the cut (default: 0)"
    )
    add_force(parser)
    add_run_options(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Read the image, segment it and write the results."""
    from vicinal import segment

    if arguments.output is None and arguments.labels is None:
        raise InvalidValueError(
            "no output file: use -o for an image with boundaries, or --labels for a label map."
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
        **run_parameters(arguments),
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
        written["image"] = arguments.output
    counts = np.bincount(labels.ravel())
    return {
        "height": labels.shape[0],
        "width": labels.shape[1],
        "segments": [
            {"segment": number, "pixels": int(count), "fraction": count / labels.size}
            for number, count in enumerate(counts)
        ],
        "seconds": seconds,
        "written": written,
    }


def read_image(path: Path) -> np.ndarray:
    """Pixels of an image in its intended orientation, or the array of an .npy file."""
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} {'is a folder' if path.is_dir() else 'does not exist'}; "
            f"choose a file (looked in {path.parent.resolve()})."
        )
    if path.suffix.lower() == ".npy":
        return load_array(path, "save one of them as .npy")
    _import_pillow()
    with open_image(path) as image:
        return _pixels(image)


def _pixels(image: Any) -> np.ndarray:
    from PIL import ImageOps

    # Cameras store the orientation separately from the pixels.
    image = ImageOps.exif_transpose(image)
    supported = ("1", "L", "I", "I;16", "F", "RGB", "RGBA")
    if image.mode not in supported and not image.mode.startswith("I;16"):
        transparent = image.mode in ("LA", "PA", "La", "RGBa") or "transparency" in image.info
        image = image.convert("RGBA" if transparent else "RGB")
    return np.asarray(image)


def write_labels(labels: np.ndarray, path: Path) -> None:
    """Write the label map as an array, as a table, or as grey levels 0, 1, 2, ... of an image."""
    suffix = path.suffix.lower()
    if suffix == ".png" and labels.max() >= 1 << 16:
        raise InvalidValueError(
            f"--labels: a .png file has too few grey levels for {labels.max() + 1:,} segments; "
            "use an .npy file."
        )
    if suffix == ".npy":
        # An open file, because numpy appends .npy to a name that ends in .NPY.
        with open(path, "wb") as file:
            np.save(file, labels)
    elif suffix == ".csv":
        np.savetxt(path, labels, fmt="%d", delimiter=",")
    else:
        grey = labels.astype(np.uint8 if labels.max() < 256 else np.uint16)
        _import_pillow().fromarray(grey).save(path)


def draw(image: np.ndarray, labels: np.ndarray, mean_colors: bool, path: Path) -> None:
    """Write the image with boundaries, enlarged by an integer factor."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            "--output needs matplotlib: pip install 'vicinal[plot]'."
        ) from error
    from vicinal import plot

    height, width = labels.shape
    factor = max(1, -(-MIN_DRAWN_SIZE // max(height, width)))
    figure = Figure(figsize=(width * factor / 100, height * factor / 100), dpi=100)
    plot.segments(image, labels, mean_colors=mean_colors, ax=figure.add_axes((0, 0, 1, 1)))
    save_figure(figure, path, dpi=100)


def _import_pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError(
            "images need Pillow: pip install 'vicinal[plot]'; .npy arrays do not."
        ) from error
    return Image
