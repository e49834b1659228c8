"""Re-ranking: literal oracles, gains over distances, lists of other indexes, and diverse results."""

import pickle

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances

from vicinal import Reranker
from vicinal.exceptions import InvalidValueError
from vicinal.neighbors import NeighborSearch, _exact
from vicinal.rank._list_ranking import distance_matrix, diversified


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))[:700]
    return X[rows], y[rows]


def precision_and_map(indices, relevant):
    """Precision of the first 10 results, and mean average precision of the lists."""
    hits = np.cumsum(relevant, axis=1) / np.arange(1, indices.shape[1] + 1)
    return relevant[:, :10].mean(), ((hits * relevant).sum(1) / relevant.shape[1]).mean()


def dense_walk(X, k=30):
    """Kernel, scales and powers of P at which returns correlate least with degrees, from dense matrices."""
    n = len(X)
    D = pairwise_distances(X)
    order = np.argsort(D, axis=1, kind="stable")[:, 1 : k + 1]
    near = np.zeros((n, n), bool)
    np.put_along_axis(near, order, True, axis=1)
    scales = np.take_along_axis(D, order, axis=1).mean(axis=1)
    W = np.exp(-((D / (scales[:, None] / 2 + scales / 2)) ** 2) / 0.1) * (near | near.T)
    np.fill_diagonal(W, 1.0)
    d = W.sum(axis=1)
    powers, dependence = [], []
    power = W / d[:, None]
    while len(powers) < 13 and (not dependence or dependence[-1] < 0):
        power = power @ power
        powers.append(power)
        dependence.append(spearmanr(d, np.diagonal(power)).statistic)
    best = len(powers) - 1
    if best and dependence[best] >= 0 and -dependence[best - 1] < dependence[best]:
        best -= 1
    return scales, d, powers[best], 2 ** (best + 1)


def test_scores_of_items_are_cosines_of_diffusion_coordinates(digits):
    X = digits[0][:200]
    _, d, power, n_steps = dense_walk(X)
    smoothed = d[:, None] * power
    diagonal = np.diagonal(smoothed)
    expected = smoothed / np.sqrt(diagonal[:, None] * diagonal)
    reranker = Reranker(list_size=199, keep_nearest=False).fit(X)
    assert reranker.t_ + 1 == n_steps
    indices, scores = reranker.rank(np.arange(200), 20)
    np.testing.assert_allclose(
        scores, np.take_along_axis(expected, indices, axis=1), rtol=1e-4, atol=1e-6
    )
    np.fill_diagonal(expected, -np.inf)
    np.testing.assert_allclose(scores, -np.sort(-expected, axis=1)[:, :20], rtol=1e-4, atol=1e-6)


def test_a_new_query_is_the_weighted_sum_of_the_coordinates_of_its_neighbours(digits):
    X, new = digits[0][:200], digits[0][200:230]
    scales, d, power, _ = dense_walk(X)
    D = pairwise_distances(new, X)
    near = np.argsort(D, axis=1, kind="stable")[:, :30]
    lengths = np.take_along_axis(D, near, axis=1)
    width = lengths.mean(axis=1, keepdims=True) / 2 + scales[near] / 2
    step = np.zeros_like(D)
    np.put_along_axis(step, near, np.exp(-((lengths / width) ** 2) / 0.1), axis=1)
    step /= step.sum(axis=1, keepdims=True)
    products = power / d
    inner = step @ products
    own = np.sqrt(np.einsum("ij,ij->i", inner, step))
    expected = inner / own[:, None] / np.sqrt(np.diagonal(products))
    found = Reranker(list_size=199, keep_nearest=False).fit(X).rank(new, 20)
    np.testing.assert_allclose(found[1], -np.sort(-expected, axis=1)[:, :20], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        found[1], np.take_along_axis(expected, found[0], axis=1), rtol=1e-4, atol=1e-6
    )


def test_short_lists_hardly_change_the_first_results(digits):
    X = digits[0]
    full = Reranker(list_size=699).fit(X).rank(np.arange(700), 10)[0]
    short = Reranker(list_size=60).fit(X).rank(np.arange(700), 10)[0]
    common = [len(set(a) & set(b)) for a, b in zip(full.tolist(), short.tolist(), strict=True)]
    assert np.mean(common) > 9.5


