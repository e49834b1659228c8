import builtins

import numpy as np
import pytest

pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")

import vicinal  # noqa: E402
from vicinal.cli import main  # noqa: E402
from vicinal.cli import segment as command  # noqa: E402
from vicinal.cli.output import format_facts  # noqa: E402


@pytest.fixture
def image():
    rng = np.random.default_rng(0)
    pixels = np.full((24, 30, 3), 60, dtype=np.uint8)
    pixels[:, 20:] = [200, 40, 40]
    pixels[4:14, 4:14] = [30, 160, 60]
    return np.clip(pixels + rng.integers(-6, 7, pixels.shape), 0, 255).astype(np.uint8)


@pytest.fixture
def photo(tmp_path, image):
    path = tmp_path / "photo.png"
    Image.fromarray(image).save(path)
    return path


def run(*arguments):
    assert main(["segment", *map(str, arguments), "--debug"]) == 0


@pytest.mark.parametrize("suffix", command.LABEL_FORMATS)
def test_every_label_format_has_the_labels_of_the_function(suffix, photo, image, tmp_path, capsys):
    target = tmp_path / f"labels{suffix}"
    run(photo, "-n", 3, "--labels", target)
    expected = vicinal.segment(image, 3, random_state=0)
    if suffix == ".npy":
        written = np.load(target)
    elif suffix == ".csv":
        written = np.loadtxt(target, delimiter=",", dtype=int)
    else:
        written = np.asarray(Image.open(target))
    np.testing.assert_array_equal(written, expected)
    assert f"{np.mean(expected == 0):.1%}" in capsys.readouterr().out


def test_fractions_are_numbers_in_json_and_percent_in_text(photo, tmp_path, facts_of):
    args = ["segment", photo, "-n", 3, "--labels", tmp_path / "labels.npy"]
    for segment in facts_of(*args)["segments"]:
        assert segment["fraction"] == segment["pixels"] / (24 * 30)
    text = format_facts({"sizes": [{"cluster": -1, "rows": 1, "fraction": 0.25}]})
    assert text.split() == ["cluster", "rows", "fraction", "noise", "1", "25.0%"]


def test_options_reach_the_function(photo, image, tmp_path):
    target = tmp_path / "labels.npy"
    options = ["--graph", "radius", "--radius", 2.5, "--scale", 12, "--blur", 0, "--seed", 3]
    run(photo, "-n", 4, "--labels", target, *options, "--t", 5, "--jobs", 1)
    expected = vicinal.segment(
        image, 4, graph="radius", radius=2.5, scale=12.0, smoothing=0.0, smooth=5, random_state=3
    )
    np.testing.assert_array_equal(np.load(target), expected)


def test_more_than_256_labels_are_written_with_16_bits(tmp_path):
    labels = np.arange(600).reshape(20, 30)
    command.write_labels(labels, tmp_path / "labels.png")
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "labels.png")), labels)


def test_the_output_shows_the_image_and_its_boundaries(photo, tmp_path, capsys):
    plain, filled = tmp_path / "out.png", tmp_path / "filled.png"
    run(photo, "-n", 3, "-o", plain)
    run(photo, "-n", 3, "-o", filled, "--mean-colors")
    pixels = np.asarray(Image.open(plain).convert("RGB")).astype(int)
    times = pixels.shape[0] // 24
    assert pixels.shape == (24 * times, 30 * times, 3)
    assert times * 30 >= command.MIN_DRAWN_SIZE
    yellow = (pixels[..., 0] > 230) & (pixels[..., 1] > 230) & (pixels[..., 2] < 60)
    assert yellow[:, 19 * times : 21 * times].any(axis=1).all()
    assert not yellow[:, 22 * times :].any()
    assert len(np.unique(np.asarray(Image.open(filled).convert("RGB"))[:, 25 * times], axis=0)) == 1
    assert f"image written to {plain}" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg", ".jpg"])
def test_every_figure_format_is_written(suffix, photo, tmp_path):
    run(photo, "-n", 2, "-o", tmp_path / f"out{suffix}")
    assert (tmp_path / f"out{suffix}").stat().st_size > 0


# Reading


def test_a_rotated_photograph_is_shown_upright(tmp_path, image):
    path = tmp_path / "turned.png"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(np.rot90(image)).save(path, exif=exif)
    np.testing.assert_array_equal(command.read_image(path), image)


@pytest.mark.parametrize(
    ("mode", "shape", "dtype"),
    [
        ("1", (24, 30), bool),
        ("L", (24, 30), np.uint8),
        ("P", (24, 30, 3), np.uint8),
        ("LA", (24, 30, 4), np.uint8),
        ("RGBA", (24, 30, 4), np.uint8),
    ],
)
def test_images_of_every_mode_are_read(mode, shape, dtype, tmp_path, image):
    path = tmp_path / "photo.png"
    Image.fromarray(image).convert(mode).save(path)
    written = command.read_image(path)
    assert written.shape == shape
    assert written.dtype == dtype


def test_16_bit_grey_levels_are_unchanged(tmp_path):
    values = np.arange(600, dtype=np.uint16).reshape(20, 30) * 100
    Image.fromarray(values).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(command.read_image(tmp_path / "deep.png"), values)
    np.save(tmp_path / "deep.npy", values)
    np.testing.assert_array_equal(command.read_image(tmp_path / "deep.npy"), values)


def test_cmyk_is_converted_to_rgb(tmp_path, image):
    path = tmp_path / "print.jpg"
    Image.fromarray(image).convert("CMYK").save(path)
    assert command.read_image(path).shape == (24, 30, 3)


# Errors


def test_the_input_image_is_never_overwritten(photo):
    with pytest.raises(ValueError, match="is the input file"):
        run(photo, "-n", 2, "-o", photo, "--force")


def test_no_output_file_is_an_error(photo):
    with pytest.raises(ValueError, match="no output file: use -o"):
        run(photo, "-n", 2)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["-o", "out.txt"], ValueError, "--output out.txt: unsupported format .txt"),
        (["--labels", "map.jpg"], ValueError, "--labels map.jpg: unsupported format .jpg"),
        (["-o", "nowhere/out.png"], FileNotFoundError, "the folder nowhere does not exist"),
    ],
)
def test_targets_are_checked_before_the_work(arguments, error, message, photo, monkeypatch):
    monkeypatch.setattr(command, "read_image", lambda path: pytest.fail("was read"))
    with pytest.raises(error, match=message):
        run(photo, "-n", 2, *arguments)


def test_an_error_names_a_file_that_is_not_an_image(tmp_path):
    for name in ("broken.png", "broken.npy"):
        (tmp_path / name).write_text("no picture")
        with pytest.raises(ValueError, match=rf"cannot read .*{name}"):
            command.read_image(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"missing\.png does not exist"):
        command.read_image(tmp_path / "missing.png")


def test_a_failed_run_leaves_no_file(photo, tmp_path):
    with pytest.raises(ValueError, match="n_segments=100000"):
        run(photo, "-n", 100_000, "--labels", tmp_path / "labels.npy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photo.png"]


def test_an_error_names_a_missing_extra(photo, tmp_path, monkeypatch):
    real = builtins.__import__

    def without_pillow(name, *arguments, **keywords):
        if name.split(".")[0] == "PIL":
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_pillow)
    with pytest.raises(ImportError, match=r"pip install 'vicinal\[plot\]'"):
        run(photo, "-n", 2, "--labels", tmp_path / "labels.npy")
