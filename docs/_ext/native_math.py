"""Formulas as MathML, which browsers render natively, without scripts or network access."""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml


def visit_inline(translator: Any, node: Any) -> None:
    translator.body.append(tex2mathml(node.astext()))
    raise SkipNode


def visit_block(translator: Any, node: Any) -> None:
    formula = tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("native", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
