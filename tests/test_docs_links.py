"""Documentation pages are complete: link targets exist, and no placeholder is left."""

import re
from pathlib import Path

import pytest

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


@every_page
def test_targets_of_relative_links_and_images_exist(page):
    assert missing_targets(page) == []


@every_page
def test_no_placeholder_is_left(page):
    assert PLACEHOLDER.findall(page.read_text(encoding="utf-8")) == []


def test_missing_targets_and_placeholders_are_detected(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('[a](page.md#top) [b](https://x.org/y) ![c](no.png "t") <img src="none.svg">')
    assert missing_targets(page) == ["no.png", "none.svg"]
    assert PLACEHOLDER.search("Words.\n\nTABLE1\n\nMore.")
    assert not PLACEHOLDER.search("Words about\nTABLE1 and more.")
