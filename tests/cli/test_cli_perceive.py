"""``vicinal perceive``: every kind of table gives a report, or one error line with what to do."""

import os
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from sklearn.datasets import load_iris  # noqa: E402

from vicinal.cli import image_folder  # noqa: E402
from vicinal.cli.tables import read_table  # noqa: E402

QUICK = ["--sample", "60"]


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(0, 1, (40, 3)), rng.normal(9, 1, (40, 3))])


@pytest.fixture
def flowers(tmp_path):
    iris = load_iris(as_frame=True)
    frame = iris.frame.drop(columns="target").iloc[:100]
    frame["species"] = iris.target_names[iris.target[:100]]
    frame.insert(0, "name", [f"flower {i}" for i in range(100)])
    path = tmp_path / "flowers.csv"
    frame.to_csv(path, index=False)
    return path


def snippet_of(report):
    import html
    import re

    return html.unescape(
        re.search(r'<pre id="snippet">(.*?)</pre>', report.read_text(), re.S).group(1)
    )


def test_a_table_with_text_columns_has_a_report(flowers, tmp_path, run, capsys):
    report = tmp_path / "report.html"
    args = [flowers, "--label", "species", "--id", "name", "--seed", 3, "-o", report]
    assert run("perceive", *args, *QUICK) == 0
    out = capsys.readouterr().out
    assert "flowers.csv: 100 rows, 4 of 4 columns used" in out
    assert "compared with species" in out
    assert f"report written to {report}" in out
    page = report.read_text(encoding="utf-8")
    assert "--label species --sample 60 --seed 3 -o" in page
    assert "flower 99" in page
    # The code on the page reproduces its labels.
    names = {}
    exec(snippet_of(report), names)
    assert f"random_state={3}" in snippet_of(report)
    assert len(names["labels"]) == 100
    sizes = [f"{np.count_nonzero(names['labels'] == k):,}" for k in (0, 1)]
    assert all(f"<td class=n>{size}</td>" in page for size in sizes)


def test_json_has_the_figures(flowers, tmp_path, facts_of):
    facts = facts_of(
        "perceive",
        flowers,
        "--label",
        "species",
        "--id",
        "name",
        "-o",
        tmp_path / "r.html",
        "--clusters",
        2,
        *QUICK,
    )
    assert (facts["rows"], facts["columns"], facts["clusters"]) == (100, 4, 2)
    assert facts["written"] == {"report": str(tmp_path / "r.html")}
    assert {row["method"] for row in facts["scores"]} >= {"perceptual clustering", "HDBSCAN"}
    assert sum(size["rows"] for size in facts["sizes"]) == 100


