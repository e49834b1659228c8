"""``vicinal explore``: what is served, and what is refused before any work."""

import json
import urllib.error
import urllib.request
import webbrowser

import pytest

pd = pytest.importorskip("pandas")

from vicinal.report import Explorer  # noqa: E402


@pytest.fixture
def served(monkeypatch):
    """Content of the page while it is served, and addresses that a browser was opened with."""
    pages, opened = [], []

    def read(explorer):
        with urllib.request.urlopen(explorer.url) as response:
            pages.append(response.read().decode())
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{explorer.port}/")
        raise KeyboardInterrupt

    monkeypatch.setattr(Explorer, "wait", read)
    monkeypatch.setattr(webbrowser, "open", opened.append)
    return pages, opened


def test_a_table_is_analysed_and_served_until_interrupted(table, run, served, capsys):
    assert run("explore", table, "--clusters", "2", "--sample", "50") == 0
    pages, opened = served
    assert '"array/0"' in pages[0]
    assert "vicinal explore" in pages[0]
    url = capsys.readouterr().out.splitlines()[0]
    assert url.startswith("http://127.0.0.1:")
    assert len(opened) == 1
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url)


def test_a_report_is_served_as_it_is(table, run, served, tmp_path):
    report = tmp_path / "report.html"
    assert run("perceive", table, "--clusters", "2", "--sample", "50", "-o", report) == 0
    assert run("explore", report, "--no-browser") == 0
    pages, opened = served
    assert pages == [report.read_text(encoding="utf-8")]
    assert opened == []


def test_another_page_is_refused(error_of, served, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<script>alert(1)</script>")
    assert "is not a report of vicinal" in error_of("explore", page)
    assert served == ([], [])


@pytest.mark.parametrize("change", ["another script", "one more script"])
def test_a_page_with_our_generator_tag_runs_no_script_of_its_own(
    change, table, run, error_of, served, tmp_path, capsys
):
    report = tmp_path / "report.html"
    assert run("perceive", table, "--clusters", "2", "--sample", "50", "-o", report) == 0
    capsys.readouterr()
    text = report.read_text(encoding="utf-8")
    if change == "another script":
        report.write_text(
            text.replace('"use strict";', '"use strict"; alert(1);'), encoding="utf-8"
        )
        assert "does not have the script of this version" in error_of("explore", report)
        assert served == ([], [])
    else:
        report.write_text(
            text.replace("<body>", "<body><script>alert(1)</script>"), encoding="utf-8"
        )
        policies = []
        read = Explorer.wait

        def keep_policy(explorer):
            with urllib.request.urlopen(explorer.url) as response:
                policies.append(response.headers["Content-Security-Policy"])
            read(explorer)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Explorer, "wait", keep_policy)
            assert run("explore", report, "--no-browser") == 0
        # The page holds two scripts, and the policy allows one, by its digest.
        assert policies[0].count("sha256-") == 1
        assert "unsafe" not in policies[0].partition("script-src")[2].partition(";")[0]


def test_a_missing_report_is_an_error(error_of, tmp_path):
    assert "none.html" in error_of("explore", tmp_path / "none.html")


def test_a_port_out_of_range_is_an_error_that_names_the_option(table, error_of):
    args = ("explore", table, "--clusters", "2", "--sample", "50", "--port", "70000")
    assert "--port" in error_of(*args)


def test_the_address_is_part_of_the_json_output(table, run, served, capsys):
    assert run("explore", table, "--clusters", "2", "--sample", "50", "--no-browser", "--json") == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert json.loads(first)["url"].startswith("http://127.0.0.1:")
    assert json.loads("\n".join(rest) or "{}") == {}


def test_a_saved_model_is_refused_with_advice(error_of, served, tmp_path):
    model = tmp_path / "kept.vicinal"
    model.write_bytes(b"")
    message = error_of("explore", model)
    assert "is a saved model" in message
    assert "vicinal assign NEW.csv --model" in message
