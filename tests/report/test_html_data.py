"""The data of the page are exact, for extreme values, long numbers and many categories."""

import base64
from dataclasses import replace

import numpy as np
import pytest

import vicinal
from vicinal.report._html.data import is_spread, notes_on_map, payload
from vicinal.report._html.page import render
from vicinal.report._steps.maps import Maps


def unpack(colour):
    entry, kind = ("codes", "u") if "codes" in colour else ("values", "f")
    return np.frombuffer(base64.b64decode(colour[entry]), f"<{kind}{colour['bytes']}")


def colours_of(result):
    return {colour["name"]: colour for colour in payload(result)["colours"]}


def with_data(result, **changes):
    return replace(result, data=result.data._replace(**changes))


@pytest.fixture
def wine(perception):
    return perception("wine")


@pytest.mark.parametrize("factor", [1.0, 1e-60, 1e100])
def test_extreme_values_are_exact(factor, wine):
    values = wine.data.values.copy()
    values[7, 0] = 5000.0
    values[:, 0] *= factor
    colour = colours_of(with_data(wine, values=values))[wine.data.names[0]]
    np.testing.assert_allclose(unpack(colour), values[:, 0], rtol=1e-6)
    # The colour scale ignores the outlier.
    assert colour["high"] < 20 * factor


def test_large_integers_keep_every_digit(wine):
    values = wine.data.values.copy()
    values[:, 0] = 20_000_000_001 + np.arange(len(values))
    colour = colours_of(with_data(wine, values=values))[wine.data.names[0]]
    np.testing.assert_array_equal(unpack(colour), values[:, 0])


@pytest.mark.parametrize("count", [41, 178])
def test_known_labels_are_available_as_colours_for_any_number_of_classes(count, wine):
    labels = np.array([f"class {i % count:03}" for i in range(178)])
    labels[5] = ""
    colour = colours_of(with_data(wine, labels=labels))["known label"]
    names = [colour["none"], *colour["names"]]
    assert [names[code] for code in unpack(colour)] == [word or "no label" for word in labels]


def test_codes_of_many_categories_do_not_wrap_around():
    n = 300
    labels = np.array([f"class {i:03}" for i in range(n)])
    X = np.random.default_rng(0).random((n, 2))
    result = vicinal.perceive(X, labels=labels, n_clusters=1, sample=60)
    np.testing.assert_array_equal(unpack(colours_of(result)["known label"]), np.arange(1, n + 1))
    cluster_numbers = np.arange(n)
    clusters = result.clusters._replace(labels=cluster_numbers, other_labels=cluster_numbers)
    page_data = payload(replace(result, clusters=clusters))
    np.testing.assert_array_equal(unpack(page_data["colours"][0]), cluster_numbers + 1)


def test_columns_that_are_unavailable_as_colours_are_listed(wine, monkeypatch):
    others = {"few": np.array(["a", "b"] * 89), "many": np.array([f"word {i}" for i in range(178)])}
    result = with_data(wine, others=others)
    assert "few" in colours_of(result)
    assert "many" not in colours_of(result)
    (note,) = [note for note in notes_on_map(result) if "colour" in note]
    assert note == "'many' is not available as a map colour: it has 178 distinct values"
    assert "it has 178 distinct values" in render(result)
    monkeypatch.setattr("vicinal.report._html.colours.MAX_COLOUR_VALUES", 178 * 4)
    assert "coloured by 4 of 13 numeric columns" in notes_on_map(result)[-1]
    assert len(set(wine.data.names) & set(colours_of(result))) == 4


def test_images_with_missing_pixels_are_drawn(wine):
    pytest.importorskip("PIL")
    images = np.random.default_rng(0).random((178, 3, 3))
    images[4, 1, 1] = np.nan
    with np.errstate(invalid="raise"):
        assert payload(with_data(wine, images=images))["sprites"]["width"] == 3


