"""Trees of few points, by the matrix of their costs, are those of the searches among many."""

import numpy as np
import pytest
from tree_oracles import LAYOUTS, edge_set, make_points

from vicinal import graphs
from vicinal.graphs._build import nearest_foreign, prim
from vicinal.graphs._build.spanning_trees import spanning_links
from vicinal.neighbors.metric import as_metric

OFFSETS = np.random.default_rng(1).normal(size=90)
BUILDERS = {
    "mst": graphs.mst,
    "manhattan": lambda X: graphs.mst(X, metric="manhattan"),
    "cosine": lambda X: graphs.mst(X + 5.0, metric="cosine"),
    "single precision": lambda X: graphs.mst(X.astype(np.float32)),
    "tiny": lambda X: graphs.mst(X * 1e-200),
    "offsets": lambda X: graphs.mst(X, offsets=OFFSETS, offset_scale=0.5),
    "disjoint": lambda X: graphs.disjoint_mst(X, 3),
    "perturbed": lambda X: graphs.perturbed_mst(X, n_trees=4, random_state=0),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [2, 9])
@pytest.mark.parametrize("name", BUILDERS)
def test_the_matrix_gives_the_same_graph_as_other_searches(name, d, layout, monkeypatch):
    X = make_points(layout, 90, d, 3)
    if name == "disjoint" and layout not in ("random", "grid", "clustered"):
        pytest.skip("there are fewer disjoint trees")
    few = BUILDERS[name](X)
    monkeypatch.setattr(nearest_foreign, "MAX_POINTS_OF_MATRIX", 0)
    many = BUILDERS[name](X)
    assert edge_set(few) == edge_set(many)
    np.testing.assert_array_equal(few.lengths, many.lengths)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [2, 9])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_components_are_connected_by_the_same_edges(metric, d, layout, monkeypatch):
    X = make_points(layout, 120, d, 4)
    components = np.random.default_rng(0).integers(5, size=120)
    assert prim.is_fastest(components)
    few = spanning_links(X, as_metric(metric), components)
    monkeypatch.setattr(prim, "MAX_POINTS", 0)
    medium = spanning_links(X, as_metric(metric), components)
    monkeypatch.setattr(nearest_foreign, "MAX_POINTS_TO_CONNECT", 0)
    many = spanning_links(X, as_metric(metric), components)
    order = [np.lexsort(links[0].T) for links in (few, medium, many)]
    for a, b, c in zip(few, medium, many, strict=True):
        np.testing.assert_array_equal(a[order[0]], c[order[2]])
        np.testing.assert_array_equal(b[order[1]], c[order[2]])
