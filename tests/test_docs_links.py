"""Documentation pages are complete: link targets exist, formulas render, and no placeholder is left."""

import inspect
import re
import runpy
from pathlib import Path

import pytest

import vicinal

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Links and images in Markdown, and images in HTML; a title may follow the address.
LINK = re.compile(r"\]\(([^)\s]+)[^)]*\)|<img[^>]*\ssrc=\"([^\"]+)\"")
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:|#|/")
PLACEHOLDER = re.compile(r"^\s*[A-Z][A-Z0-9_]+\s*$", re.M)

every_page = pytest.mark.parametrize(
    "page",
    [page for page in PAGES if "generated" not in page.parts],
    ids=lambda page: str(page.relative_to(ROOT)),
)


def missing_targets(page):
    """Relative links of a page to files that do not exist."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    targets = [link or image for link, image in LINK.findall(text)]
    files = [target.partition("#")[0] for target in targets if not EXTERNAL.match(target)]
    return [name for name in files if not (page.parent / name).exists()]


def missing_anchors(page):
    """Links of a page to headings that do not exist."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    wrong = []
    for target, _ in LINK.findall(text):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if anchor and not re.match(r"[a-z]+:", target) and file.suffix == ".md":
            titles = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), flags=re.M)
            # The anchors of GitHub and Sphinx: words in lower case, joined by hyphens.
            slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            wrong += [] if anchor in slugs else [target]
    return wrong


@every_page
def test_targets_of_relative_links_and_images_exist(page):
    assert missing_targets(page) == []


@every_page
def test_links_to_headings_have_a_target(page):
    assert missing_anchors(page) == []


@every_page
def test_formulas_can_be_rendered(page):
    latex2mathml = pytest.importorskip("docutils.utils.math.latex2mathml")
    text = re.sub(r"^```.*?^```|^    .*?$|`[^`]*`", "", page.read_text("utf-8"), flags=re.M | re.S)
    for block, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$]+?)\$", text, flags=re.S):
        latex2mathml.tex2mathml(block or inline)


def test_the_api_reference_has_a_page_for_every_public_package():
    pages = runpy.run_path(str(ROOT / "docs" / "_ext" / "api_pages.py"))["PACKAGES"]
    packages = {name for name in vicinal.__all__ if inspect.ismodule(getattr(vicinal, name))}
    assert set(pages) == packages
    listed = re.findall(r"generated/api/(\w+)", (ROOT / "docs" / "api.md").read_text("utf-8"))
    assert set(listed) == packages | {"vicinal"}


@every_page
def test_no_placeholder_is_left(page):
    assert PLACEHOLDER.findall(page.read_text(encoding="utf-8")) == []


def test_missing_targets_and_placeholders_are_detected(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('[a](page.md#top) [b](https://x.org/y) ![c](no.png "t") <img src="none.svg">')
    assert missing_targets(page) == ["no.png", "none.svg"]
    page.write_text("# A title, with `code`\n\n[a](page.md#a-title-with-code) [b](#title)")
    assert missing_anchors(page) == ["#title"]
    assert PLACEHOLDER.search("Words.\n\nTABLE1\n\nMore.")
    assert not PLACEHOLDER.search("Words about\nTABLE1 and more.")


@pytest.mark.parametrize("page", ["cheat-sheet.md", "llms.txt"])
def test_names_on_pages_without_examples_exist(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    names = set(re.findall(r"\b(?:vicinal|graphs)(?:\.[A-Za-z_]+)+(?=[(`])", text))
    assert len(names) > 10
    for name in names:
        target = vicinal
        for part in name.removeprefix("vicinal.").split("."):
            target = getattr(target, part)
