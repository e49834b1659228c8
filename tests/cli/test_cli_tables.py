from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

pd = pytest.importorskip("pandas")

from vicinal._core.tables import unique_names  # noqa: E402
from vicinal.cli.tables import READERS, read_table  # noqa: E402


def write(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("x,y\n1,2\n3,4\n", (2, 2)),
        ("1,2\n3,4\n", (2, 2)),
        ("1;2;3\n3;4;5\n", (2, 3)),
        ("name,x\na,1\nb,2\n", (2, 1)),
        ("1.5,setosa\n2.5,virginica\n", (2, 1)),
        ("2019,name\n1,a\n2,b\n", (3, 1)),
        (",x,y\n0,1.5,2.5\n1,3.5,4.5\n", (2, 2)),
        ("\ufeffx,y\n1,2\n", (1, 2)),
        ('"a, b",y\n1,2\n', (1, 2)),
        ("\n\n  \nx,y\n1,2\n3,4\n", (2, 2)),
        ("\n1,2\n3,4\n", (2, 2)),
        # Headers of numbers: column numbers written by pandas, or years next to row names.
        ("0,1,2\n5,6,7\n", (1, 3)),
        ("0,1\n0.5,1.5\n2.5,3.5\n", (2, 2)),
        (",0,1,2\n0,5,,7\n1,5,6,7\n", (2, 3)),
        (",1990,1991\na,3,4\nb,5,6\n", (2, 2)),
        # Two integer columns, or a first row with a missing value, are data.
        ("0,1\n1,0\n", (2, 2)),
        ("1,,3\n4,5,6\n", (2, 3)),
    ],
)
def test_header_separator_and_text_columns_are_detected(text, shape, tmp_path):
    assert read_table(write(tmp_path, text), accept_missing=True).points.shape == shape


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_tables_written_by_pandas_are_read_back(index, width, tmp_path):
    given = np.random.default_rng(0).normal(size=(7, width))
    pd.DataFrame(given).to_csv(tmp_path / "d.csv", index=index)
    table = read_table(tmp_path / "d.csv")
    np.testing.assert_array_equal(table.points, given)
    assert table.names == [str(number) for number in range(width)]


def test_repeated_column_names_get_a_suffix():
    assert unique_names(["a", "a", "b", "a (2)", "a", 1, "1"]) == [
        "a",
        "a (2)",
        "b",
        "a (2) (2)",
        "a (3)",
        "1",
        "1 (2)",
    ]


def test_columns_that_are_not_numbers_are_skipped_with_a_note_or_kept(tmp_path):
    path = write(tmp_path, "x,species,y\n1,setosa,2\n3,virginica,4\n")
    table = read_table(path)
    assert "skipped 'species': 2 of 2 values are not numbers, e.g. 'setosa'" in table.notes
    mixed = read_table(path, accept_mixed=True)
    assert mixed.points is None
    assert list(mixed.columns.columns) == ["x", "species", "y"]
    assert not any("skipped" in note for note in mixed.notes)
    numbers = read_table(write(tmp_path, "x,y\n1,2\n3,4\n"), accept_mixed=True)
    assert numbers.columns is None


def test_kinds_order_and_weights_of_columns_are_options(tmp_path, facts_of):
    rows = "".join(f"{'SML'[i % 3]},{10 * (i % 3) + i / 10},{i % 3}\n" for i in range(15))
    path = write(tmp_path, "size,x,code\n" + rows)
    facts = facts_of("graph", path, "--kind", "mst", "--weight", "x=4", "--ignore", "code")
    assert facts["columns"] == 2
    given = ["--ordinal", "size=S<M<L", "--categorical", "code", "--weight", "x=4"]
    assert facts_of("graph", path, "--kind", "mst", *given)["columns"] == 2


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npy", ".npz", ".h5ad"])
def test_every_input_format_gives_the_same_points(suffix, tmp_path, points):
    path = tmp_path / f"points{suffix}"
    frame = pd.DataFrame(points, columns=["x", "y"])
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".npy":
        np.save(path, points)
    elif suffix == ".npz":
        np.savez(path, X=points, other=points + 1)
    else:
        pytest.importorskip("anndata").AnnData(points).write_h5ad(path)
    np.testing.assert_allclose(read_table(path).points, points, rtol=1e-15)


def test_a_key_selects_the_array(tmp_path, points):
    np.savez(tmp_path / "two.npz", a=points, b=points + 1)
    np.testing.assert_array_equal(read_table(tmp_path / "two.npz", "b").points, points + 1)


def test_a_stack_of_images_becomes_a_table_of_pixels(tmp_path):
    images = np.arange(24.0).reshape(4, 3, 2)
    np.save(tmp_path / "stack.npy", images)
    table = read_table(tmp_path / "stack.npy")
    np.testing.assert_array_equal(table.points, images.reshape(4, 6))
    np.testing.assert_array_equal(table.images, images)
    assert table.notes == ["flattened each entry of shape (3, 2) into a row"]


def test_lines_of_different_lengths_are_an_error(tmp_path, error_of):
    path = write(tmp_path, "x,y\n1,2\n3,4,5,6\n", "ragged.csv")
    assert f"line 3 of {path} has 4 cells, but other lines have 2" in error_of("graph", path)


