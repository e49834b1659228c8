"""Pages from outside the docs folder: benchmark results, changes, contributing.

They are copied at each build, and links that leave the docs are changed to the copies. So every link works
both here and on a code host.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/results/*.md")
FOLDER = "generated/outside"
# Links to the folder of the example scripts lead to the gallery.
GALLERY = "examples", "generated/gallery/index.rst"
LINK = re.compile(r"\]\((?!https?:|#|/)([^)#\s]+\.md|[./]*examples)(#[^)\s]*)?\)")


def copy_pages(app: Any, config: Any) -> None:
    docs = Path(app.srcdir)
    root = docs.parent
    for page in sorted(path for pattern in OUTSIDE for path in root.glob(pattern)):
        copied = docs / FOLDER / page.relative_to(root)
        copied.parent.mkdir(parents=True, exist_ok=True)
        text = with_links(page.read_text(encoding="utf-8"), page, docs)
        # Unchanged pages are not rebuilt.
        if not copied.exists() or copied.read_text(encoding="utf-8") != text:
            copied.write_text(text, encoding="utf-8")


def with_links(text: str, page: Path, docs: Path) -> str:
    """The text of a page with links to Markdown files changed to their location in the docs."""

    def new_link(link: re.Match) -> str:
        target = Path(os.path.normpath(page.parent / link[1]))
        inside = target.is_relative_to(docs)
        if inside and page.is_relative_to(docs):
            return link[0]
        location = target.relative_to(docs if inside else docs.parent)
        if not inside:
            location = Path(GALLERY[1]) if location == Path(GALLERY[0]) else FOLDER / location
        return f"](/{location.as_posix()}{link[2] or ''})"

    return LINK.sub(new_link, text)


def rewrite_links(app: Any, name: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(name))
    if page.suffix == ".md" and not name.startswith("generated/"):
        source[0] = with_links(source[0], page, Path(app.srcdir))


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", copy_pages)
    app.connect("source-read", rewrite_links)
    return {"parallel_read_safe": True}
