"""Labels that some items lack: drawn separately from all classes, with their own name."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402

from vicinal import plot  # noqa: E402

CLOUD = np.random.default_rng(0).normal(size=(12, 2))
GROUPS = np.arange(12) % 3


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def partly(kind):
    """The groups, without those of items 0 and 5."""
    words = ["abc"[group] for group in GROUPS]
    if kind == "floats":
        return np.where(np.isin(np.arange(12), [0, 5]), np.nan, GROUPS)
    if kind == "NaN among words":
        return [np.nan if i in (0, 5) else word for i, word in enumerate(words)]
    words[0] = words[5] = None
    if kind == "None":
        return words
    pandas = pytest.importorskip("pandas")
    if kind == "NA":
        return pandas.Series(words, dtype="string")
    return pandas.Series(GROUPS, dtype="Int64").mask(np.isin(np.arange(12), [0, 5]))


KINDS = ["floats", "None", "NaN among words", "NA", "whole numbers with NA"]


@pytest.mark.parametrize("kind", KINDS)
def test_unlabelled_points_are_grey_and_in_the_legend(kind):
    ax = plot.embedding(CLOUD, partly(kind))
    classes = list("abc") if "word" in kind or kind in ("None", "NA") else ["0", "1", "2"]
    assert legend_of(ax) == [*classes, "no label"]
    unknown, known = ax.collections
    np.testing.assert_array_equal(unknown.get_offsets(), CLOUD[[0, 5]])
    red, green, blue, _ = unknown.get_facecolors()[0]
    assert red == green == blue
    assert len(known.get_offsets()) == 10
    assert len(ax.figure.axes) == 1  # no colour bar: these are no values


def test_noise_and_no_label_have_different_colours():
    labels = np.where(GROUPS == 2, -1.0, GROUPS)
    labels[0] = np.nan
    ax = plot.embedding(CLOUD, labels)
    assert legend_of(ax) == ["0", "1", "noise", "no label"]
    unknown, noise, _ = ax.collections
    assert tuple(unknown.get_facecolors()[0]) != tuple(noise.get_facecolors()[0])


@pytest.mark.parametrize(
    ("labels", "name"), [(np.full(12, -1), "noise"), ([None] * 12, "no label")]
)
def test_all_points_may_be_unlabelled_or_noise(labels, name):
    ax = plot.embedding(CLOUD, labels)
    assert legend_of(ax) == [name]
    assert len(ax.collections[0].get_offsets()) == 12


@pytest.mark.parametrize("kind", KINDS)
def test_items_without_a_label_come_last_in_a_matrix(kind):
    W = np.eye(12)
    (ax,) = plot.similarity(W, labels=partly(kind))
    ticks = [tick.get_text() for tick in ax.get_yticklabels()]
    assert ticks[-1] == "no label"
    assert len(ticks) == 4
    assert ax.get_yticks()[-1] == 10.5