@pytest.mark.parametrize("inside", [True, False])
def test_the_nearest_item_keeps_the_first_place(digits, inside):
    gallery, new = digits[0][:500], digits[0][500:]
    queries = np.arange(500) if inside else new
    reranker = Reranker().fit(gallery)
    found, scores = reranker.rank(queries, 10)
    assert (np.diff(scores, axis=1) <= 0).all()
    search = NeighborSearch(gallery)
    nearest = search.nearest(1)[0][:, 1] if inside else search.nearest(1, new)[0][:, 0]
    assert (found[:, 0] == nearest).all()
    assert all(len(set(row)) == 10 for row in found.tolist())
    free = reranker.set_params(keep_nearest=False).rank(queries, 10)[0]
    assert 0.3 < (free[:, 0] == nearest).mean() < 1


def test_results_do_not_depend_on_the_number_of_threads(digits):
    X = digits[0]
    one, two = (Reranker(n_jobs=n_jobs).fit(X).rank(X[:200] + 0.1, 30) for n_jobs in (1, 2))
    assert (one[0] == two[0]).all()
    assert (one[1] == two[1]).all()


def test_separate_groups_and_duplicates_are_ranked_by_reach_then_by_distance():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 1e6, np.zeros((5, 2))])
    found, scores = Reranker(n_neighbors=25, list_size=40).fit(X).rank(np.arange(45), 24)
    assert (found[:20] < 20).sum(axis=1).min() >= 19
    assert np.isfinite(scores).all()
    assert (found != np.arange(45)[:, None]).all()
    reranker = Reranker(n_neighbors=10, list_size=40).fit(X)
    for queries, rest in (([25], 39), (X[25:26], 40)):
        all_found = reranker.rank(queries, rest)[0][0]
        assert len(set(all_found)) == rest
        lengths = np.linalg.norm(X[all_found] - X[25], axis=1)
        assert (np.diff(lengths[lengths > 1e5]) >= 0).all()
    found = Reranker(list_size=40).fit(NeighborSearch(X).nearest(10)).rank([25], 40)
    assert len(set(found[0][0])) == 40
    # Nothing leads from one group to the other.
    assert (found.reached[0] == "row number").sum() == 21
    equal = Reranker(n_neighbors=5).fit(np.ones((12, 3))).rank([0], 5)[0]
    assert len(set(equal[0])) == 5


METHODS = ["smoothed", "k_reciprocal", "query_expansion", "distance"]


