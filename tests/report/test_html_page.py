"""The report as a file: complete, self-contained, safe, and consistent with the result."""

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

from vicinal.report._html.elements import html_table, text
from vicinal.report._html.figures import Curve, histogram, line_chart, ticks
from vicinal.report._html.page import render
from vicinal.report._json import to_json
from vicinal.report._tables import Column, Table, clusters, describe_features, label_scores

VOID = {"base", "meta", "link", "input", "br", "img"}


class Page(HTMLParser):
    """Tags in order, their ids and links; checks that tags nest."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.ids, self.links = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.ids += [value for name, value in attributes if name == "id"]
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def data_of(page):
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(match.group(1))


def unpack(text, dtype):
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


@pytest.mark.parametrize("name", ["iris", "digits", "half-cylinders"])
def test_the_page_is_well_formed_and_self_contained(name, perception):
    page = render(perception(name))
    parsed = Page(page)
    assert parsed.open == []
    assert len(set(parsed.ids)) == len(parsed.ids)
    for link in parsed.links:
        assert link.startswith(("#", "data:"))
        if link.startswith("#"):
            assert link[1:] in parsed.ids
    assert "http:" not in page
    assert "https:" not in page
    assert "$" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)


def test_every_figure_has_a_caption(perception):
    page = render(perception("iris"))
    for figure in re.findall(r"<figure.*?</figure>", page, re.S):
        caption = re.search(r"<figcaption>(.*?)</figcaption>", figure, re.S)
        assert caption
        assert re.sub("<.*?>", "", caption.group(1)).strip().endswith(".")


def test_the_data_of_the_page_are_those_of_the_result(perception):
    result = perception("iris")
    data = data_of(render(result))
    assert data["n"] == 150
    assert data["ids"] == result.data.ids
    colours = {colour["name"]: colour for colour in data["colours"]}
    np.testing.assert_array_equal(unpack(colours["cluster"]["codes"], "u1"), result.labels + 1)
    assert colours["known species"]["names"] == ["setosa", "versicolor", "virginica"]
    assert {
        "noise score",
        "petal length (cm)",
        f"cluster by {result.clusters.other_method}",
    } <= set(colours)
    score = colours["noise score"]
    np.testing.assert_allclose(unpack(score["values"], "<f4"), result.noise_score, rtol=1e-6)
    for entry in data["maps"]:
        coordinates = result.maps.coordinates[entry["name"]]
        for axis, values in zip("xy", coordinates.T, strict=True):
            span = np.ptp(values)
            restored = unpack(entry[axis], "<u2") / 65535 * span + values.min()
            np.testing.assert_allclose(restored, values, atol=span * 1e-5)
    nearest = unpack(data["nearest"]["rows"], "<u4").reshape(150, data["nearest"]["k"])
    np.testing.assert_array_equal(nearest, result.neighborhoods.nearest)


def test_a_sampled_report_says_so(perception):
    assert "when 200 rows are perturbed" in render(perception("digits"))


def test_thumbnails_are_on_one_sheet(perception):
    from io import BytesIO

    image = pytest.importorskip("PIL.Image")
    result = perception("digits")
    sprites = data_of(render(result))["sprites"]
    sheet = image.open(BytesIO(base64.b64decode(sprites["source"].partition(",")[2])))
    pixels = np.asarray(sheet)
    row, column = divmod(100, sprites["columns"])
    thumbnail = pixels[8 * row : 8 * row + 8, 8 * column : 8 * column + 8]
    np.testing.assert_array_equal(thumbnail, np.round(result.data.images[100] * 255 / 16))


def test_the_last_section_says_how_to_reproduce_the_report(perception):
    result = perception("iris")
    page = render(result)
    reproduce = page.partition('id="reproduce"')[2]
    assert text(result.snippet()) in reproduce
    assert "random_state=0" in reproduce
    for package in ("vicinal", "numpy", "scikit-learn", "numba"):
        assert package in reproduce


def test_content_of_a_table_cannot_become_a_script():
    import vicinal

    rng = np.random.default_rng(0)
    evil = "</script><script>alert(1)</script>"
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rng.normal(size=(40, 2)), columns=[evil, "b"])
    frame["name"] = [f'{evil}"{i}' for i in range(40)]
    frame["kind"] = [evil, "other"] * 20
    page = render(vicinal.perceive(frame, ids="name", labels="kind", n_clusters=1))
    assert evil not in page
    assert "<script>alert" not in page
    assert data_of(page)["ids"][3] == f'{evil}"3'
    Page(page)


def test_the_file_is_written_atomically(perception, tmp_path, monkeypatch):
    from pathlib import Path

    result = perception("iris")
    path = result.to_html(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    path.write_text("old")

    def fail(self, content, **keywords):
        with open(self, "w") as file:
            file.write(content[:100])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(KeyboardInterrupt):
        result.to_html(path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_an_error_names_the_missing_folder(perception, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist; create it"):
        perception("iris").to_html(tmp_path / "nowhere" / "report.html")


def test_print_uses_no_colour_of_the_dark_theme():
    sheet = (files("vicinal.report._html") / "template" / "report.css").read_text(encoding="utf-8")
    screen, _, paper = sheet.partition("@media print")
    themed = re.findall(r"[^{}]*dark[^{}]*\{([^{}]*)\}", screen)
    dark = set(re.findall(r"(--\w+):", "".join(themed)))
    (light,) = re.findall(r":root:root:root \{([^}]*)\}", paper)
    assert {"--ground", "--accent", "--noise"} <= dark
    assert dark <= set(re.findall(r"(--\w+):", light))
    assert "color-scheme: light" in light


class Frame(HTMLParser):
    """The attributes of the one element of a text, an iframe without content."""

    def __init__(self, markup):
        super().__init__()
        self.found = []
        self.feed(markup)
        self.close()
        (self.attributes,) = self.found
        assert markup.endswith("></iframe>")

    def handle_starttag(self, tag, attributes):
        assert tag == "iframe"
        assert len(dict(attributes)) == len(attributes)
        self.found.append(dict(attributes))

    def handle_data(self, data):
        raise AssertionError(f"outside the frame: {data[:80]}")


def inline_page(result):
    return Frame(result._repr_html_()).attributes["srcdoc"]


def without_base(page):
    """A page without the address that its links to sections need in a frame."""
    base = '<base href="about:srcdoc">\n'
    assert page.count(base) == 1
    return page.replace(base, "")


def test_a_notebook_shows_the_page_in_a_frame_that_cannot_reach_it(perception):
    result = perception("iris")
    frame = Frame(result._repr_html_())
    assert set(frame.attributes) == {"srcdoc", "title", "sandbox", "style"}
    assert set(frame.attributes["sandbox"].split()) == {"allow-scripts", "allow-downloads"}
    assert "height:720px" in frame.attributes["style"]
    assert without_base(frame.attributes["srcdoc"]) == render(result)


@pytest.mark.parametrize("analyse", ["perceive", "audit"])
def test_names_of_a_table_cannot_leave_the_frame(analyse):
    import vicinal

    evil = '\'"></iframe><script>alert(1)</script>&quot; onload="alert(2)'
    X = np.random.default_rng(0).normal(size=(60, 2))
    table = {f"a {evil}": X[:, 0], "b": X[:, 1], "kind": [evil, "other"] * 30}
    result = getattr(vicinal, analyse)(table, labels="kind")
    result = replace(result, origin=result.origin._replace(title=f"{evil}.csv"))
    frame = Frame(result._repr_html_())
    assert evil in frame.attributes["title"]
    page = without_base(frame.attributes["srcdoc"])
    assert page == result._page()
    assert "<script>alert" not in page


@pytest.mark.parametrize("limit", ["MAX_INLINE_SIZE", "MAX_INLINE_ROWS"])
def test_a_large_page_in_a_notebook_has_no_map(limit, perception, monkeypatch):
    monkeypatch.setattr(f"vicinal.report._html.page.{limit}", 100)
    page = inline_page(perception("iris"))
    parsed = Page(page)
    assert {"glance", "full", "clusters", "reproduce"} <= set(parsed.ids)
    assert "map" not in parsed.ids
    assert data_of(page) is None
    assert "canvas" not in re.sub("<style>.*?</style>", "", page, flags=re.S)


# Each table is defined once and rendered three times


def test_a_table_has_the_same_figures_on_the_page_in_the_terminal_and_in_json(perception):
    result = perception("iris")
    page, summary, facts = render(result), result.summary(), to_json(result)
    for name, make in (("sizes", clusters), ("scores", label_scores)):
        table = make(result)
        assert [set(record) for record in facts[name]] == [
            {column.key for column in table.columns} for _ in table.records
        ]
        for column in table.columns:
            if column in table.shown_columns:
                assert f">{text(column.heading)}</th>" in page
                assert column.heading in summary
            for record, fact in zip(table.records, facts[name], strict=True):
                assert fact[column.key] == record[column.key]
                if column.kind in ("number", "text"):
                    assert text(column.text(record)) in page
                    assert column.text(record) in summary


# Elements


def test_columns_near_the_mean_do_not_distinguish_a_cluster():
    columns = [{"column": "a", "z_score": -0.04}, {"column": "b", "z_score": 0.1}]
    assert describe_features(columns) == "near the mean in every column"
    columns.append({"column": "c", "z_score": -1.25})
    assert describe_features(columns) == "c low (-1.2)"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (-3, 12, [0, 5, 10]), (5, 5, [5])],
)
def test_ticks_are_round_and_within_the_range(low, high, expected):
    np.testing.assert_allclose(ticks(low, high), expected, atol=1e-12)


def test_logarithmic_ticks_are_powers_of_ten_and_round_values_between_them():
    np.testing.assert_allclose(ticks(0.4, 6.0, log=True), [0.5, 1, 2, 5])
    np.testing.assert_allclose(ticks(1, 1e4, log=True), [1, 10, 100, 1000, 10000])


def test_curves_pass_through_their_points():
    chart = line_chart([Curve("a", np.array([0.0, 1.0]), np.array([0.0, 2.0]))], "x", "y & z")
    assert "y &amp; z" in chart
    (path,) = re.findall(r'polyline points="([^"]*)"', chart)
    (x0, y0), (x1, y1) = (map(float, pair.split(",")) for pair in path.split())
    assert x0 < x1
    assert y0 > y1  # pixel rows are counted from the top


def test_histogram_bars_count_all_values():
    values = np.random.default_rng(0).integers(0, 12, 300)
    counts = [int(c) for c in re.findall(r": (\d+)</title>", histogram(values, "x"))]
    assert sum(counts) == 300
    assert counts == np.bincount(values).tolist()


def test_cells_are_escaped_and_markup_is_not():
    columns = [Column("a", "<b>", "{}", "text"), Column("cluster", "", kind="cluster")]
    page = html_table(Table(columns, [{"a": "<i>", "cluster": 3}], "A <caption>."))
    for escaped in ("&lt;b&gt;", "&lt;i&gt;", "A &lt;caption&gt;."):
        assert escaped in page
    assert '<span class="chip k3" data-cluster="3">cluster 3</span>' in page


def test_long_texts_wrap_and_have_headings_where_cells_are_stacked():
    column = Column("words", 'a "heading"', "{}", "text")
    table = Table([column], [{"words": "many words"}], "caption")
    assert '<td data-heading="a &quot;heading&quot;">many words</td>' in html_table(
        table, has_long_texts=True
    )
    assert "data-heading" not in html_table(table)


def test_a_column_of_empty_texts_is_not_shown_but_is_in_the_json():
    columns = [Column("rows", "rows"), Column("note", "note", "{}", "text")]
    empty, mixed = [{"rows": 1, "note": ""}], [{"rows": 1, "note": ""}, {"rows": 2, "note": "odd"}]
    assert "note" not in html_table(Table(columns, empty, ""))
    assert Table(columns, empty, "").to_json() == empty
    assert "note" in html_table(Table(columns, mixed, ""))
    assert "note" in html_table(Table(columns, [], ""))
