"""Path similarities across the borders of classes: a literal oracle, and the supervised embedding."""

import numpy as np
import pytest

from vicinal import ClusterPreservingEmbedding, path_similarity


def literal(X, y, sigma, factor):
    """Kruskal over the steps of the spanning tree, refusing merges of two classes; best paths by search."""
    n = len(X)
    steps = sorted(
        (float(np.sum((X[i] - X[j]) ** 2)) / (2 * sigma**2), i, j)
        for i in range(n)
        for j in range(i)
    )
    free, ruled = list(range(n)), list(range(n))
    heights = np.full((n, n), np.inf)
    for height, i, j in steps:
        if free[i] == free[j]:
            continue
        free = [free[i] if c == free[j] else c for c in free]
        classes = [
            {y[m] for m in range(n) if ruled[m] == ruled[end] and y[m] >= 0} for end in (i, j)
        ]
        if len(classes[0] | classes[1]) > 1:
            height = np.inf if factor == 0 else height - np.log(factor)
        else:
            ruled = [ruled[i] if c == ruled[j] else c for c in ruled]
        heights[i, j] = heights[j, i] = height
    for k in range(n):  # best paths: the smallest largest step
        heights = np.minimum(heights, np.maximum(heights[:, [k]], heights[[k]]))
    similarity = np.exp(-heights)
    np.fill_diagonal(similarity, 0.0)
    np.fill_diagonal(similarity, similarity.max())
    return similarity


@pytest.mark.parametrize("factor", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_similarities_equal_the_literal_ones(seed, factor):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 2))
    y = np.where(rng.random(25) < 0.4, rng.integers(0, 3, 25), -1)
    S = path_similarity(X, sigma=1.0, robust=False)
    assert S.separate(y, factor=factor).toarray() == pytest.approx(literal(X, y, 1.0, factor))
    # The original is unchanged.
    assert S.toarray() == pytest.approx(literal(X, y, 1.0, 1.0))


def test_no_component_has_two_classes_and_every_component_has_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.full(300, -1)
    y[:12] = np.arange(12) % 4
    components = path_similarity(X).separate(y).components()
    for component in range(components.max() + 1):
        assert len(set(y[components == component].tolist()) - {-1}) == 1


def test_classes_may_be_strings():
    X = np.array([[0.0], [1.0], [2.5], [3.5]])
    S = path_similarity(X, sigma=1.0)
    by_name = S.separate(np.array(["a", -1, -1, "b"], dtype=object))
    assert (by_name.toarray() == S.separate([0, -1, -1, 1]).toarray()).all()


@pytest.mark.parametrize(
    ("y", "factor", "message"),
    [
        ([0, 1], 0.0, "y has 2 value"),
        ([-1, -1, -1], 0.0, "only -1"),
        ([0, np.nan, 1], 0.0, "NaN"),
        ([0, 1, 1], 1.5, "factor=1.5"),
        ([0, 1, 1], -0.1, "factor=-0.1"),
    ],
)
def test_bad_classes_and_factors_raise(y, factor, message):
    S = path_similarity([[0.0], [1.0], [3.0]])
    with pytest.raises(ValueError, match=message):
        S.separate(y, factor=factor)


@pytest.mark.parametrize("method", ["laplacian", "mds"])
def test_a_few_labels_separate_overlapping_classes(method):
    rng = np.random.default_rng(1)
    X = np.r_[rng.normal(0, 1, (150, 2)), rng.normal([2.5, 0], 1, (150, 2))]
    truth = np.repeat([0, 1], 150)
    y = np.where(rng.random(300) < 0.3, truth, -1)

    def accuracy(between_classes):
        model = ClusterPreservingEmbedding(method=method, between_classes=between_classes)
        axis = model.fit_transform(X, y)[:, 0]
        classes = axis > np.median(axis)
        hidden = y < 0
        return max(
            np.mean(classes[hidden] == truth[hidden]), np.mean(classes[hidden] != truth[hidden])
        )

    assert accuracy(0.0) > accuracy(1.0) + 0.1
    assert accuracy(0.0) > 0.8


def test_y_is_ignored_by_default():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    plain = ClusterPreservingEmbedding(random_state=0).fit_transform(X)
    assert (ClusterPreservingEmbedding(random_state=0).fit_transform(X, y) == plain).all()
    with pytest.raises(ValueError, match="between_classes=2"):
        ClusterPreservingEmbedding(between_classes=2).fit(X, y)
