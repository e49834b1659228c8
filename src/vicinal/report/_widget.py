"""`widget`: the page of a result in a notebook, whose selection Python can read and set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vicinal.exceptions import MissingDependencyError
from vicinal.report._html.page import INLINE_BASE, render, template_file
from vicinal.report._summary_text import title

if TYPE_CHECKING:
    from vicinal.report.result import Perception


def widget(result: Perception) -> Any:
    """Show the page of a result in a notebook, as a widget.

    Parameters
    ----------
    result : Perception
        What `vicinal.perceive` returned.

    Returns
    -------
    anywidget.AnyWidget
        The widget. Its ``rows`` are the selected row numbers, and can be set; ``names`` are the names given
        to clusters, each a dict with ``clusters`` (their number), ``cluster`` and ``name``.

    Examples
    --------
    >>> import vicinal
    >>> from vicinal.report import widget
    >>> X, _ = vicinal.datasets.make_two_moons(100, noise=0.05, random_state=0)
    >>> shown = widget(vicinal.perceive(X, n_clusters=2, sample=50))
    >>> shown.rows = [4, 2]
    >>> shown.rows
    [2, 4]
    """
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise MissingDependencyError(
            "the notebook widget requires anywidget: pip install 'vicinal[notebook]'."
        ) from error

    class ResultWidget(anywidget.AnyWidget):
        _esm = template_file("notebook.js")
        page = traitlets.Unicode().tag(sync=True)
        label = traitlets.Unicode().tag(sync=True)
        rows = traitlets.List(traitlets.Int()).tag(sync=True)
        names = traitlets.List(traitlets.Dict()).tag(sync=True)

        @traitlets.validate("rows")  # type: ignore[untyped-decorator]
        def _existing(self, proposal: Any) -> list[int]:
            n = len(result.labels)
            if any(not 0 <= row < n for row in proposal["value"]):
                raise traitlets.TraitError(f"rows must be from 0 to {n - 1}")
            return sorted(set(proposal["value"]))

    page = render(result, base=INLINE_BASE, in_widget=True)
    return ResultWidget(page=page, label=f"Report on {title(result)}")