def test_missing_values_are_filled_and_counted(blobs, tmp_path, run, capsys):
    gaps = np.random.default_rng(1).random(blobs.shape) < 0.01
    gaps[0, 0] = True
    blobs[gaps] = np.nan
    path = tmp_path / "gaps.csv"
    pd.DataFrame(blobs, columns=list("abc")).to_csv(path, index=False)
    assert run("perceive", path, "-o", tmp_path / "r.html", "--clusters", 2, *QUICK) == 0
    assert f"{gaps.sum()} of 240 values are missing" in capsys.readouterr().out
    names = {}
    exec(snippet_of(tmp_path / "r.html"), names)
    assert len(names["labels"]) == 80


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("three.csv", "x,y\n1,2\n3,4\n5,7\n", "the table has 3 rows"),
        (
            "words.csv",
            "a,b\n" + "".join(f"w{i},x\n" for i in range(20)),
            "compared by: 'a' (names or",
        ),
        ("empty.csv", "", "is empty"),
        ("header.csv", "x,y\n", "no rows"),
        ("same.csv", "x,y\n" + "1,2\n" * 20, "rows can be compared by: 'x' (constant)"),
        ("points.ods", "", "unsupported format .ods"),
        ("points.xlsx", "", "as a spreadsheet: File is not a zip file"),
    ],
)
def test_an_unusable_table_is_one_error_line(name, content, message, tmp_path, error_of):
    path = tmp_path / name
    path.write_text(content)
    assert message in error_of("perceive", path, "-o", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--clusters", "some"], "--clusters some: must be an integer or auto"),
        (["--clusters", "0"], "--clusters 0"),
        (["--label", "kind"], "--label kind"),
        (["--standardize", "--as-is"], "contradict each other"),
        (["-o", "report.pdf"], "unsupported format .pdf"),
        (["-o", "no/such/folder/report.html"], "does not exist; create it"),
        (["--images", "nowhere"], "nowhere is not a folder"),
        (["--sample", "2"], "--sample 2"),
    ],
)
def test_invalid_options_give_one_error_line(
    arguments, message, table, tmp_path, error_of, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert message in error_of("perceive", table, *arguments)


def test_a_missing_file_and_a_folder_without_images_are_errors(tmp_path, error_of):
    assert "does not exist" in error_of("perceive", tmp_path / "no.csv", "-o", tmp_path / "r.html")
    assert "contains no images" in error_of("perceive", tmp_path, "-o", tmp_path / "r.html")


def test_a_folder_without_permission_is_an_error_before_any_work(
    table, tmp_path, error_of, monkeypatch
):
    # Tests may run as root, who can write everywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "is not writable" in error_of("perceive", table, "-o", tmp_path / "r.html")


def test_a_table_without_permission_is_one_error_line(table, tmp_path, error_of, monkeypatch):
    def closed(path, *arguments, **keywords):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("builtins.open", closed)
    assert "Permission denied" in error_of("perceive", table, "-o", tmp_path / "r.html")


def test_an_existing_report_is_overwritten_only_with_force(table, tmp_path, error_of):
    report = tmp_path / "r.html"
    report.write_text("old")
    assert "use --force" in error_of("perceive", table, "-o", report)
    assert report.read_text() == "old"


def test_an_interrupted_run_leaves_nothing_or_with_resume_its_finished_steps(
    blobs, tmp_path, run, capsys, monkeypatch
):
    from vicinal.report import pipeline

    np.save(tmp_path / "X.npy", blobs)
    report = tmp_path / "r.html"

    def stop(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "draw_maps", stop)
        with pytest.raises(KeyboardInterrupt):
            run("perceive", tmp_path / "X.npy", "-o", report, *QUICK)
        assert os.listdir(tmp_path) == ["X.npy"]
        with pytest.raises(KeyboardInterrupt):
            run("perceive", tmp_path / "X.npy", "-o", report, "--resume", *QUICK)
    assert "use --resume to continue" in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["X.npy", "r.steps"]
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "count_clusters", stop)
        assert run("perceive", tmp_path / "X.npy", "-o", report, "--resume", *QUICK) == 0
    assert sorted(os.listdir(tmp_path)) == ["X.npy", "r.html"]


def test_only_cache_files_are_removed(blobs, tmp_path, run, error_of, capsys):
    np.save(tmp_path / "X.npy", blobs)
    folder = tmp_path / "r.steps"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    np.savez(folder / "mine.npz", X=blobs)
    args = ["perceive", tmp_path / "X.npy", "-o", tmp_path / "r.html", "--resume", *QUICK]
    assert run(*args) == 0
    assert sorted(os.listdir(folder)) == ["mine.npz", "notes.txt"]
    np.savez(folder / "maps.npz", X=blobs)
    capsys.readouterr()
    assert "maps.npz is not a vicinal cache file" in error_of(*args, "--force")
    with np.load(folder / "maps.npz") as arrays:
        np.testing.assert_array_equal(arrays["X"], blobs)


def test_the_sample_may_be_smaller_than_the_number_of_clusters(tmp_path, facts_of):
    np.save(tmp_path / "X.npy", np.random.default_rng(0).random((200, 2)))
    args = ["--sample", 50, "--clusters", 60, "-o", tmp_path / "r.html"]
    facts = facts_of("perceive", tmp_path / "X.npy", *args)
    assert facts["parameters"]["n_clusters"] == 60
    assert facts["clusters"] == sum(size["cluster"] >= 0 for size in facts["sizes"])
    assert facts["stability"] is None


