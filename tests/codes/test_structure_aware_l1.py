"""The structure-aware L1 graph: ranked dictionaries, and codes that are optimal over them."""

import numpy as np
import pytest
from code_oracles import basis_pursuit, dense, lasso, unit_rows

from vicinal import SpectralClustering
from vicinal.codes._atom_kernels import best_columns
from vicinal.codes._dictionaries import (
    best_rows,
    heat_affinity,
    local_atoms,
    manifold_atoms,
    manifold_scores,
)
from vicinal.codes._krylov_ranking import krylov_atoms
from vicinal.datasets import make_swiss_roll, make_two_moons
from vicinal.graphs import knn, l1, structure_aware_l1
from vicinal.metrics import clustering_accuracy
from with_threads import with_threads


def table(n, n_features, seed=0):
    return np.random.default_rng(seed).standard_normal((n, n_features))


def scores_by_definition(W, alpha, corrected):
    """F = (I - alpha D^-1/2 W D^-1/2)^-1, its columns over roots of degrees if corrected."""
    D = np.diag(W.sum(axis=1) ** -0.5)
    F = np.linalg.inv(np.eye(len(W)) - alpha * D @ W @ D)
    return F @ D if corrected else F


def best_by_definition(F, k):
    F = F.copy()
    np.fill_diagonal(F, -np.inf)
    return np.argsort(-F, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.99])
def test_scores_are_those_of_the_inverse(corrected, alpha):
    W = heat_affinity(table(150, 3))
    expected = scores_by_definition(W, alpha, corrected)
    result = manifold_scores(W.copy(), alpha, corrected)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-8 * expected.max())
    if alpha > 0:
        true = np.sort(best_by_definition(expected, 20), axis=1)
        np.testing.assert_array_equal(with_threads(1, best_rows, result, 20), true)


def test_ties_go_to_the_smaller_index():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, (130, 130)).astype(float)
    true = np.sort(best_by_definition(scores, 25), axis=1)
    np.testing.assert_array_equal(with_threads(2, best_rows, scores, 25), true)


def test_affinities_are_the_heat_kernel_at_a_typical_distance():
    X = table(60, 2)
    W = heat_affinity(X)
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    scale = np.median(np.sort(distances, axis=1)[:, 7])
    expected = np.exp(-0.25 * (distances / scale) ** 2) - np.eye(60)
    np.testing.assert_allclose(W, expected, atol=1e-12)


@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize("kind", ["roll", "noise", "groups"])
def test_ranking_in_balls_finds_the_best_of_the_whole_graph(kind, corrected):
    X = {
        "roll": make_swiss_roll(900, random_state=0)[0],
        "noise": table(900, 20),
        "groups": table(900, 5) + 8 * table(6, 5, seed=1)[np.arange(900) % 6],
    }[kind]
    affinity = knn(X, 10).connect().affinity()
    true = best_by_definition(scores_by_definition(affinity.toarray(), 0.99, corrected), 40)
    result = local_atoms(affinity, 40, 0.99, corrected)
    shares = [np.isin(a, b).mean() for a, b in zip(true, result.atoms, strict=True)]
    assert np.mean(shares) > 0.95
    assert result.recall > 0.95
    assert not (result.atoms == np.arange(900)[:, None]).any()
    assert (np.diff(np.sort(result.atoms, axis=1)) > 0).all()


@pytest.mark.parametrize("kind", ["directions", "roll", "clusters", "far clusters"])
def test_ranking_in_a_krylov_space_finds_the_best_of_the_inverse(kind):
    X = {
        "directions": unit_rows(table(1200, 20)),
        "roll": make_swiss_roll(1200, random_state=0)[0],
        "clusters": table(1200, 12) + 6 * table(4, 12, seed=1)[np.arange(1200) % 4],
        "far clusters": 1e4 + table(1200, 12) + 30 * table(3, 12, seed=1)[np.arange(1200) % 3],
    }[kind]
    exact = best_rows(manifold_scores(heat_affinity(X), 0.99, True), 120)
    result = with_threads(1, krylov_atoms, X, 120, 0.99, 7)
    assert result.recall >= 0.99
    assert np.mean([np.isin(*pair).mean() for pair in zip(exact, result.atoms, strict=True)]) > 0.99
    assert (np.diff(result.atoms, axis=1) > 0).all()
    assert not (result.atoms == np.arange(1200)[:, None]).any()
    again = with_threads(3, krylov_atoms, X, 120, 0.99, 7)
    np.testing.assert_array_equal(again.atoms, result.atoms)


