"""The report as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, TypeAlias

from vicinal import __version__
from vicinal.report._html import appendix, sections
from vicinal.report._html.colours import Pack, in_base64
from vicinal.report._html.data import payload
from vicinal.report._html.elements import Html, paragraph, section, text
from vicinal.report._summary_text import CLUSTERING, title

if TYPE_CHECKING:
    from vicinal.report.result import Perception

# The steps that each section depends on; one of the maps depends on none.
STEPS_BY_SECTION = {
    "clusters": CLUSTERING,
    "explanations": (*CLUSTERING, "explanations"),
    "agreement": CLUSTERING,
    "noise": CLUSTERING,
    "rows": (*CLUSTERING, "typical and atypical rows"),
    "neighbours": ("neighbour structure",),
    "labels": ("scores against labels",),
}
# Concatenated to one script in this order.
SCRIPTS = (
    "packed.js",
    "elements.js",
    "colours.js",
    "scatter.js",
    "selection.js",
    "summary.js",
    "names.js",
    "rows.js",
    "pointers.js",
    "report.js",
)
# Characters of a page that is shown in a notebook, which stores it.
MAX_INLINE_SIZE = 1_000_000
# Tables of more rows have longer pages, so that making the page would only take time.
MAX_INLINE_ROWS = 15_000
# Without a base, links to sections would resolve against the address of the notebook.
BASE = '<base href="about:srcdoc">'
# Scripts of the page run, but cannot reach the notebook; selected rows can be exported.
SANDBOX = "allow-scripts allow-downloads"
FULL_REPORT = (
    '<section id="full"><p>The map of this table is too large to show here. Write the full report with '
    '<code>to_html("report.html")</code>, or open it with <code>vicinal.report.explore</code>.</p></section>'
)
# Anchor, name in the navigation, and content.
Section: TypeAlias = tuple[str, str, Html]


def render(
    result: Perception,
    *,
    pack: Pack = in_base64,
    max_values: int | None = None,
    requests: str = "'none'",
) -> str:
    """The whole page.

    ``pack`` and ``max_values`` are those of the data; ``requests`` is where the page may fetch data from, as
    a source of a content security policy.
    """
    page_sections = [("map", "Map", template_file("map.html")), *_sections(result)]
    # "</script>" in the data would end the script element.
    data = json.dumps(payload(result, pack, max_values), separators=(",", ":"), allow_nan=False)
    return _fill(
        result,
        page_sections,
        data=data.replace("<", "\\u003c"),
        script=page_script(),
        requests=requests,
    )


def render_inline(result: Perception) -> str:
    """An iframe with the page for notebooks; the page of a large table has no map."""
    page = render(result) if len(result.labels) <= MAX_INLINE_ROWS else None
    if page is None or len(page) > MAX_INLINE_SIZE:
        page = _fill(result, [("full", "Full report", Html(FULL_REPORT)), *_sections(result)])
    return in_frame(page, f"Report on {title(result)}")


def in_frame(page: str, label: str) -> str:
    """An iframe with a page, whose scripts cannot reach the page around it."""
    page = page.replace("<head>\n", f"<head>\n{BASE}\n", 1)
    return (
        f'<iframe srcdoc="{escape(page, quote=True)}" title="{text(label)}" sandbox="{SANDBOX}" '
        'style="width:100%;height:720px;border:1px solid #8884;border-radius:8px"></iframe>'
    )


def _sections(result: Perception) -> list[Section]:
    """Anchor, name and content of every section after the map."""
    page_sections = [
        ("clusters", "Clusters", sections.clusters(result)),
        ("rows", "Rows", sections.exemplars(result)),
        ("noise", "Noise", sections.noise(result)),
        ("neighbours", "Neighbours", appendix.neighbours(result)),
        ("columns", "Columns", appendix.columns(result)),
        ("reproduce", "Reproduce", appendix.reproduce(result)),
    ]
    if result.n_clusters > 1:
        explained = sections.explanations(result)
        page_sections.insert(1, ("explanations", "Explanations", explained))
        page_sections.insert(2, ("agreement", "Agreement", sections.agreement(result)))
    if result.scores is not None:
        page_sections.insert(-2, ("labels", "Labels", appendix.labels(result)))
    return [
        (anchor, name, _or_failure(result, anchor, name, content))
        for anchor, name, content in page_sections
    ]


def _fill(
    result: Perception,
    page_sections: list[Section],
    *,
    data: str = "null",
    script: str = "",
    requests: str = "'none'",
) -> str:
    return fill_page(
        page_sections,
        title=title(result),
        name=result.origin.title,
        glance=sections.glance(result),
        data=data,
        script=script,
        requests=requests,
    )


def fill_page(
    page_sections: list[Section],
    *,
    title: str,
    name: str,
    glance: Html,
    data: str = "null",
    script: str = "",
    requests: str = "'none'",
) -> str:
    """A page of sections, with links to them."""
    links = "".join(f'<a href="#{anchor}">{name}</a>' for anchor, name, _ in page_sections)
    return Template(template_file("report.html")).substitute(
        title=text(title),
        name=text(name),
        version=text(__version__),
        policy=text(page_policy(script, requests)),
        style=template_file("report.css"),
        navigation=links,
        glance=glance,
        body="".join(content for _, _, content in page_sections),
        data=data,
        script=script,
    )


def page_script() -> str:
    """The one script of all pages with a map."""
    return "\n".join(['\n"use strict";', *map(template_file, SCRIPTS)])


def page_policy(script: str, requests: str) -> str:
    """Content security policy: no script but that of the page runs, and no request goes anywhere else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        f"connect-src {requests}; form-action 'none'"
    )


def _or_failure(result: Perception, anchor: str, name: str, content: Html) -> Html:
    """A section, or why it is missing."""
    failure = result.failure(*STEPS_BY_SECTION.get(anchor, ()))
    return content if failure is None else section(anchor, name, paragraph(failure))


def template_file(name: str) -> Html:
    """Content of a template file."""
    return Html((files("vicinal.report._html") / "template" / name).read_text(encoding="utf-8"))