def test_rows_without_a_label_are_left_out_of_the_scores(flowers, tmp_path, facts_of):
    frame = pd.read_csv(flowers)
    frame.loc[::10, "species"] = np.nan
    frame.to_csv(flowers, index=False)
    args = [flowers, "--label", "species", "--id", "name"]
    facts = facts_of("perceive", *args, "-o", tmp_path / "r.html", *QUICK)
    assert "10 of 100 rows have no label; they are not scored against labels" in facts["notes"]
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Clusters compared with the 2 classes" in page
    assert "on all 90 labelled rows" in page
    facts = facts_of("cluster", *args, "--clusters", 2)
    assert facts["unlabelled_rows"] == 10
    assert facts["accuracy"] > 0.9


# Images


@pytest.fixture
def image_folder_path(tmp_path):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for kind, level in (("dark", 40), ("light", 200)):
        folder = tmp_path / "pictures" / kind
        folder.mkdir(parents=True)
        for i in range(15):
            pixels = np.clip(rng.normal(level, 15, (6, 8)), 0, 255).astype(np.uint8)
            image.fromarray(pixels).save(folder / f"{i:02}.png")
    return tmp_path / "pictures"


def test_a_folder_of_images_is_a_table_of_grey_levels(image_folder_path):
    table = image_folder.read_images(image_folder_path)
    assert table.points.shape == (30, 48)
    assert table.images.shape == (30, 6, 8)
    np.testing.assert_array_equal(table.points, table.images.reshape(30, -1))
    assert table.ids[0] == str(Path("dark") / "00.png")
    assert set(table.others["folder"]) == {"dark", "light"}
    assert (
        image_folder.read_images(image_folder_path, "folder").labels.tolist()
        == ["dark"] * 15 + ["light"] * 15
    )


def test_images_are_resized_to_one_size(image_folder_path):
    from PIL import Image

    Image.new("L", (300, 200), 10).save(image_folder_path / "dark" / "99.png")
    table = image_folder.read_images(image_folder_path)
    assert table.images.shape == (31, 6, 8)
    assert "1 of them were resized to this size" in table.notes[1]
    Image.new("L", (640, 320), 10).save(image_folder_path / "a.png")
    assert image_folder.read_images(image_folder_path).images.shape == (32, 32, 64)


def test_a_folder_of_images_has_a_report(image_folder_path, tmp_path, facts_of):
    facts = facts_of(
        "perceive",
        image_folder_path,
        "--label",
        "folder",
        "-o",
        tmp_path / "r.html",
        "--clusters",
        2,
        *QUICK,
    )
    assert (facts["rows"], facts["columns"], facts["clusters"]) == (30, 48, 2)
    assert '"sprites":{' in (tmp_path / "r.html").read_text()


def test_images_are_matched_to_rows_by_name_or_order(image_folder_path):
    names = np.array([f"{i:02}" for i in range(14, -1, -1)])
    by_order = image_folder.images_of_rows(image_folder_path / "dark", 15, None)
    by_name = image_folder.images_of_rows(image_folder_path / "dark", 15, names)
    np.testing.assert_array_equal(by_name, by_order[::-1])
    with pytest.raises(ValueError, match="contains 15 images for 20 rows"):
        image_folder.images_of_rows(image_folder_path / "dark", 20, None)


def test_skipped_columns_are_kept_for_colouring(flowers):
    table = read_table(flowers, id_column="name")
    assert list(table.others) == ["species"]


@pytest.mark.slow
def test_a_wide_table_of_20_000_rows_has_a_report(tmp_path, facts_of):
    rng = np.random.default_rng(0)
    centres = 3 * rng.normal(size=(6, 500))
    truth = rng.integers(0, 6, 20_000)
    np.savez(tmp_path / "wide.npz", X=centres[truth] + rng.normal(size=(20_000, 500)), y=truth)
    facts = facts_of("perceive", tmp_path / "wide.npz", "--label", "y", "-o", tmp_path / "r.html")
    assert (facts["rows"], facts["columns"], facts["clusters"]) == (20_000, 500, 6)
    scores = {row["method"]: row for row in facts["scores"]}
    assert scores["spectral clustering on spanning trees"]["accuracy"] == 1.0
