"""The widget of a notebook: its page, and rows that Python sets."""

import sys

import pytest

from vicinal.exceptions import MissingDependencyError
from vicinal.report import widget

anywidget = pytest.importorskip("anywidget")


def test_the_widget_holds_the_page_and_a_selection(perception):
    shown = widget(perception("iris"))
    assert isinstance(shown, anywidget.AnyWidget)
    assert '"inWidget":true' in shown.page
    assert "connect-src &#x27;none&#x27;" in shown.page
    shown.rows = [7, 3, 3]
    assert shown.rows == [3, 7]


@pytest.mark.parametrize("rows", [[150], [-1], ["x"], [1.5], None])
def test_rows_that_do_not_exist_are_rejected(perception, rows):
    shown = widget(perception("iris"))
    with pytest.raises(Exception, match=r"rows|Int|List|list|int"):
        shown.rows = rows
    assert shown.rows == []


def test_without_anywidget_the_error_names_the_extra(perception, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'vicinal\[notebook\]'"):
        widget(perception("iris"))


def test_a_report_exchanges_nothing_with_the_page_around_it(perception):
    assert '"inWidget":true' not in perception("iris")._repr_html_()
