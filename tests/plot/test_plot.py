import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.colors import to_rgba  # noqa: E402

import vicinal  # noqa: E402

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
RING = [[0, 1], [1, 2], [2, 3], [3, 0]]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def ring(points=SQUARE, **keywords):
    return vicinal.Graph.from_edges(4, RING, lengths=[1.0] * 4, points=points, **keywords)


def segments_of(ax):
    return np.array(ax.collections[0].get_segments())


def test_each_edge_is_a_line_between_its_nodes():
    ax = vicinal.plot.graph(ring())
    expected = {frozenset(map(tuple, SQUARE[edge])) for edge in RING}
    assert {frozenset(map(tuple, line)) for line in segments_of(ax)} == expected
    np.testing.assert_array_equal(ax.collections[1].get_offsets(), SQUARE)


def test_given_points_override_points_of_the_graph():
    ax = vicinal.plot.graph(ring(), SQUARE + 10)
    assert segments_of(ax).min() == 10


def test_an_embedding_positions_points_of_any_dimension():
    high = np.random.default_rng(0).normal(size=(4, 7))
    ax = vicinal.plot.graph(ring(high), embedding=SQUARE)
    np.testing.assert_array_equal(ax.collections[1].get_offsets(), SQUARE)


def test_one_feature_is_drawn_along_a_line():
    ax = vicinal.plot.graph(ring(np.arange(4.0)[:, None]))
    assert not segments_of(ax)[:, :, 1].any()


def test_three_features_are_drawn_in_space():
    corners = np.column_stack([SQUARE, [0, 0, 0, 1]])
    ax = vicinal.plot.graph(ring(corners), values=[0, 1, 2, 3])
    ax.figure.canvas.draw()
    assert ax.name == "3d"
    flat = vicinal.plot.graph(ring(np.column_stack([SQUARE, np.zeros(4)])))
    flat.figure.canvas.draw()


def test_stronger_edges_are_darker_and_on_top():
    ax = vicinal.plot.graph(ring(strengths=[0.9, 0.1, 0.5, 0.3]))
    lines = ax.collections[0]
    lines.update_scalarmappable()
    darkness = 1 - lines.get_colors()[:, :3].mean(axis=1)
    assert np.all(np.diff(darkness) > 0)
    assert set(map(tuple, segments_of(ax)[-1])) == {(0.0, 0.0), (0.0, 1.0)}


def test_equal_strengths_have_one_colour():
    lines = vicinal.plot.graph(ring(strengths=[0.5] * 4)).collections[0]
    assert len(lines.get_colors()) == 1


def test_values_colour_the_nodes():
    scatter = vicinal.plot.graph(ring(), values=[0, 1, 2, 3], cmap="gray").collections[1]
    scatter.update_scalarmappable()
    assert tuple(scatter.get_facecolors()[0]) == to_rgba("black")
    assert tuple(scatter.get_facecolors()[3]) == to_rgba("white")


def test_a_one_way_edge_is_the_half_next_to_its_source():
    arrow = vicinal.Graph.from_edges(2, [[1, 0]], [1.0], directed=True, points=SQUARE[:2])
    np.testing.assert_array_equal(
        segments_of(vicinal.plot.graph(arrow)), [[[0.0, 1.0], [0.0, 0.5]]]
    )


def test_a_graph_without_edges_shows_its_nodes():
    lonely = vicinal.Graph.from_edges(4, [], [], points=SQUARE)
    assert len(vicinal.plot.graph(lonely).collections) == 1


def test_draws_into_the_axes_it_is_given():
    _, ax = plt.subplots()
    assert vicinal.plot.graph(ring(), ax=ax) is ax


def test_a_hundred_thousand_edges_are_one_collection():
    points = np.random.default_rng(0).normal(size=(1000, 2))
    pairs = np.column_stack(np.triu_indices(1000, 1))[:100_000]
    big = vicinal.Graph.from_edges(1000, pairs, np.ones(len(pairs)), points=points)
    ax = vicinal.plot.graph(big)
    ax.figure.canvas.draw()
    assert len(ax.collections) == 2
    assert len(segments_of(ax)) == 100_000


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: vicinal.plot.graph(np.eye(3)), TypeError, "ndarray.*from_scipy"),
        (lambda: vicinal.plot.graph(ring(None)), ValueError, "pass points=X"),
        (lambda: vicinal.plot.graph(ring(np.eye(4))), ValueError, "4 features.*embedding"),
        (lambda: vicinal.plot.graph(ring(), SQUARE[:3]), ValueError, "points has 3 rows.*4 nodes"),
        (lambda: vicinal.plot.graph(ring(), embedding=np.eye(4)), ValueError, "embedding has 4"),
        (lambda: vicinal.plot.graph(ring(), values=["a"] * 4), ValueError, "values.*unique"),
        (lambda: vicinal.plot.graph(ring(), values=[1, 2]), ValueError, r"values has shape \(2,\)"),
        (lambda: vicinal.plot.graph(ring(), edge_width=-1), ValueError, "edge_width=-1"),
        (lambda: vicinal.plot.graph(ring(), np.full((4, 2), np.nan)), ValueError, "points.*NaN"),
        (lambda: vicinal.plot.graph(ring(), colour="red"), TypeError, "colour"),
    ],
)
def test_errors_name_the_remedy(build, error, words):
    with pytest.raises(error, match=words):
        build()


def test_axes_with_the_wrong_projection_raise():
    _, ax = plt.subplots(subplot_kw={"projection": "3d"})
    with pytest.raises(ValueError, match="3-D Axes, but the positions have 2"):
        vicinal.plot.graph(ring(), ax=ax)


def test_distances_are_not_interpreted_as_coordinates():
    distances = np.ones((2, 2)) - np.eye(2)
    pair = vicinal.Graph.from_edges(2, [[0, 1]], [1.0], points=distances, metric="precomputed")
    with pytest.raises(ValueError, match="without coordinates"):
        vicinal.plot.graph(pair)