def test_points_that_single_precision_cannot_rank_are_ranked_by_the_inverse():
    settings = {
        "alpha": 0.99,
        "corrected": True,
        "n_neighbors": None,
    }
    outlier = np.vstack([table(1100, 3), [[1e3, 0.0, 0.0]]])
    # More atoms than points of a cluster: only the tiny affinities to other clusters rank the rest.
    clusters = 0.05 * table(1100, 10) + 10 * np.eye(10)[np.arange(1100) % 10]
    for X in (outlier, clusters):
        assert krylov_atoms(X, 200, 0.99, 7) is None
        result = manifold_atoms(X, 200, exact=False, **settings)
        np.testing.assert_array_equal(
            result.atoms, manifold_atoms(X, 200, exact=True, **settings).atoms
        )
        assert result.recall == 1.0
    assert krylov_atoms(np.ones((1100, 3)), 5, 0.99, 7) is None
    assert krylov_atoms(table(1100, 3), 5, 0.9999, 7) is None


def test_selection_in_single_precision_is_that_of_a_stable_sort():
    rng = np.random.default_rng(0)
    rows = rng.integers(-3, 4, (90, 90)).astype(np.float32)
    rows[:30] = rng.standard_normal((30, 90))
    rows[0, :5] = [np.inf, -np.inf, 0.0, 1e-45, -1e-45]
    found = np.empty((90, 20), dtype=np.int64)
    best_columns(rows, np.arange(90), found)
    np.testing.assert_array_equal(found, np.sort(best_by_definition(rows, 20), axis=1))


def test_the_ranking_of_the_reference_is_available():
    X = table(1050, 8)
    exact = structure_aware_l1(X, 20, exact_ranking=True)
    assert exact.metadata["codes"].recall == 1.0
    default = structure_aware_l1(X, 20)
    assert 0.99 <= default.metadata["codes"].recall <= 1.0
    shared = len(np.intersect1d(*(g.edges() @ [1050, 1] for g in (exact, default))))
    assert shared > 0.99 * max(exact.n_edges, default.n_edges)
    for changes in ({"ranking": "euclidean"}, {"n_neighbors": 5}):
        with pytest.raises(ValueError, match="exact_ranking=True is given with"):
            structure_aware_l1(X[:50], 5, exact_ranking=True, **changes)


def test_without_degree_correction_all_points_get_the_same_atoms():
    X = table(200, 4)
    settings = {"alpha": 0.99, "n_neighbors": None, "exact": False}
    literal = manifold_atoms(X, 20, corrected=False, **settings).atoms
    corrected = manifold_atoms(X, 20, corrected=True, **settings).atoms
    assert len(np.unique(literal)) < 100 < 180 < len(np.unique(corrected))


@pytest.mark.parametrize(
    ("ranking", "n_neighbors"),
    [
        ("manifold", None),
        ("manifold", 5),
        ("euclidean", None),
        ("perceptual", None),
        ("perceptual", 5),
    ],
)
def test_codes_are_those_of_the_lasso_over_the_dictionary(ranking, n_neighbors):
    X = table(60, 8)
    graph = structure_aware_l1(X, 12, ranking=ranking, penalty=0.1, n_neighbors=n_neighbors)
    W, Z = dense(graph), unit_rows(X)
    assert graph.metadata["codes"].gaps.max() < 1e-8
    assert graph.metadata["codes"].support_sizes.max() <= 12
    if ranking == "euclidean":
        atoms = np.argsort(np.linalg.norm(X[:, None] - X[None], axis=-1), axis=1)[:, 1:13]
        for i in range(0, 60, 9):
            expected = np.zeros(60)
            expected[atoms[i]] = lasso(Z[atoms[i]], Z[i], 0.1)
            np.testing.assert_allclose(W[i], expected, atol=1e-6)


def test_exact_codes_over_dictionaries_are_those_of_the_linear_program():
    X = table(50, 4)
    graph = structure_aware_l1(X, 7, ranking="euclidean", equality=True)
    W, Z = dense(graph), unit_rows(X)
    atoms = np.argsort(np.linalg.norm(X[:, None] - X[None], axis=-1), axis=1)[:, 1:8]
    assert 0 < len(graph.metadata["codes"].inexact) < 50
    for i in range(50):
        best = basis_pursuit(Z[atoms[i]], Z[i])
        assert (best is None) == (i in graph.metadata["codes"].inexact)
        if best is not None:
            assert W[i].sum() == pytest.approx(best, abs=1e-8)


