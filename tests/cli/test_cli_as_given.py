"""Nothing that a person gave is changed silently: names, classes, numbers, dates and lines of a file."""

import csv
import json
import sqlite3

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

WORDS = ("NA", "None", "null", "nan")
BIG = 2**53


def two_groups(n=60):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(np.where(np.arange(n) < n // 2, 0, 8)), rng.normal(size=n)])


@pytest.fixture
def written(tmp_path):
    """A csv file with two columns of numbers behind the given ones."""

    def write(name, **columns):
        path = tmp_path / name
        rows = [
            [*own, f"{x:.3f}", f"{y:.3f}"]
            for own, (x, y) in zip(zip(*columns.values(), strict=True), two_groups(), strict=True)
        ]
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([[*columns, "x", "y"], *rows])
        return path

    return write


@pytest.fixture
def text(tmp_path):
    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


@pytest.fixture
def read(tmp_path, facts_of):
    """Notes, and statistics of the columns, of ``perceive``."""

    def call(path, *args):
        args = [*args, "-o", tmp_path / "r.html", "--force", "--sample", 50, "--clusters", 2]
        facts = facts_of("perceive", path, *args)
        return " | ".join(facts["notes"]), {c["column"]: c for c in facts["columns_read"]}

    return call


def cells_of(path, column):
    with open(path, newline="") as file:
        return [row[column] for row in csv.DictReader(file)]


@pytest.mark.parametrize("word", WORDS)
def test_a_class_whose_name_often_means_a_missing_value_stays_a_class(
    word, written, tmp_path, facts_of, run, capsys
):
    labels = [word] * 30 + ["DE"] * 30
    labels[3] = labels[40] = ""
    path = written("c.csv", country=labels)
    out = tmp_path / "o.csv"
    facts = facts_of("label", path, "--label", "country", "-o", out)
    assert (facts["classes"], facts["labelled_rows"], facts["filled_rows"]) == (2, 58, 2)
    assert cells_of(out, "label") == [word] * 30 + ["DE"] * 30
    capsys.readouterr()
    assert run("label", path, "--label", "country") == 0
    assert f"'country': {word!r} (29) counts like any other category" in capsys.readouterr().err


def test_a_category_whose_name_often_means_a_missing_value_stays_a_category(written, read):
    words = ["None", "mild", "severe"] * 20
    notes, columns = read(written("c.csv", severity=words))
    assert columns["severity"]["missing"] == 0
    assert columns["severity"]["reason"].startswith("3 categories")
    assert (
        "'severity': 'None' (20) counts like any other category" in notes
        or not columns["severity"]["used"]
    )


def test_words_for_missing_numbers_are_named_and_counted(written, read):
    values = [f"{i / 7:.4f}" for i in range(60)]
    values[3], values[9], values[20] = "NA", "NA", "null"
    notes, columns = read(written("c.csv", size=values))
    assert columns["size"]["missing"] == 3
    assert "3 cells count as missing: 'NA' (2), 'null' (1) in the numbers of 'size'" in notes


IDS = {
    "zeros": [f"{i:05d}" for i in range(60)],
    "long": [str(BIG + 1 + i) if i != 7 else "" for i in range(60)],
    "decimals": [f"1.{i}0" for i in range(60)],
    "exponents": [f"{i}e5" for i in range(60)],
    "words": [*WORDS, *(f"r{i}" for i in range(56))],
}


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize(
    "command", ["cluster", "embed", "label", "perceive", "audit", "duplicates"]
)
def test_row_names_are_the_text_of_the_file(kind, command, written, tmp_path, run):
    path = written("i.csv", id=IDS[kind], kind=["a", "b"] * 30)
    out = tmp_path / "o.csv"
    target = {"perceive": "--labels", "audit": "--rows"}.get(command, "-o")
    args = [command, path, "--id", "id", "--label", "kind", target, out]
    if command in ("perceive", "audit"):
        args += ["-o", tmp_path / "r.html"]
    if command == "perceive":
        args += ["--sample", 50, "--clusters", 2]
    if command == "duplicates":
        args += ["--threshold", 0.5]
    assert run(*args) == 0
    if command == "duplicates":
        assert set(cells_of(out, "id")) <= set(IDS[kind])
    else:
        assert cells_of(out, "id") == IDS[kind]


def test_row_names_in_a_first_column_without_a_name_are_text_too(tmp_path, text, run):
    body = "".join(f"{i:03d},{x},{y}\n" for i, (x, y) in enumerate(two_groups()))
    for name, header in (("u.csv", ",x,y\n"), ("r.csv", "x,y\n")):
        out = tmp_path / f"out-{name}"
        assert run("cluster", text(header + body, name), "-o", out) == 0
        assert cells_of(out, "id")[:2] == ["000", "001"]


def test_a_query_is_found_by_the_name_in_the_file(written, facts_of):
    path = written("i.csv", id=IDS["zeros"])
    facts = facts_of("rank", path, "--id", "id", "--query", "00003", "-k", 2)
    assert {line["query_id"] for line in facts["results"]} == {"00003"}


def test_classes_with_leading_zeros_are_distinguished(written, facts_of):
    path = written("c.csv", code=["01"] * 30 + ["1"] * 30)
    assert facts_of("label", path, "--label", "code")["classes"] == 2


def save_sqlite(frame, path):
    with sqlite3.connect(path) as connection:
        frame.to_sql("t", connection, index=False)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.xlsx", "t.sqlite", "t.jsonl"])
def test_other_formats_keep_text_and_numbers_as_they_hold_them(name, tmp_path, run):
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    texts = pd.array([f"{i:03d}" for i in range(60)], dtype=object)
    texts[1], texts[2] = "NA", "5e5"
    numbers = pd.array(range(60), dtype="Int64")
    if not name.endswith("xlsx"):  # spreadsheets hold 15 digits
        numbers = numbers + BIG + 1
    numbers[5] = pd.NA
    frame = pd.DataFrame(two_groups(), columns=["x", "y"]).assign(text=texts, number=numbers)
    path = tmp_path / name
    if name == "t.parquet":
        frame.to_parquet(path)
    elif name == "t.arrow":
        frame.to_feather(path)
    elif name == "t.xlsx":
        frame.to_excel(path, index=False)
    elif name == "t.sqlite":
        save_sqlite(frame, path)
    else:
        path.write_text(frame.to_json(orient="records", lines=True))
    for column, values in (("text", texts), ("number", numbers)):
        out = tmp_path / f"{column}.csv"
        assert run("cluster", path, "--id", column, "-o", out) == 0
        assert cells_of(out, "id") == ["" if pd.isna(v) else str(v) for v in values]


GERMAN = "price;b\n" + "1.234;0,5\n999;0,7\n12.345;0,9\n" * 10
ENGLISH = GERMAN.replace(",", "#").replace(".", ",").replace("#", ".")


@pytest.mark.parametrize(
    ("content", "separator"),
    [
        (GERMAN, ";"),
        (ENGLISH, ";"),
        (GERMAN.replace("price;", "price €;").replace(";0", " €;0"), ";"),
        ("price,b\n" + '"1,234",0.5\n999,0.7\n"12,345",0.9\n' * 10, ","),
        ("b;price\n" + "1.234,50;12.345\n2,5;999\n7;1.234\n" * 10, ";"),
    ],
)
def test_the_decimal_mark_is_that_of_the_whole_file(content, separator, text, read):
    _, columns = read(text(content))
    price = next(column for name, column in columns.items() if name.startswith("price"))
    assert (price["min"], price["median"], price["max"]) == (999, 1234, 12345)


def test_numbers_that_show_no_decimal_mark_are_said_aloud(text, read):
    notes, columns = read(text("a;b\n" + "1,234;5\n2,345;6\n3,456;8\n" * 10))
    assert columns["a"]["min"] == 1.234
    assert "'a': '1,234' was read as 1.234, because nothing shows the decimal mark" in notes
    assert "if it means 1234, write it so" in notes
    notes, columns = read(text('a,b\n"1,234",5\n"2,345",6\n"3,456",8\n' * 1 + '"4,567",1\n' * 20))
    assert columns["a"]["min"] == 1234
    assert "if it means 1.234" in notes


def test_columns_that_contradict_each_other_about_the_decimal_mark_are_an_error(text, error_of):
    path = text("a;b;c\n" + "1,5;1.5;1,234\n2,5;2.5;2,345\n" * 10)
    message = error_of("cluster", path)
    assert "'1,234' in column 'c' may have a decimal comma or a decimal point" in message
    path = text("a;b\n" + "1,5;1\n2.5;2\n3,5;3\n" * 10)
    assert "numbers such as '1,5', but others are written '2.5'" in error_of("cluster", path)


@pytest.mark.parametrize(
    ("content", "line", "width"),
    [
        ("a,b,c\n1,2,3,4\n" + "".join(f"{i},{i + 100},{i}\n" for i in range(59)), 2, 4),
        ("a,b,c\n" + "1,2,3\n" * 9 + "4,5\n" + "1,2,3\n" * 9, 11, 2),
        ('a,b\n1,"x\ny"\n' + "1,2\n" * 9 + "4,5,6\n", 13, 3),
        ("1,2\n" * 5 + "1\n", 6, 1),
        ("a,b\n" + "r,1,2\n" * 5 + "r,1,2,3\n", 7, 4),
    ],
)
def test_a_line_with_another_number_of_cells_is_named(content, line, width, text, error_of):
    message = error_of("cluster", text(content))
    assert f"line {line} of " in message
    assert f"has {width} cells, but other lines have" in message


def test_a_quote_that_does_not_end_is_an_error(text, error_of):
    assert "a cell of line 3 begins with" in error_of("cluster", text('a,b\n1,2\n"3,4\n5,6\n7,8\n'))


def test_a_blank_line_of_a_file_with_one_column_is_a_missing_value(text, facts_of, run, capsys):
    path = text("x\n1\n2\n\n4\n15\n")
    assert facts_of("graph", path, "--kind", "mst")["nodes"] == 5
    assert run("graph", text("x\n1\n2\n4\n\n\n"), "--kind", "mst") == 0
    assert "ignored 2 blank line(s) at the end" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["t.csv", "t.sqlite", "t.parquet", "t.jsonl", "t.npy"])
def test_integers_beyond_the_exact_ones_are_refused_with_advice(
    name, tmp_path, read, error_of, monkeypatch
):
    x = two_groups()[:, 0]
    frame = pd.DataFrame({"big": 2**62 + np.arange(60), "x": x, "y": x**2})
    path = tmp_path / name
    if name == "t.npy":
        np.save(path, 2**62 + np.arange(120).reshape(60, 2))
        for command in ("cluster", "perceive"):
            assert "would lose the last digits; leave out columns of ids" in error_of(command, path)
        return
    if name == "t.sqlite":
        save_sqlite(frame, path)
    elif name == "t.parquet":
        frame.to_parquet(path)
    elif name == "t.jsonl":
        path.write_text("\n".join(json.dumps(row) for row in frame.to_dict("records")))
    else:
        frame.to_csv(path, index=False)
    notes, _ = read(path)
    assert "'big' not used: names or free text: 60 different values" in notes
    assert "such as '4611686018427387904', which a number would not hold exactly" in notes
    message = error_of("perceive", path, "--numeric", "big", "-o", tmp_path / "n.html")
    assert "has more digits than a number holds exactly" in message


def test_dates_that_may_have_the_day_or_the_month_first_are_said_aloud(written, read):
    unclear = [f"{1 + i % 12:02d}/{1 + i % 9:02d}/2024" for i in range(60)]
    notes, _ = read(written("d.csv", day=unclear), "--date", "day")
    assert "was read as 2024-" in notes
    assert "with the month first, but no date shows whether it is; write dates as 2024-" in notes
    clear = [f"{1 + i % 28:02d}/{1 + i % 9:02d}/2024" for i in range(60)]
    notes, _ = read(written("d.csv", day=clear), "--date", "day")
    assert "was read as 2024-" not in notes


def test_two_currencies_in_one_column_are_said_aloud(written, read):
    prices = [f"$ {5 + i}" if i % 2 else f"EUR {7 + i}" for i in range(60)]
    notes, _ = read(written("p.csv", price=prices))
    assert "'price': 'EUR 7' and '$ 6' count in one unit; convert them first" in notes
    notes, _ = read(written("p.csv", price=[f"$ {5 + i}" for i in range(60)]))
    assert "one unit" not in notes


def test_values_that_an_order_leaves_out_are_named_and_count_as_missing(written, read, error_of):
    path = written("s.csv", species=["setosa", "virginica", "versicolor"] * 20)
    notes, columns = read(path, "--ordinal", "species=setosa<virginica", "--weight", "species=1")
    assert columns["species"]["missing"] == 20
    assert "'species': 20 cells count as missing: 'versicolor' (20)" in notes
    message = error_of("cluster", path, "--ordinal", "species=a<b")
    assert "the order of column 'species' of X names 'a', 'b', but none of its values" in message


def test_a_column_of_a_given_kind_is_not_said_to_be_unused_as_requested(written, read):
    codes = [str(10115 + i * 7919 % 5) for i in range(60)]
    path = written("p.csv", postcode=codes)
    notes, columns = read(path, "--categorical", "postcode")
    assert not columns["postcode"]["used"]
    assert (
        "'postcode' not used: categorical as requested; independent of every other column" in notes
    )
    notes, _ = read(path, "--ignore", "postcode")
    assert "'postcode' not used: ignored as requested" in notes


@pytest.mark.parametrize("args", [[], ["--ignore", "kind"]])
def test_an_audit_with_cosine_says_why_columns_are_not_rescaled(args, written, tmp_path, facts_of):
    path = written("c.csv", kind=["a", "b"] * 30)
    given = ["--metric", "cosine", "-o", tmp_path / "a.html", *args]
    notes = " | ".join(facts_of("audit", path, *given)["notes"])
    assert "not rescaled: cosine compares directions" in notes
    assert "scaling: none" not in notes
    assert "rescaled, as requested" not in notes


@pytest.mark.parametrize("name", [None, "who"])
def test_labels_of_perceive_are_compared_with_those_of_other_commands(
    name, written, tmp_path, run, facts_of
):
    columns = {"who": [f"{i:03d}" for i in range(60)]} if name else {}
    path = written("t.csv", **columns, group=["a"] * 30 + ["b"] * 29 + [""])
    labels, model = tmp_path / "labels.csv", tmp_path / "m.vicinal"
    common = ["--ignore", "group", "--clusters", 2, "--sample", 50, "-o", tmp_path / "r.html"]
    given = ["--id", name] if name else []
    assert run("perceive", path, *given, *common, "--labels", labels, "--save", model) == 0
    # assign knows from the model which column has the names.
    for command, *args in (
        ["assign", path, "--model", model],
        ["label", path, *given, "--label", "group"],
        ["cluster", path, *given, "--ignore", "group", "--clusters", 2],
    ):
        out = tmp_path / f"{command}.csv"
        assert run(command, *args, "-o", out) == 0
        facts = facts_of("compare", labels, out)
        assert (facts["n_rows"], facts["n_only_before"], facts["n_only_after"]) == (60, 0, 0)
        assert facts["adjusted_rand"] == 1.0