@pytest.mark.parametrize(
    ("method", "diversity"), [*((method, 0.0) for method in METHODS), ("smoothed", 0.5)]
)
def test_every_number_of_results_is_answered_up_to_the_gallery(method, diversity):
    rng = np.random.default_rng(0)
    # Separate groups, duplicates and an outlier: lists of 5 neighbours lead to few items.
    groups = [rng.normal(size=(20, 2)) + 1000 * i for i in range(4)]
    X = np.vstack([*groups, np.zeros((20, 2)), [[1e6, 0.0]]])
    model = Reranker(method, n_neighbors=5, list_size=7).fit(X)
    for queries, own, n in ((np.arange(101), np.arange(101), 100), (X + 1e-3, None, 101)):
        for k in (1, 6, 50, n):
            indices, scores = model.rank(queries, k, diversity=diversity)
            assert indices.shape == scores.shape == (101, k)
            assert all(len(set(row)) == k for row in indices.tolist())
            assert own is None or (indices != own[:, None]).all()
            assert diversity or (np.diff(scores, axis=1) <= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_more_results_begin_with_the_fewer(method, digits):
    X = digits[0][:300]
    for queries in (np.arange(10), X[:10] + 0.1):
        model = Reranker(method).fit(X)
        few, all_of_them = (model.rank(queries, k)[0] for k in (20, 299))
        np.testing.assert_array_equal(all_of_them[:, :20], few)


@pytest.mark.parametrize("method", ["smoothed", "k_reciprocal", "distance"])
def test_given_lists_answer_every_number_of_results_and_say_what_led_to_each(method, digits):
    X = digits[0][:300]
    model = Reranker(method).fit(NeighborSearch(X).nearest(10))
    results = NeighborSearch(X).nearest(15, X[:3] + 0.1)
    for queries, n in (([0], 299), (results, 300)):
        found = model.rank(queries, n)
        indices, scores = found
        assert all(len(set(row)) == n for row in indices.tolist())
        assert (np.diff(scores, axis=1) <= 0).all()
        order = [method, "distance", "path", "row number"]
        places = np.vectorize(order.index)(found.reached[:, 1:])
        assert (np.diff(places, axis=1) >= 0).all()
        assert "path" in found.reached
        assert (pickle.loads(pickle.dumps(found)).reached == found.reached).all()
        few = model.rank(queries, 20)
        np.testing.assert_array_equal(indices[:, :20], few[0])
    of_points = Reranker(method).fit(X)
    assert set(of_points.rank([0], 299).reached.ravel()) <= {method, "distance"}
    assert of_points.rank(results, 300)[0].shape == (3, 300)


def test_paths_along_lists_are_the_shortest():
    # On a line, lists of two neighbours lead to all items in the order of their distance.
    X = np.cumsum(np.random.default_rng(0).uniform(1, 2, size=(40, 1)), axis=0)
    found = Reranker("distance").fit(NeighborSearch(X).nearest(2)).rank(np.arange(40), 39)
    D = np.abs(X - X.T)
    expected = np.argsort(D, axis=1, kind="stable")[:, 1:]
    lengths = np.take_along_axis(D, expected, axis=1)
    linked = found.reached != "row number"
    assert linked.all(axis=1).any()
    for row in np.flatnonzero(linked.all(axis=1)):
        np.testing.assert_array_equal(found[0][row], expected[row])
        np.testing.assert_allclose(found[1][row], -lengths[row])


def uneven(rng):
    """Clumps of near-duplicates, and items that are far from all others."""
    clumps = [0.001 * rng.normal(size=(8, 6)) + 3 * rng.normal(size=6) for _ in range(25)]
    return np.vstack([*clumps, 3 * rng.normal(size=(200, 6))])


@pytest.mark.parametrize("from_lists", [False, True])
def test_without_a_common_clock_items_rank_by_distance(from_lists):
    X = uneven(np.random.default_rng(0))
    model = Reranker().fit(NeighborSearch(X).nearest(30) if from_lists else X)
    assert model.rate_factor_ > 8
    assert model.t_ == 0
    rows = np.arange(0, 400, 7)
    found = model.rank(rows, 20)
    expected = Reranker("distance").fit(X).rank(rows, 20)
    np.testing.assert_array_equal(found[0], expected[0])
    assert (found.reached == "distance").all()
    diverse = model.rank(rows, 5, diversity=0.5)[0]
    assert (diverse[:, 0] == expected[0][:, 0]).all()
    assert (diverse != expected[0][:, :5]).any()


def test_a_query_equal_to_an_item_has_its_results(digits):
    X = digits[0]
    reranker = Reranker().fit(X)
    own = reranker.rank(np.arange(50), 10)[0]
    new = reranker.rank(X[:50], 11)[0]
    assert (new[:, 0] == np.arange(50)).all()
    common = [len(set(a) & set(b)) for a, b in zip(own.tolist(), new.tolist(), strict=True)]
    assert np.mean(common) > 9.5


@pytest.mark.parametrize("inside", [True, False])
def test_smoothed_results_are_better_than_distances_at_the_top_and_below(digits, inside):
    X, y = digits
    queries = np.arange(500, 700)
    gallery = X if inside else X[:500]
    search = NeighborSearch(gallery)
    if inside:
        plain = search.nearest(100)[0][queries][:, 1:]
        found = Reranker().fit(gallery).rank(queries, 100)[0]
    else:
        plain = search.nearest(100, X[queries])[0]
        found = Reranker().fit(gallery).rank(X[queries], 100)[0]
    before = precision_and_map(plain, y[plain] == y[queries, None])
    after = precision_and_map(found, y[found] == y[queries, None])
    assert after[0] >= before[0]
    assert after[1] >= before[1] + 0.1
    first = (y[found[:, 0]] == y[queries]).mean(), (y[plain[:, 0]] == y[queries]).mean()
    assert first[0] >= first[1]


def test_lists_of_an_index_give_the_results_of_points(digits):
    X, _ = digits
    search = NeighborSearch(X)
    lists = search.nearest(30)
    by_lists = Reranker().fit(lists)
    indices = by_lists.rank(search.nearest(30, X[:20] + 0.1), 10)[0]
    points = Reranker().fit(X).rank(X[:20] + 0.1, 10)[0]
    common = [len(set(a) & set(b)) for a, b in zip(indices.tolist(), points.tolist(), strict=True)]
    assert np.mean(common) > 8
    without_self = Reranker().fit((lists[0][:, 1:], lists[1][:, 1:]))
    rows = np.arange(30)
    assert (by_lists.rank(rows)[0] == without_self.rank(rows)[0]).all()


def literal_k_reciprocal(D, query, k1=20, k2=6, weight=0.3):
    """Final distances of an item to all others, from the definition, with a distance matrix."""
    n = len(D)
    order = np.argsort(D, axis=1, kind="stable")
    unit = np.sort(D, axis=1)[:, k1].mean()

    def reciprocal(i, k):
        return {j for j in order[i, : k + 1] if i in order[j, : k + 1]}

    V = np.zeros((n, n))
    for i in range(n):
        core, members = reciprocal(i, k1), reciprocal(i, k1)
        for j in core:
            other = reciprocal(j, k1 // 2)
            if 3 * len(core & other) >= 2 * len(other):
                members |= other
        rows = sorted(members)
        V[i, rows] = np.exp(-D[i, rows] / unit) / np.exp(-D[i, rows] / unit).sum()
    V = np.array([V[order[i, :k2]].mean(axis=0) for i in range(n)])
    shared = np.minimum(V[query], V).sum(axis=1)
    jaccard = 1 - shared / np.maximum(V[query], V).sum(axis=1)
    return (1 - weight) * jaccard + weight * D[query] / unit


@pytest.mark.parametrize("query", [0, 17])
def test_k_reciprocal_distances_follow_the_definition(query):
    X = np.random.default_rng(0).normal(size=(90, 4))
    expected = literal_k_reciprocal(pairwise_distances(X), query)
    reranker = Reranker("k_reciprocal", n_neighbors=89, list_size=89).fit(X)
    indices, scores = reranker.rank([query], 60)
    np.testing.assert_allclose(-scores[0], expected[indices[0]], rtol=1e-9)
    others = np.delete(np.arange(90), query)
    np.testing.assert_allclose(-scores[0], np.sort(expected[others])[:60], rtol=1e-9)


def test_query_expansion_searches_with_the_mean_of_query_and_neighbours(digits):
    X, _ = digits
    found = Reranker("query_expansion").fit(X).rank([5], 10)[0][0]
    near = NeighborSearch(X).nearest(10)[0][5]
    mean = X[near].mean(axis=0)
    expected = np.argsort(np.linalg.norm(X - mean, axis=1), kind="stable")
    assert found.tolist() == [i for i in expected.tolist() if i != 5][:10]


def test_distance_keeps_the_order_of_the_search(digits):
    X, _ = digits
    found = Reranker("distance").fit(X).rank([3], 10)[0][0]
    assert found.tolist() == NeighborSearch(X).nearest(10)[0][3, 1:].tolist()


def test_diverse_results_do_not_repeat_the_same_item():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    X[1:11] = X[0] + 1e-4 * rng.normal(size=(10, 3))
    reranker = Reranker(n_neighbors=20).fit(X)
    plain = reranker.rank([0], 8)[0][0]
    diverse = reranker.rank([0], 8, diversity=0.7)[0][0]
    assert (plain <= 10).all()
    assert (diverse <= 10).sum() < 8
    assert (reranker.rank([0], 8, diversity=0.0)[0][0] == plain).all()


def test_marginal_relevance_follows_its_definition():
    relevance = np.array([1.0, 0.9, 0.5])
    similarity = np.array([[1.0, 0.95, 0.1], [0.95, 1.0, 0.1], [0.1, 0.1, 1.0]])
    assert diversified(relevance, similarity, 3, 0.5).tolist() == [0, 2, 1]
    assert diversified(relevance, similarity, 3, 0.0).tolist() == [0, 1, 2]


def test_lists_become_symmetric_distances_with_explicit_zeros():
    matrix = distance_matrix(np.array([[1], [0], [0]]), np.array([[0.0], [0.0], [2.0]]))
    assert matrix.nnz == 4
    assert matrix.toarray().tolist() == [[0, 0, 2], [0, 0, 0], [2, 0, 0]]


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ((np.array([[0, 0]]), np.array([[0.0, 1.0]])), "more than once"),
        ((np.array([[0, 99]]), np.array([[0.0, 1.0]])), "ids from 0 to 99"),
        ((np.array([[0, 1]]), np.array([[0.0, -1.0]])), "negative"),
        ((np.array([[0, 1]]), np.array([[0.0, np.inf]])), "infinite"),
        ((np.array([[0, 1]]), np.array([[0.0]])), "shape"),
        ((np.empty((0, 2), int), np.empty((0, 2))), "shape"),
        (([[0, 1], [2]], [[0.0, 1.0], [2.0]]), "different lengths"),
        ([40], "row 40"),
        ([[1, 2]], "one row"),
        (np.zeros((1, 2)), "neighbour lists"),
    ],
)
def test_invalid_queries_are_named(queries, message):
    lists = NeighborSearch(np.random.default_rng(0).normal(size=(40, 2))).nearest(10)
    with pytest.raises(ValueError, match=message):
        Reranker().fit(lists).rank(queries, 3)


