"""The data of the page are exact, for extreme values, long numbers and many categories."""

import base64
from dataclasses import replace

import numpy as np
import pytest

import vicinal
from vicinal.report._html.data import payload, unavailable_colours
from vicinal.report._html.page import render


def unpack(colour):
    entry, kind = ("codes", "u") if "codes" in colour else ("values", "f")
    return np.frombuffer(base64.b64decode(colour[entry]), f"<{kind}{colour['bytes']}")


def colours_of(found):
    return {colour["name"]: colour for colour in payload(found)["colours"]}


def with_data(found, **changes):
    return replace(found, data=found.data._replace(**changes))


@pytest.fixture
def wine(perception):
    return perception("wine")


@pytest.mark.parametrize("factor", [1.0, 1e-60, 1e100])
def test_extreme_values_are_exact(factor, wine):
    values = wine.data.values.copy()
    values[7, 0] = 5000.0
    values[:, 0] *= factor
    found = colours_of(with_data(wine, values=values))[wine.data.names[0]]
    np.testing.assert_allclose(unpack(found), values[:, 0], rtol=1e-6)
    # Colours do not reach that far.
    assert found["high"] < 20 * factor


def test_long_whole_numbers_keep_every_digit(wine):
    values = wine.data.values.copy()
    values[:, 0] = 20_000_000_001 + np.arange(len(values))
    found = colours_of(with_data(wine, values=values))[wine.data.names[0]]
    np.testing.assert_array_equal(unpack(found), values[:, 0])


@pytest.mark.parametrize("count", [41, 178])
def test_known_labels_are_available_in_any_number(count, wine):
    labels = np.array([f"class {i % count:03}" for i in range(178)])
    labels[5] = ""
    found = colours_of(with_data(wine, labels=labels))["known label"]
    names = [found["none"], *found["names"]]
    assert [names[code] for code in unpack(found)] == [word or "no label" for word in labels]


def test_codes_do_not_wrap_where_there_are_many():
    n = 300
    labels = np.array([f"class {i:03}" for i in range(n)])
    X = np.random.default_rng(0).random((n, 2))
    found = vicinal.perceive(X, labels=labels, n_clusters=1, sample=60)
    np.testing.assert_array_equal(unpack(colours_of(found)["known label"]), np.arange(1, n + 1))
    many = np.arange(n)
    clusters = found.clusters._replace(labels=many, tree_labels=many)
    told = payload(replace(found, clusters=clusters))
    np.testing.assert_array_equal(unpack(told["colours"][0]), many + 1)
    strip = np.frombuffer(base64.b64decode(told["matrices"]["clusters"]), "<u4")
    np.testing.assert_array_equal(strip, found.smoothing.shown + 1)


def test_columns_that_are_unavailable_as_colours_are_listed(wine, monkeypatch):
    others = {"few": np.array(["a", "b"] * 89), "many": np.array([f"word {i}" for i in range(178)])}
    found = with_data(wine, others=others)
    assert "few" in colours_of(found)
    assert "many" not in colours_of(found)
    (note,) = unavailable_colours(found)
    assert note == "'many' is not available as a map colour: it has 178 distinct values"
    assert "it has 178 distinct values" in render(found)
    monkeypatch.setattr("vicinal.report._html.data.MAX_VALUES", 178 * 4)
    assert "coloured by 4 of 13 numeric columns" in unavailable_colours(found)[1]
    assert len(set(wine.data.names) & set(colours_of(found))) == 4


def test_images_with_missing_pixels_are_drawn(wine):
    pytest.importorskip("PIL")
    images = np.random.default_rng(0).random((178, 3, 3))
    images[4, 1, 1] = np.nan
    with np.errstate(invalid="raise"):
        assert payload(with_data(wine, images=images))["sprites"]["width"] == 3


# Clusters found, not clusters requested


def test_the_number_of_clusters_is_the_number_found(perception):
    found = perception("spirals")
    count = found.count._replace(n_clusters=5, why="5 requested")
    found = replace(found, count=count, clusters=found.clusters._replace(n_requested=5))
    assert found.n_clusters == 2
    assert "2 columns, 2 clusters" in repr(found)
    words = "2 clusters: 5 requested. Only 2 of 5 clusters contain rows."
    assert words in found.summary()
    page = render(found)
    assert "<b>2</b> clusters" in page
    assert words in page
    assert "Every method was given 5 as the number of clusters" in page
    assert "n_clusters=5" in found.snippet()


def test_a_requested_number_that_is_not_found_stays_in_the_parameters():
    X = np.repeat(np.random.default_rng(0).random((6, 2)), 15, axis=0)
    found = vicinal.perceive(X, n_clusters=20, sample=60)
    assert found.parameters["n_clusters"] == found.count.n_clusters == 20
    assert found.n_clusters == len(set(found.labels.tolist()) - {-1}) < 20
    assert f"Only {found.n_clusters} of 20 clusters contain rows" in str(found)
    names = {"X": X}
    exec("\n".join(found.snippet().splitlines()).replace("X = ...", ""), names)
    np.testing.assert_array_equal(names["labels"], found.labels)


def test_the_snippet_handles_booleans_with_a_constant_column():
    X = np.random.default_rng(0).random((60, 6)) < 0.5
    X[:, 2] = True
    found = vicinal.perceive(X, n_clusters=2, sample=60)
    lines = [line for line in found.snippet().splitlines() if not line.startswith("X = ...")]
    names = {"X": X}
    exec("\n".join(lines), names)
    np.testing.assert_array_equal(names["labels"], found.labels)
