"""The report as one HTML file that asks nothing of the network."""

from __future__ import annotations

import json
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from vicinal import __version__
from vicinal.report._html import appendix, sections
from vicinal.report._html.data import payload
from vicinal.report._html.elements import Html, section, sentence, text
from vicinal.report._summary_text import CLUSTERING, title

if TYPE_CHECKING:
    from vicinal.report.result import Perception

# The steps that a section shows; the map has one view that needs none of them.
STEPS_OF = {
    "clusters": CLUSTERING,
    "agreement": CLUSTERING,
    "noise": CLUSTERING,
    "rows": (*CLUSTERING, "typical and odd rows"),
    "similarity": ("smoothing",),
    "graphs": ("graphs compared",),
    "neighbours": ("neighbour structure",),
    "labels": ("scores against labels",),
}
SCRIPTS = ("colours.js", "scatter.js", "report.js")


def render(found: Perception) -> str:
    """The whole page."""
    parts = [
        ("map", "Map", part_of_template("map.html")),
        ("clusters", "Clusters", sections.clusters(found)),
        ("rows", "Rows", sections.exemplars(found)),
        ("noise", "Noise", sections.noise(found)),
        ("similarity", "Similarity", sections.similarity(found)),
        ("graphs", "Graphs", appendix.graphs(found)),
        ("neighbours", "Neighbours", appendix.neighbours(found)),
        ("columns", "Columns", appendix.columns(found)),
        ("again", "Again", appendix.again(found)),
    ]
    if found.n_clusters > 1:
        parts.insert(2, ("agreement", "Agreement", sections.agreement(found)))
    if found.scores is not None:
        parts.insert(-2, ("labels", "Labels", appendix.labels(found)))
    parts = [(anchor, name, _or_failure(found, anchor, name, part)) for anchor, name, part in parts]
    links = "".join(f'<a href="#{anchor}">{name}</a>' for anchor, name, _ in parts)
    # "<" inside a script could end it.
    data = json.dumps(payload(found), separators=(",", ":"), allow_nan=False).replace(
        "<", "\\u003c"
    )
    return Template(part_of_template("report.html")).substitute(
        title=text(title(found)),
        name=text(found.origin.title),
        version=text(__version__),
        style=part_of_template("report.css"),
        navigation=links,
        glance=sections.glance(found),
        body="".join(part for _, _, part in parts),
        data=data,
        script="\n".join(map(part_of_template, SCRIPTS)),
    )


def _or_failure(found: Perception, anchor: str, name: str, part: Html) -> Html:
    """A section, or why there is none."""
    failure = found.failure(*STEPS_OF.get(anchor, ()))
    return part if failure is None else section(anchor, name, sentence(failure))


def part_of_template(name: str) -> Html:
    """A file of the template."""
    return Html((files("vicinal.report._html") / "template" / name).read_text(encoding="utf-8"))