def test_ids_of_a_database_are_looked_up_by_the_caller():
    indices, distances = NeighborSearch(np.random.default_rng(0).normal(size=(40, 2))).nearest(10)
    names = np.array([f"doc-{i}" for i in range(40)])
    with pytest.raises(TypeError, match=r"ids such as 'doc-0'.*look them up"):
        Reranker().fit((names[indices], distances))
    with pytest.raises(TypeError, match=r"ids such as 'doc-0'.*look them up"):
        Reranker().fit((indices, distances)).rank((names[indices[:2]].tolist(), distances[:2]), 3)


@pytest.mark.parametrize("method", ["smoothed", "k_reciprocal", "distance"])
def test_lists_in_any_order_give_the_same_results(method):
    rng = np.random.default_rng(0)
    indices, distances = NeighborSearch(rng.normal(size=(60, 3))).nearest(8)
    order = rng.permuted(np.tile(np.arange(9), (60, 1)), axis=1)
    shuffled = np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)
    expected = Reranker(method).fit((indices, distances)).rank(np.arange(60), 5)
    result = Reranker(method).fit(shuffled).rank(np.arange(60), 5)
    np.testing.assert_array_equal(result[0], expected[0])
    np.testing.assert_allclose(result[1], expected[1], atol=1e-12)


