"""Elements of the page: sections, figures with captions, tables, cluster chips."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from vicinal.report._tables import cluster_name

if TYPE_CHECKING:
    from vicinal.report._tables import Column, Record, Table

N_COLOURS = 12


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def text(value: Any) -> Html:
    """Anything as markup; whatever is not `Html` is escaped, so that no id can inject a script."""
    return value if isinstance(value, Html) else Html(escape(str(value), quote=True))


def section(anchor: str, heading: str, *parts: str) -> Html:
    """A section of the page with an anchor."""
    return Html(f'<section id="{anchor}"><h2>{text(heading)}</h2>{"".join(parts)}</section>')


def paragraph(content: str) -> Html:
    """A paragraph."""
    return Html(f"<p>{text(content)}</p>")


def figure(content: str, caption: str) -> Html:
    """A figure with its caption."""
    return Html(f"<figure>{content}<figcaption>{text(caption)}</figcaption></figure>")


def side_by_side(*figures: str) -> Html:
    """Figures next to each other on wide screens."""
    return Html(f'<div class="figures">{"".join(figures)}</div>')


def html_table(table: Table, ids: Sequence[str] = (), has_long_texts: bool = False) -> Html:
    """A table; ``ids`` are names for "row" columns.

    On narrow screens it scrolls horizontally; with long texts, cells wrap and are stacked.
    """
    columns = table.shown_columns
    head = "".join(f"<th{_alignment(column)}>{text(column.heading)}</th>" for column in columns)
    attributes = {
        column.key: _alignment(column) + (_heading(column) if has_long_texts else "")
        for column in columns
    }
    largest = {
        column.key: max(record[column.key] for record in table.records)
        for column in table.columns
        if column.kind == "bar"
    }
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{attributes[column.key]}>{_cell(column, record, ids, largest)}</td>"
            for column in columns
        )
        + "</tr>"
        for record in table.records
    )
    class_name = ' class="texts"' if has_long_texts else ""
    return Html(
        f'<figure class="wide"><div class="scroll"><table{class_name}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div><figcaption>{text(table.caption)}</figcaption></figure>"
    )


def chip(label: int) -> Html:
    """Name of a cluster in its colour."""
    return Html(
        f'<span class="chip {_colour_class(label)}" data-cluster="{label}">{cluster_name(label)}</span>'
    )


def row_button(row: int, name: str) -> Html:
    """A button that shows a row on the map."""
    return Html(f'<button type="button" class="row" data-row="{row}">{text(name)}</button>')


def _cell(column: Column, record: Record, ids: Sequence[str], largest: Record) -> Html:
    value = record[column.key]
    if column.kind == "cluster":
        return chip(value)
    if column.kind == "row":
        return row_button(value, ids[value])
    if column.kind == "bar":
        width = 100 * value / largest[column.key]
        colour = _colour_class(record["cluster"])
        return Html(f'<span class="bar {colour}" style="width:{width:.1f}%"></span>')
    content = text(column.text(record))
    if column.shade is None:
        return content
    strength = max(column.shade(record), 0.0)
    return Html(f'<span class="shade" style="--strength:{strength:.3f}">{content}</span>')


def _alignment(column: Column) -> str:
    return " class=n" if column.kind == "number" and column.shade is None else ""


def _heading(column: Column) -> str:
    """The heading as an attribute, shown with each cell where cells are stacked."""
    return f' data-heading="{text(column.heading)}"'


def _colour_class(label: int) -> str:
    return "noise" if label < 0 else f"k{label % N_COLOURS}"
