"""What a new user runs into: text files, one row, results that are not saved, advice for Python."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")


def test_text_needs_embeddings(tmp_path, error_of):
    path = tmp_path / "reviews.csv"
    path.write_text("review\n" + "\n".join(f"sentence number {i}" for i in range(30)))
    assert "compute embeddings of the text" in error_of("cluster", path)


def test_another_encoding_is_explained_for_excel(tmp_path, error_of):
    path = tmp_path / "umsatz.csv"
    path.write_bytes("Größe;Preis in €\n1;2\n".encode("cp1252"))
    message = error_of("cluster", path)
    assert "CSV UTF-8" in message
    assert "iconv -f cp1252" in message


def test_a_single_row_cannot_be_embedded(tmp_path, error_of):
    path = tmp_path / "one.csv"
    path.write_text("x,y\n1,2\n")
    assert "n_samples=1, but kinds and scales of columns need 2 rows at least" in error_of(
        "embed", path
    )


@pytest.mark.parametrize(
    ("command", "what"),
    [("cluster", "clusters of the rows"), ("graph", "edges"), ("smooth", "nearest neighbours")],
)
def test_a_result_that_is_not_saved_is_mentioned(command, what, table, tmp_path, run, capsys):
    hint = f"use -o FILE to save the {what}"
    assert run(command, table) == 0
    assert hint in capsys.readouterr().err
    assert run(command, table, "-o", tmp_path / "out.csv") == 0
    assert run(command, table, "--json") == 0
    assert "no file written" not in capsys.readouterr().err


def test_printed_results_need_no_file(table, run, capsys):
    assert run("rank", table, "--query", "3") == 0
    assert "no file written" not in capsys.readouterr().err


def test_warnings_name_options_instead_of_parameters(tmp_path, run, capsys):
    points = np.random.default_rng(0).normal(size=(60, 3))
    points[30:] += 100
    np.save(tmp_path / "two.npy", points)
    assert run("embed", tmp_path / "two.npy", "--method", "isomap") == 0
    warning = capsys.readouterr().err
    assert "use --graph dmst" in warning
    assert "disconnected=" not in warning


def test_an_unrelated_column_is_not_suggested(table, error_of):
    frame = pd.DataFrame({"income": range(20), "age": range(20)})
    frame.to_csv(table, index=False)
    assert "did you mean" not in error_of("cluster", table, "--id", "nope")
    assert "did you mean 'income'" in error_of("cluster", table, "--id", "incom")


def test_several_tables_have_titles(tmp_path, run, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)) + 8 * (np.arange(40) % 2)[:, None])
    frame.columns = ["x", "y"]
    frame["kind"] = np.where(np.arange(40) < 10, np.where(np.arange(40) % 2, "a", "b"), None)
    frame.to_csv(tmp_path / "few.csv", index=False)
    assert run("label", tmp_path / "few.csv", "--label", "kind") == 0
    assert "label next:\n" in capsys.readouterr().out


def test_the_number_of_coordinates_of_encoded_columns_is_printed(tmp_path, run, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "colour": rng.choice(["red", "blue"], 40)})
    frame["x"] += 9 * (frame["colour"] == "red")
    frame.to_csv(tmp_path / "mixed.csv", index=False)
    assert run("graph", tmp_path / "mixed.csv") == 0
    assert "are encoded as" in capsys.readouterr().err
