"""Pieces of a page: tables, figures with a sentence, and chips in the colour of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from vicinal.report._summary_text import cluster_name


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def text(value: Any) -> Html:
    """Anything as markup: what is not markup yet is escaped, so that no id can become a script."""
    return value if isinstance(value, Html) else Html(escape(str(value), quote=True))


def section(anchor: str, heading: str, *parts: str) -> Html:
    """A part of the page with an address."""
    return Html(f'<section id="{anchor}"><h2>{text(heading)}</h2>{"".join(parts)}</section>')


def sentence(words: str) -> Html:
    """A paragraph."""
    return Html(f"<p>{text(words)}</p>")


def figure(content: str, caption: str, wide: bool = False) -> Html:
    """A figure, and the sentence that says what it shows."""
    kind = ' class="wide"' if wide else ""
    return Html(f"<figure{kind}>{content}<figcaption>{text(caption)}</figcaption></figure>")


def row_of(*figures: str) -> Html:
    """Figures side by side where there is room."""
    return Html(f'<div class="figures">{"".join(figures)}</div>')


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str) -> Html:
    """A table that scrolls by itself on narrow screens; numbers to the right."""
    names = "".join(f"<th>{text(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return Html(
        f'<figure class="wide"><div class="scroll"><table><thead><tr>{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div><figcaption>{text(caption)}</figcaption></figure>"
    )


def chip(label: int) -> Html:
    """The name of a cluster in its colour."""
    kind = "noise" if label < 0 else f"k{label % 12}"
    return Html(f'<span class="chip {kind}">{cluster_name(label)}</span>')


def bar(share: float, label: int) -> Html:
    """A bar as long as a share."""
    kind = "noise" if label < 0 else f"k{label % 12}"
    return Html(f'<span class="bar {kind}" style="width:{100 * share:.1f}%"></span>')


def shade(value: Any, share: float) -> Html:
    """A number on a ground whose colour is stronger the larger the share."""
    return Html(f'<span class="shade" style="--share:{share:.3f}">{text(value)}</span>')


def row_link(row: int, name: str) -> Html:
    """A row that can be shown in the map."""
    return Html(f'<button type="button" class="row" data-row="{row}">{text(name)}</button>')


def _cell(value: Any) -> str:
    is_number = not isinstance(value, Html) and str(value)[:1] in "0123456789-+."
    return f"<td{' class=n' if is_number else ''}>{text(value)}</td>"