def test_a_dictionary_of_all_others_gives_the_l1_graph():
    X = table(40, 5)
    np.testing.assert_allclose(dense(structure_aware_l1(X, 39)), dense(l1(X)), atol=1e-9)


def test_codes_stay_within_a_moon_unlike_those_of_the_l1_graph():
    X, y = make_two_moons(200, noise=0.03, random_state=0)
    shares = []
    for graph in (l1(X), structure_aware_l1(X, 10)):
        edges = graph.edges()
        shares.append(
            graph.strengths[y[edges[:, 0]] != y[edges[:, 1]]].sum() / graph.strengths.sum()
        )
    assert shares[0] > 0.1
    assert shares[1] < 0.01


def test_spectral_clustering_accepts_the_graph_by_name():
    X, y = make_two_moons(200, noise=0.03, random_state=0)
    model = SpectralClustering(
        2, graph="structure_aware_l1", graph_params={"n_atoms": 10}, random_state=0
    ).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert not model.graph_.directed
    W = structure_aware_l1(X, 10).to_scipy("strengths").toarray()
    np.testing.assert_allclose(model.affinity_.toarray(), (W + W.T) / 2)
    assert model.graph_.metadata["codes"].explained.shape == (200,)


def test_a_fraction_is_rounded_to_a_count():
    X = table(30, 3)
    assert structure_aware_l1(X, 0.2) == structure_aware_l1(X, 6)
    assert structure_aware_l1(X, 0.001) == structure_aware_l1(X, 1)
    assert structure_aware_l1(X, 0.999) == structure_aware_l1(X, 29)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_atoms": 0}, "n_atoms=0.*from 1 to 19.*fraction"),
        ({"n_atoms": 20}, "n_atoms=20.*from 1 to 19"),
        ({"n_atoms": 0.0}, "n_atoms=0.0"),
        ({"n_atoms": 1.0}, "n_atoms=1.0.*l1"),
        ({"n_atoms": "many"}, "n_atoms='many'"),
        ({"n_atoms": True}, "n_atoms=True"),
        ({"ranking": "random"}, "ranking='random'.*manifold"),
        ({"alpha": 1.0}, "alpha=1.0"),
        ({"alpha": -0.1}, "alpha=-0.1"),
        ({"alpha": np.nan}, "alpha"),
        ({"penalty": 0.0}, "penalty=0.0"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
    ],
)
def test_errors_name_the_invalid_parameter(changes, words):
    with pytest.raises((TypeError, ValueError), match=words):
        structure_aware_l1(table(20, 3), **changes)


def test_errors_name_zero_rows():
    X = table(20, 3)
    X[4] = 0.0
    with pytest.raises(ValueError, match=r"row\(s\) 4"):
        structure_aware_l1(X)


def test_outliers_with_vanishing_affinities_have_a_code():
    X = np.vstack([table(40, 3), [[1e6, 1e6, 1e6]]])
    graph = structure_aware_l1(X, 40)
    assert graph.metadata["codes"].support_sizes[-1] > 0
    assert graph.metadata["codes"].gaps.max() < 1e-8


def test_without_diffusion_atoms_are_ranked_by_affinity():
    X = table(80, 3)
    result = manifold_atoms(X, 6, alpha=0.0, corrected=False, n_neighbors=None, exact=True)
    W = heat_affinity(X)
    roots = np.sqrt(W.sum(axis=1))
    true = np.sort(best_by_definition(W / np.outer(roots, roots), 6), axis=1)
    assert (result.atoms == true).mean() > 0.99


def test_arguments_that_a_ranking_cannot_use_are_rejected():
    X = table(30, 3)
    with pytest.raises(ValueError, match="n_neighbors=5 is given with ranking='euclidean'"):
        structure_aware_l1(X, 4, ranking="euclidean", n_neighbors=5)
    with pytest.raises(ValueError, match="X has 2 points; contexts need 3"):
        structure_aware_l1(X[:2], 1, ranking="perceptual")
    with pytest.raises(ValueError, match="dominated by rounding so close to 1"):
        structure_aware_l1(X, 4, alpha=np.nextafter(1.0, 0.0))