def test_similarities_in_place_of_distances_are_noticed():
    X = np.random.default_rng(0).normal(size=(40, 5))
    indices, distances = NeighborSearch(X, metric="cosine").nearest(10)
    with pytest.raises(InvalidValueError, match="similarities"):
        Reranker().fit((indices, 1.0 - distances))


def test_invalid_options_are_named():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(InvalidValueError, match="method"):
        Reranker("best").fit(X)
    with pytest.raises(InvalidValueError, match="diversity"):
        Reranker("distance").fit(X).rank([0], 3, diversity=0.5)
    with pytest.raises(InvalidValueError, match="query_expansion"):
        Reranker("query_expansion").fit(NeighborSearch(X).nearest(5))
    with pytest.raises(InvalidValueError, match="The gallery has 29 items"):
        Reranker(list_size=5).fit(X).rank([0], 30)


def test_fit_prepares_the_points_for_single_queries(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1000, 64)).astype(np.float32)
    query = X[:1] + np.float32(0.1)
    wanted = Reranker(n_jobs=1).fit(X).rank(query, 5)
    monkeypatch.setattr(_exact, "MIN_QUANTIZED_SIZE", 1000)
    model = Reranker(n_jobs=1).fit(X)
    monkeypatch.setattr(_exact, "quantize_points", None)
    for found, expected in zip(model.rank(query, 5), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)
