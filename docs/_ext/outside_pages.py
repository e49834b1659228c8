"""Pages from outside the folder of the docs: figures of the benchmarks, changes, how to contribute.

They are copied at each build, and links that lead out of the docs lead to the copies. So every link
works both here and where a code host shows the files themselves.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/results/*.md")
FOLDER = "generated/outside"
# The folder of the gallery's scripts stands for the gallery.
GALLERY = "examples", "generated/gallery/index.rst"
LINK = re.compile(r"\]\((?!https?:|#|/)([^)#\s]+\.md|[./]*examples)(#[^)\s]*)?\)")


def copy_pages(app: Any, config: Any) -> None:
    docs = Path(app.srcdir)
    root = docs.parent
    for page in sorted(path for pattern in OUTSIDE for path in root.glob(pattern)):
        copy = docs / FOLDER / page.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = with_links(page.read_text(encoding="utf-8"), page, docs)
        # An unchanged page is not built again.
        if not copy.exists() or copy.read_text(encoding="utf-8") != text:
            copy.write_text(text, encoding="utf-8")


def with_links(text: str, page: Path, docs: Path) -> str:
    """The text of a page, its links to Markdown files leading to where the docs have them."""

    def moved(link: re.Match) -> str:
        target = Path(os.path.normpath(page.parent / link[1]))
        inside = target.is_relative_to(docs)
        if inside and page.is_relative_to(docs):
            return link[0]
        place = target.relative_to(docs if inside else docs.parent)
        if not inside:
            place = Path(GALLERY[1]) if place == Path(GALLERY[0]) else FOLDER / place
        return f"](/{place.as_posix()}{link[2] or ''})"

    return LINK.sub(moved, text)


def rewrite_links(app: Any, name: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(name))
    if page.suffix == ".md" and not name.startswith("generated/"):
        source[0] = with_links(source[0], page, Path(app.srcdir))


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", copy_pages)
    app.connect("source-read", rewrite_links)
    return {"parallel_read_safe": True}
