"""The size of a report does not grow without bound."""

from dataclasses import replace

import numpy as np
import pytest

from vicinal.report._html.page import render
from vicinal.report._steps.maps import Maps

N = 100_000


@pytest.fixture(scope="module")
def large(perception):
    """The report on wine with its rows repeated to 100,000, and more columns."""
    small = perception("wine")
    rows = np.arange(N) % len(small.labels)
    rng = np.random.default_rng(0)
    data = small.data._replace(
        points=small.data.points[rows],
        values=rng.normal(size=(N, 40)),
        names=[f"measurement number {j}" for j in range(40)],
        ids=[f"customer {i}" for i in range(N)],
        labels=small.data.labels[rows],
        others={
            "kind": np.array(["a", "b", "c"], dtype=object)[rows % 3],
            "remark": np.array(
                [f"a remark about the customer with the number {i}" for i in range(N)], dtype=object
            ),
            "code": np.array([f"code {i}" for i in range(N)], dtype=object),
        },
    )
    coordinates = {name: rng.normal(size=(N, 2)) for name in small.maps}
    maps = Maps(coordinates, small.maps.about, small.maps.notes)
    lists = rng.integers(0, N, (N, 8))
    return replace(
        small,
        data=data,
        maps=maps,
        clusters=small.clusters._replace(
            labels=small.labels[rows],
            other_labels=small.clusters.other_labels[rows],
            noise_score=small.noise_score[rows],
        ),
        layers=small.layers._replace(labels=small.layers.labels[:, rows]),
        neighborhoods=small.neighborhoods._replace(
            nearest=lists, occurrences=rng.integers(0, 30, N)
        ),
    )


def test_a_report_of_100_000_rows_is_under_25_megabytes(large):
    size = len(render(large).encode())
    # Most of it are arrays of all rows.
    assert 10e6 < size < 25e6


def test_a_notebook_gets_a_small_page_of_a_large_table(large):
    assert len(large._repr_html_()) < 1_500_000
