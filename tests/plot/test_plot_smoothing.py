"""Pictures of embeddings, rankings and similarities."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from scipy import sparse  # noqa: E402

import vicinal  # noqa: E402
from vicinal import plot  # noqa: E402

RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(60, 2))
GROUPS = np.repeat([0, 1, 2], 20)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def blocks(n=30, classes=3):
    labels = np.arange(n) % classes
    return np.where(labels[:, None] == labels, 0.9, 0.1) + 0.1 * np.eye(n), labels


# Embeddings


def test_points_of_a_class_have_one_colour_and_noise_is_grey_below():
    labels = np.where(np.arange(60) % 7 == 0, -1, GROUPS)
    noise, others = plot.embedding(CLOUD, labels).collections
    assert noise.get_zorder() < others.get_zorder()
    assert len(noise.get_offsets()) == (labels == -1).sum()
    red, green, blue, _ = noise.get_facecolors()[0]
    assert red == green == blue
    place = {tuple(point): label for point, label in zip(CLOUD, labels, strict=True)}
    seen: dict[int, set[str]] = {}
    for point, color in zip(others.get_offsets(), others.get_facecolors(), strict=True):
        seen.setdefault(place[tuple(point)], set()).add(to_hex(color))
    assert all(len(colors) == 1 for colors in seen.values())
    assert len(set.union(*seen.values())) == 3


def test_classes_and_noise_are_in_the_legend():
    texts = plot.embedding(CLOUD, np.where(GROUPS == 2, -1, GROUPS)).get_legend().get_texts()
    assert [text.get_text() for text in texts] == ["0", "1", "noise"]
    assert plot.embedding(CLOUD, GROUPS, legend=False).get_legend() is None
    many = plot.embedding(CLOUD, np.arange(60) // 2)
    assert many.get_legend() is None
    assert len({to_hex(c) for c in many.collections[0].get_facecolors()}) == 30


def test_numbers_have_a_colour_bar_and_unknown_ones_are_grey():
    values = CLOUD[:, 0].copy()
    values[:5] = np.nan
    ax = plot.embedding(CLOUD, values, cmap="gray")
    assert len(ax.figure.axes) == 2
    assert [len(part.get_offsets()) for part in ax.collections] == [5, 55]
    assert len(plot.embedding(np.arange(90.0)[:, None], np.arange(90)).figure.axes) == 2


def test_three_dimensions_and_many_points_are_drawn_as_one_collection():
    ax = plot.embedding(RNG.normal(size=(100_000, 3)), RNG.integers(0, 5, 100_000))
    ax.figure.canvas.draw()
    assert ax.name == "3d"
    assert len(ax.collections) == 1
    assert ax.collections[0].get_rasterized()


# Rankings


def test_a_ranking_shows_results_other_points_and_query():
    others, result, star = plot.ranking(CLOUD, [[4, 9, 2]], query=7).collections
    assert len(others.get_offsets()) == 57
    np.testing.assert_array_equal(result.get_offsets(), CLOUD[[2, 9, 4]])
    np.testing.assert_array_equal(result.get_array(), [3, 2, 1])
    np.testing.assert_array_equal(star.get_offsets(), CLOUD[[7]])


def test_the_best_score_has_the_colour_of_the_first_rank():
    by_position = plot.ranking(CLOUD, [4, 9, 2], query=CLOUD[7]).collections[1]
    by_score = plot.ranking(CLOUD, [4, 9, 2], scores=[9.0, 5.0, 1.0]).collections[1]
    for drawn in (by_position, by_score):
        drawn.update_scalarmappable()
    np.testing.assert_allclose(by_position.get_facecolors(), by_score.get_facecolors(), atol=0.01)


# Similarities


def test_matrices_are_sorted_by_class_and_darkest_at_the_most_similar():
    W, labels = blocks()
    axes = plot.similarity(W, vicinal.self_smooth(W, 3), labels=labels)
    assert [ax.get_title() for ax in axes] == ["before", "after"]
    for ax in axes:
        shades = ax.images[0].get_array()
        inside = np.equal.outer(np.sort(labels), np.sort(labels))
        assert shades[inside].min() > shades[~inside].max()
        assert len(ax.lines) == 4
    assert [text.get_text() for text in axes[0].get_yticklabels()] == ["0", "1", "2"]


def test_every_form_of_a_similarity_gives_the_same_picture():
    X = RNG.normal(size=(300, 2))
    model = vicinal.SelfSmoothing(5, method="sparse").fit(X)
    images = [
        plot.similarity(form, max_items=100)[0].images[0].get_array()
        for form in (
            model.similarity_,
            model.similarity_.toarray(),
            sparse.csc_matrix(model.similarity_.toarray()),
        )
    ]
    assert images[0].shape == (100, 100)
    # Rows in other blocks may differ by rounding, which can swap neighbours that are as good as equal.
    np.testing.assert_allclose(images[0], images[1], atol=0.2)
    np.testing.assert_array_equal(images[1], images[2])


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda: plot.embedding(np.eye(5)), ValueError, r"positions has 5 features.*Z\[:, :2\]"),
        (lambda: plot.embedding(CLOUD, [1, 2]), ValueError, r"labels has shape \(2,\).*60"),
        (lambda: plot.embedding(CLOUD, point_size=-1), ValueError, "point_size=-1"),
        (lambda: plot.embedding(CLOUD * np.nan), ValueError, "positions.*NaN"),
        (lambda: plot.ranking(CLOUD, [0.5]), ValueError, "results has.*kneighbors"),
        (lambda: plot.ranking(CLOUD, [60]), ValueError, "results contains 60.*59"),
        (lambda: plot.ranking(CLOUD, [1], scores=[1, 2]), ValueError, "scores has 2"),
        (lambda: plot.ranking(CLOUD, [1], query=60), ValueError, "query=60"),
        (lambda: plot.ranking(CLOUD, [1], query=[1, 2, 3]), ValueError, "query has 3"),
        (lambda: plot.similarity(CLOUD), ValueError, r"\(60, 2\).*square"),
        (lambda: plot.similarity(np.eye(3), np.eye(4)), ValueError, "same items"),
        (
            lambda: plot.similarity(np.eye(3), axes=[1, 2]),
            ValueError,
            "axes has 2 Axes, but 1 are needed",
        ),
    ],
)
def test_errors_name_the_remedy(draw, error, words):
    with pytest.raises(error, match=words):
        draw()