def test_an_error_lists_the_available_arrays(tmp_path, points, error_of):
    np.savez(tmp_path / "two.npz", a=points, b=points)
    assert "contains the arrays a, b; choose one with --key" in error_of(
        "graph", tmp_path / "two.npz"
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz", ".h5ad"])
def test_columns_of_names_and_classes_are_not_coordinates(suffix, tmp_path, points):
    path = tmp_path / f"points{suffix}"
    names, classes = np.arange(100, 160), np.repeat(["a", "b"], 30)
    frame = pd.DataFrame({"code": names, "x": points[:, 0], "y": points[:, 1], "kind": classes})
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".npz":
        np.savez(path, X=points, code=names, kind=classes)
    else:
        anndata = pytest.importorskip("anndata")
        anndata.AnnData(points, obs=frame[["code", "kind"]].rename(str)).write_h5ad(path)
    table = read_table(path, id_column="code", label_column="kind")
    np.testing.assert_array_equal(table.points, points)
    # Names in text files stay text.
    np.testing.assert_array_equal(table.ids, names.astype(str) if suffix == ".csv" else names)
    np.testing.assert_array_equal(table.labels.astype(str), classes)


@pytest.mark.parametrize("name", ["label", "Class"])
def test_a_column_that_looks_like_classes_is_noted_unless_it_has_a_role(name, tmp_path, points):
    path = tmp_path / "points.csv"
    table = pd.DataFrame(points).add_prefix("c")
    table.assign(**{name: np.arange(len(points)) % 3}).to_csv(path, index=False)
    hint = f"{name!r} is used like any other column; if it holds known classes, pass --label {name}"
    assert hint in read_table(path).notes
    assert hint not in read_table(path, label_column=name).notes
    table.assign(**{name: np.arange(len(points))}).to_csv(path, index=False)
    assert hint not in read_table(path).notes
    table.assign(**{name: np.where(np.arange(len(points)) % 3, "x", "y")}).to_csv(path, index=False)
    assert hint in read_table(path, accept_mixed=True).notes
    assert hint not in read_table(path).notes  # such a column is skipped


def test_row_names_are_kept_as_ids(tmp_path, points):
    frame = pd.DataFrame(points, index=[f"row {i}" for i in range(60)], columns=["x", "y"])
    frame.to_csv(tmp_path / "points.csv")
    frame.to_parquet(tmp_path / "points.parquet")
    for name in ("points.csv", "points.parquet"):
        table = read_table(tmp_path / name)
        assert table.ids[17] == "row 17"
        assert table.names == ["x", "y"]


def test_an_unknown_column_is_an_error_that_lists_the_columns(table, tmp_path, points, error_of):
    assert "--label species: " in error_of("graph", table, "--label", "species")
    assert "it has x, y" in error_of("graph", table, "--id", "name")
    np.save(tmp_path / "X.npy", points)
    assert "have no names" in error_of("graph", tmp_path / "X.npy", "--label", "y")
    np.savez(tmp_path / "X.npz", X=points, y=points)
    message = error_of("graph", tmp_path / "X.npz", "--label", "y")
    assert "one value for each of the 60 rows is needed" in message


def test_a_sparse_matrix_is_read_as_it_was_saved(tmp_path):
    matrix = sparse.random_array((20, 20), density=0.2, random_state=0, format="csr")
    sparse.save_npz(tmp_path / "W.npz", matrix)
    table = read_table(tmp_path / "W.npz", accept_sparse=True)
    assert (table.points != matrix).nnz == 0
    np.testing.assert_array_equal(read_table(tmp_path / "W.npz").points, matrix.toarray())


def test_a_sparse_table_too_large_to_be_dense_is_an_error(tmp_path, monkeypatch, error_of):
    sparse.save_npz(tmp_path / "W.npz", sparse.csr_array((3000, 3000)))
    monkeypatch.setattr("vicinal._core.memory.free_memory", lambda: 1_000_000)
    assert "3,000 rows and 3,000 columns" in error_of("graph", tmp_path / "W.npz")


def test_missing_values_are_kept_with_accept_missing(tmp_path):
    path = write(tmp_path, "x,y\n1,2\n,4\n")
    np.testing.assert_array_equal(
        read_table(path, accept_missing=True).points, [[1, 2], [np.nan, 4]]
    )


def test_condensed_distances_become_a_matrix_with_metric_precomputed(
    tmp_path, points, facts_of, error_of
):
    classes = np.arange(60) % 2
    np.savez(tmp_path / "D.npz", X=pdist(points), kind=classes)
    np.save(tmp_path / "D.npy", pdist(points))
    args = ["--kind", "mst", "--metric", "precomputed"]
    for name in ("D.npz", "D.npy"):
        assert facts_of("graph", tmp_path / name, *args)["edges"] == 59
    assert "an array of shape (1770,)" in error_of("graph", tmp_path / "D.npy")
    facts = facts_of("smooth", tmp_path / "D.npz", "--label", "kind")
    assert facts["metric"] == "precomputed"
    np.save(tmp_path / "D.npy", pdist(points)[:-1])
    assert "an array of shape (1769,)" in error_of("graph", tmp_path / "D.npy", *args)


@pytest.mark.parametrize(
    "page", ["README.md", "docs/command.md", "docs/start.md", "docs/guides/what-is-in-my-table.md"]
)
def test_every_format_is_on_the_pages_that_list_formats(page):
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    assert [suffix for suffix in READERS if suffix not in text] == []
