"""Spectral clustering: known partitions, policies, new points and bad input."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from vicinal import Graph, SpectralClustering, graphs
from vicinal._base.row_assignment import assign_rows, unit_rows
from vicinal.cluster import spectral_labels
from vicinal.datasets import make_spirals, make_two_moons
from vicinal.evidence.constants import MIN_GAP
from vicinal.evidence.gaps import n_clusters_by_gap, relative_gaps

DATA = os.environ.get("VICINAL_DATA")
WAYS = [("njw", "kmeans"), ("njw", "discretize"), ("ncut", "kmeans"), ("ncut", "discretize")]
every_way = pytest.mark.parametrize(("method", "assign"), WAYS)


@pytest.fixture(scope="module")
def moons():
    return make_two_moons(300, noise=0.05, random_state=0)


def same_partition(a, b):
    return adjusted_rand_score(a, b) == 1.0


def best_cut(W, cut_of):
    """Bipartition with the smallest normalised cut, by exhaustive search."""
    n = len(W)
    best, best_value = None, np.inf
    for bits in range(1, 2 ** (n - 1)):
        part = np.array([(bits >> i) & 1 for i in range(n)], dtype=bool)
        value = cut_of(W, part)
        if value < best_value:
            best, best_value = part, value
    return best


def normalized_cut(W, part):
    cut = W[part][:, ~part].sum()
    return cut / W[part].sum() + cut / W[~part].sum()


@every_way
def test_moons_and_spirals_are_separated(method, assign, moons):
    X, truth = moons
    labels = SpectralClustering(2, method=method, assign=assign, random_state=0).fit_predict(X)
    assert same_partition(labels, truth)
    X, truth = make_spirals(400, random_state=0)
    model = SpectralClustering(
        len(set(truth)), method=method, assign=assign, graph="disjoint_mst", random_state=0
    )
    assert same_partition(model.fit_predict(X), truth)


@every_way
@pytest.mark.parametrize("seed", range(4))
def test_two_parts_are_those_of_least_normalised_cut(method, assign, seed):
    rng = np.random.default_rng(seed)
    side = np.arange(10) < 4
    W = np.where(side[:, None] == side[None], 1.0, 0.08) * rng.random((10, 10))
    W = W + W.T
    np.fill_diagonal(W, 0)
    labels = spectral_labels(W, 2, method=method, assign=assign, random_state=0)
    assert same_partition(labels, best_cut(W, normalized_cut))


def test_raw_wine_in_any_unit_and_standardised_wine():
    X, truth = load_wine(return_X_y=True)
    raw = SpectralClustering(3, random_state=0).fit_predict(X)
    np.testing.assert_array_equal(raw, SpectralClustering(3, random_state=0).fit_predict(X * 1000))
    assert normalized_mutual_info_score(truth, raw) > 0.30
    standard = SpectralClustering(3, random_state=0).fit_predict(StandardScaler().fit_transform(X))
    assert normalized_mutual_info_score(truth, standard) > 0.83


@pytest.mark.skipif(DATA is None, reason="VICINAL_DATA names no folder of real data")
@pytest.mark.parametrize("name", ["atom", "chainlink", "jain", "spiral"])
def test_classical_shapes_are_found_without_tuning(name):
    with np.load(Path(DATA) / "shapes2d.npz") as shapes:
        key = next(key for key in shapes.files if key.endswith(f"/{name}"))
        X, truth = shapes[key], shapes[f"{key}.labels0"]
    labels = SpectralClustering(len(set(truth)), graph="disjoint_mst").fit_predict(X)
    assert same_partition(labels, truth)


@pytest.mark.parametrize("n_clusters", [1, 2, 4])
def test_number_of_clusters_is_found(n_clusters):
    centres = 12 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[:n_clusters]
    X, truth = make_blobs(300, centers=centres, random_state=0)
    model = SpectralClustering(random_state=0).fit(X)
    assert model.n_clusters_ == n_clusters
    assert same_partition(model.labels_, truth)
    assert len(model.eigengaps_) == 20
    assert model.eigengaps_[0] == MIN_GAP
    assert int(np.argmax(model.eigengaps_)) + 1 == n_clusters


@pytest.mark.parametrize("shape", ["square", "circle", "line", "ball"])
def test_one_cluster_is_left_whole(shape):
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 2 * np.pi, 500, endpoint=False)
    X = {
        "square": rng.random((500, 2)),
        "circle": np.column_stack([np.cos(angle), np.sin(angle)]),
        "line": angle[:, None],
        "ball": rng.standard_normal((500, 8)),
    }[shape]
    assert SpectralClustering().fit(X).n_clusters_ == 1


def test_gap_of_exact_components_is_their_number():
    assert n_clusters_by_gap(relative_gaps(np.array([1, 1, 1, 0.4, 0.3, 0.2]))) == 3


@pytest.mark.parametrize("values", [[1.0], [1.0, 0.5], [1.0, 1.0], [1.0] * 6])
def test_gaps_of_tiny_or_constant_spectra_are_defined(values):
    assert np.isfinite(relative_gaps(np.array(values))).all()


@every_way
def test_training_points_keep_their_clusters_and_new_ones_join(method, assign, moons):
    X, _ = moons
    model = SpectralClustering(2, method=method, assign=assign, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    new, expected = make_two_moons(200, noise=0.05, random_state=1)
    assert same_partition(model.predict(new), expected)


def test_merged_components_predict_too():
    X = np.array([[0.0], [1], [2], [10], [11], [12], [30], [31], [32]])
    model = SpectralClustering(2, graph_params={"n_neighbors": 2}).fit(X)
    np.testing.assert_array_equal(model.labels_, [0] * 6 + [1] * 3)
    np.testing.assert_array_equal(model.predict([[5.0], [29.0], [1.0]]), [0, 1, 0])
    with pytest.raises(ValueError, match="3 components, more than n_clusters=2"):
        SpectralClustering(2, graph_params={"n_neighbors": 2}, disconnected="raise").fit(X)


def test_merging_needs_points():
    with pytest.raises(ValueError, match="without points"):
        SpectralClustering(2, graph="precomputed").fit(np.kron(np.eye(3), np.ones((2, 2))))


def test_refit_after_merging_forgets_it(moons):
    X = np.array([[0.0], [1], [2], [10], [11], [12], [30], [31], [32]])
    model = SpectralClustering(2, graph_params={"n_neighbors": 2}).fit(moons[0]).fit(X)
    assert not hasattr(model, "embedding_")
    assert hasattr(model.set_params(n_clusters=3).fit(X), "embedding_")


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.csr_matrix, "graph", "int64"]
)
def test_graph_and_every_form_of_affinity_go_in(form, moons):
    X, truth = moons
    graph = graphs.knn(X, 10)
    W = graph.affinity()
    if form == "graph":
        given_input, model = graph, SpectralClustering(2)
    elif form == "int64":
        W.indices, W.indptr = W.indices.astype(np.int64), W.indptr.astype(np.int64)
        given_input, model = W, SpectralClustering(2, graph="precomputed")
    else:
        matrix = W.toarray() if form is np.asarray else W
        given_input, model = form(matrix), SpectralClustering(2, graph="precomputed")
    assert same_partition(model.fit_predict(given_input), truth)
    if form not in ("graph",):
        with pytest.raises(ValueError, match="neighbours of new points cannot be found"):
            model.predict(X)


def test_an_isolated_node_is_a_component():
    W = np.kron(np.eye(2), np.ones((4, 4)))
    W[0], W[:, 0] = 0, 0
    labels = SpectralClustering(3, graph="precomputed").fit_predict(W)
    assert same_partition(labels, [0, 1, 1, 1, 2, 2, 2, 2])


@settings(max_examples=15)
@given(seed=st.integers(0, 1000))
def test_order_scale_and_position_do_not_matter(seed, moons):
    X, _ = moons
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    base = SpectralClustering(2, random_state=0).fit_predict(X)
    moved = SpectralClustering(2, random_state=0).fit_predict(X[order] * 1e6 + 1e7)
    assert same_partition(moved, base[order])


@given(
    n=st.integers(2, 30),
    n_clusters=st.integers(1, 6),
    assign=st.sampled_from(["kmeans", "discretize"]),
    seed=st.integers(0, 100),
)
def test_assigned_labels_are_numbered_by_first_rows_and_have_centers(n, n_clusters, assign, seed):
    n_clusters = min(n, n_clusters)
    rows = unit_rows(np.random.default_rng(seed).standard_normal((n, n_clusters)))
    labels, places = assign_rows(rows, n_clusters, assign, seed)
    used, first = np.unique(labels, return_index=True)
    np.testing.assert_array_equal(used, np.arange(len(used)))
    assert (np.diff(first) > 0).all()
    assert len(places) == len(used) <= n_clusters


def test_same_labels_for_any_number_of_threads_and_a_seed(moons):
    X, _ = moons
    labels = [SpectralClustering(5, random_state=3, n_jobs=n).fit_predict(X) for n in (1, 2, None)]
    np.testing.assert_array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(labels[0], labels[2])


def test_a_seed_may_be_a_random_state(moons):
    model = SpectralClustering(2, graph="perturbed_mst", random_state=np.random.RandomState(0))
    assert same_partition(model.fit_predict(moons[0]), moons[1])


def test_clone_and_pickle_keep_everything(moons):
    model = SpectralClustering(2, graph="disjoint_mst", graph_params={"n_trees": 3}).fit(moons[0])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(moons[0][:5]), model.labels_[:5])
    assert clone(model).get_params() == model.get_params()


def test_distances_go_in_and_predict_takes_distances(moons):
    X, truth = moons
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    model = SpectralClustering(2, graph_params={"metric": "precomputed"}).fit(distances)
    assert same_partition(model.labels_, truth)
    np.testing.assert_array_equal(model.predict(distances[:7]), model.labels_[:7])


def test_duplicates_and_few_points_are_clustered():
    X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 20, axis=0)
    assert same_partition(SpectralClustering(2).fit_predict(X), np.repeat([0, 1], 20))
    assert SpectralClustering().fit(np.ones((30, 2))).n_clusters_ == 1
    np.testing.assert_array_equal(SpectralClustering(2).fit_predict([[0.0], [1.0]]), [0, 1])
    assert len(set(SpectralClustering(4).fit_predict(np.arange(4.0)[:, None]))) == 4


def test_graph_params_of_the_caller_are_not_changed(moons):
    params = {"n_trees": 3}
    SpectralClustering(2, graph="disjoint_mst", graph_params=params).fit(moons[0])
    assert params == {"n_trees": 3}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_clusters": 301}, "n_clusters=301"),
        ({"n_clusters": "many"}, "n_clusters='many'"),
        ({"n_clusters": 2.5}, "n_clusters=2.5"),
        ({"method": "other"}, "method='other'"),
        ({"assign": "other"}, "assign='other'"),
        ({"disconnected": "other"}, "disconnected='other'"),
        ({"graph": "other"}, "graph='other'"),
        ({"graph": "grid"}, "graph='grid'"),
        ({"scale": -1.0}, "scale=-1"),
        ({"max_clusters": 0}, "max_clusters=0"),
        ({"graph_params": {"n_neighbors": 300}}, "n_neighbors=300"),
        ({"graph_params": {"neighbours": 3}}, "neighbours"),
        ({"graph": lambda X: X}, "Graph of the 300"),
        ({"graph_params": {"directed": True}}, "symmetrize"),
    ],
)
def test_bad_parameters_are_named(parameters, message, moons):
    with pytest.raises((ValueError, TypeError), match=message):
        SpectralClustering(**parameters).fit(moons[0])


@pytest.mark.parametrize(
    ("W", "message"),
    [
        ([[0, 1.0], [0.5, 0]], "not symmetric"),
        ([[0, -1.0], [-1, 0]], "negative"),
        ([[0, 1.0, 0]], "square"),
    ],
)
def test_bad_affinities_are_named(W, message):
    with pytest.raises(ValueError, match=message):
        SpectralClustering(1, graph="precomputed").fit(np.asarray(W))


def test_a_graph_of_one_node_or_without_edges_is_its_components():
    lonely = Graph.from_edges(3, np.empty((0, 2), int), [])
    np.testing.assert_array_equal(SpectralClustering(3).fit_predict(lonely), [0, 1, 2])


@pytest.mark.parametrize("height", [8.0, 20.0, 1000.0])
def test_one_outlier_does_not_become_a_cluster(height):
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.normal(size=(100, 2)), rng.normal((6, 0), size=(100, 2)), [[3, height]]]
    )
    labels = SpectralClustering(2, random_state=0).fit(X).labels_
    assert np.bincount(labels).min() > 90


@pytest.mark.parametrize("seed", [0, 1])
def test_tails_of_a_gaussian_are_not_clusters(seed):
    X = np.random.default_rng(seed).normal(size=(1000, 2))
    assert SpectralClustering("auto", random_state=0).fit(X).n_clusters_ == 1
    both = np.concatenate([X, X + np.array([9, 0])])
    assert SpectralClustering("auto", random_state=0).fit(both).n_clusters_ == 2


def test_a_fifth_of_uniform_noise_leaves_clusters_whole():
    rng = np.random.default_rng(0)
    clusters = [rng.normal(size=(300, 2)) + centre for centre in ([0, 0], [7, 0], [3.5, 7])]
    X = np.concatenate([*clusters, rng.uniform(-6, 13, size=(200, 2))])
    labels = SpectralClustering(3, random_state=0).fit(X).labels_[:900]
    assert adjusted_rand_score(np.repeat([0, 1, 2], 300), labels) > 0.97


def test_few_points_on_a_line_are_seldom_taken_for_clusters():
    draws = [np.random.default_rng(seed).random((40, 1)) for seed in range(8)]
    counts = [SpectralClustering("auto", random_state=0).fit(X).n_clusters_ for X in draws]
    assert np.mean(np.array(counts) == 1) >= 0.7


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("assign", ["kmeans", "discretize"])
def test_labels_of_an_affinity_accept_every_seed(kind, assign):
    W = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    labels = spectral_labels(W, 2, assign=assign, random_state=kind(0))
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
