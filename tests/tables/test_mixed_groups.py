"""Groups of rows in numbers, in categories and in both are found, also with gaps and irrelevant columns."""

import re

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import vicinal
from benchmarks.table_generators import make_mixed_table, random_customers
from vicinal.report._preprocessing import prepare, raw_table
from vicinal.report._shared_inputs import SharedInputs
from vicinal.report._steps.clusters import find_clusters

PLACES = {
    "numbers": {"n_categorical": 0},
    "categories": {"n_numeric": 0},
    "both": {},
}
# Two rows of 240 in the wrong group.
TWO_ROWS = 0.026


def score(table, group, n_clusters=3):
    """Adjusted Rand index of the clusters that `perceive` finds, without the steps after them."""
    data = prepare(raw_table(table, None, None, None))
    noise = 0 if data.categories else "auto"
    inputs = SharedInputs(data.points, 50, 0, 1, 0, n_clusters=n_clusters, noise=noise)
    return adjusted_rand_score(group, find_clusters(inputs, data, n_clusters).labels)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_noise", [0, 4])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("place", PLACES)
def test_groups_are_found_with_gaps_and_irrelevant_columns(place, missing, n_noise, seed):
    table, group = make_mixed_table(
        240, **PLACES[place], missing=missing, n_noise=n_noise, random_state=seed
    )
    found = score(table, group)
    assert found >= 0.95
    numbers = {name: column for name, column in table.items() if "number" in name}
    if place != "categories":
        assert found >= score(numbers, group) - TWO_ROWS


@pytest.mark.parametrize("place", ["categories", "both"])
def test_perceive_finds_the_number_of_groups_in_categories(place):
    table, group = make_mixed_table(240, **PLACES[place], missing=0.2, n_noise=4, random_state=2)
    result = vicinal.perceive(table, sample=60)
    assert result.n_clusters == 3
    assert not result.failures
    assert adjusted_rand_score(group, result.labels) >= 0.95
    text = str(result)
    assert f"Table: 240 rows, {result.data.n_used} of {len(table)} columns used" in text
    assert "'noise category 1' not used: 2 categories; independent of every other column" in text
    assert " is kind " in text
    names = {"X": table}
    code = result.snippet().replace("X = ...", "#")
    exec(code, names)
    np.testing.assert_array_equal(names["labels"], result.labels)


@pytest.mark.parametrize("seed", [1, 8, 9, 11])
def test_overlapping_groups_of_random_sizes_are_found(seed):
    table, group = random_customers(seed)
    points = vicinal.TableEncoder().fit_transform(table)
    model = vicinal.SpectralClustering(4, graph="disjoint_mst", random_state=0).fit(points)
    assert adjusted_rand_score(group, model.labels_) > 0.9


def test_categories_distinguish_clusters_on_the_page(tmp_path):
    table, _ = make_mixed_table(90, n_numeric=2, n_categorical=3, random_state=0)
    table["<b>hostile & name</b>"] = np.array(["<script>alert(1)</script>", "b"])[
        np.arange(90) % 3 // 2
    ]
    page = vicinal.perceive(table, n_clusters=3, sample=50).to_html(tmp_path / "r.html").read_text()
    assert "<script>alert(1)" not in page
    assert "<b>hostile" not in page
    assert re.search(r"category \d is kind \d+ \(\d+%, others \d+%\)", page)


def test_a_generated_table_has_the_groups_that_it_was_asked_for():
    table, group = make_mixed_table(
        90, n_groups=5, n_numeric=2, n_categorical=1, n_noise=1, missing=0.3, random_state=0
    )
    assert list(table) == [
        "number 1",
        "number 2",
        "category 1",
        "noise number 1",
        "noise category 1",
    ]
    assert np.bincount(group).tolist() == [18] * 5
    cells = np.concatenate(list(table.values()))
    assert np.mean([cell is None for cell in cells]) == pytest.approx(0.3, abs=0.05)