@pytest.mark.parametrize("n", [30, 200, 5000])
def test_dots_and_lines_are_not_maps_but_clouds_and_curves_are(n):
    rng = np.random.default_rng(0)
    angle = np.sort(rng.uniform(0, 2 * np.pi, n))
    line = np.column_stack([angle, 3 * angle + 1])
    dots = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]], n, axis=0)[::3][:n]
    outlier = np.vstack([rng.normal(size=(n - 1, 2)), [1e6, 1e6]])
    assert not any(map(is_spread, (line, dots, np.zeros((n, 2)), outlier)))
    assert not is_spread(line * [1.0, 0.0])
    cloud = rng.normal(size=(n, 2))
    assert is_spread(cloud)
    assert is_spread(np.vstack([cloud, cloud + np.array([9, 0])]))
    if n > 100:
        spiral = angle[:, None] * np.column_stack([np.cos(4 * angle), np.sin(4 * angle)])
        assert is_spread(spiral)


def test_maps_without_an_area_are_left_out_and_listed(wine):
    flat = {**wine.maps, "isomap": wine.maps["isomap"] * [1.0, 0.0]}
    result = replace(wine, maps=Maps(flat, wine.maps.about, wine.maps.notes))
    assert "isomap" not in [entry["name"] for entry in payload(result)["maps"]]
    assert "the map &#x27;isomap&#x27; is not shown" in render(result)
    assert "isomap_x" in result.to_frame()


def test_one_map_is_always_shown(wine):
    dot = {"principal": np.zeros((178, 2))}
    result = replace(wine, maps=Maps(dot, wine.maps.about, wine.maps.notes))
    assert [entry["name"] for entry in payload(result)["maps"]] == ["principal"]


def test_texts_are_kept_up_to_a_length(wine, monkeypatch):
    others = {"few": np.array(["a", "b"] * 89), "many": np.array([f"word {i}" for i in range(178)])}
    result = with_data(wine, others=others)
    (text,) = payload(result)["texts"]
    assert (text["name"], text["values"][7]) == ("many", "word 7")
    monkeypatch.setattr("vicinal.report._html.colours.MAX_TEXTS_LENGTH", 1000)
    assert payload(result)["texts"] == []


# Number of clusters found, and number requested


def test_the_number_of_clusters_is_the_number_found(perception):
    result = perception("spirals")
    count = result.count._replace(n_clusters=5, why="5 requested")
    result = replace(result, count=count, clusters=result.clusters._replace(n_requested=5))
    assert result.n_clusters == 2
    assert "2 columns, 2 clusters" in repr(result)
    message = "2 clusters: 5 requested. Only 2 of 5 clusters contain rows."
    assert message in result.summary()
    page = render(result)
    assert "<b>2</b> clusters" in page
    assert message in page
    assert "Every method was given 5 as the number of clusters" in page
    assert "n_clusters=5" in result.snippet()


def test_a_requested_number_that_is_not_found_stays_in_the_parameters():
    X = np.repeat(np.random.default_rng(0).random((6, 2)), 15, axis=0)
    result = vicinal.perceive(X, n_clusters=20, sample=60)
    assert result.parameters["n_clusters"] == result.count.n_clusters == 20
    assert result.n_clusters == len(set(result.labels.tolist()) - {-1}) < 20
    assert f"Only {result.n_clusters} of 20 clusters contain rows" in str(result)
    names = {"X": X}
    exec("\n".join(result.snippet().splitlines()).replace("X = ...", ""), names)
    np.testing.assert_array_equal(names["labels"], result.labels)


def test_the_snippet_handles_booleans_with_a_constant_column():
    X = np.random.default_rng(0).random((60, 6)) < 0.5
    X[:, 1] = X[:, 0] ^ (np.arange(60) % 30 == 0)
    X[:, 2] = True
    result = vicinal.perceive(X, n_clusters=2, sample=60)
    lines = [line for line in result.snippet().splitlines() if not line.startswith("X = ...")]
    names = {"X": X}
    exec("\n".join(lines), names)
    np.testing.assert_array_equal(names["labels"], result.labels)
