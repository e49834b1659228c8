"""Link API names in the text of pages to the reference.

Pages are plain Markdown, so that code hosts render them too. A name in backticks becomes a link here if it
is unambiguous.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode

# `SelfSmoothing(t="auto")`, `graphs.knn`, `vicinal.plot.graph`
NAME = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?")
# Where a name is looked up: as it is, in the package, and among graphs.
PREFIXES = ("", "vicinal.", "vicinal.graphs.")


def link_names(app: Any, doctree: Any, page: str) -> None:
    if page.startswith("generated/api"):
        return
    objects = app.env.domains["py"].objects
    for literal in list(doctree.findall(nodes.literal)):
        name = NAME.fullmatch(literal.astext())
        if not name or isinstance(literal.parent, (nodes.reference, nodes.title)):
            continue
        target = next((objects[p + name[1]] for p in PREFIXES if p + name[1] in objects), None)
        if target:
            link = make_refnode(
                app.builder, page, target.docname, target.node_id, literal.deepcopy()
            )
            literal.parent.replace(literal, link)


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
