"""Spanning trees of dask arrays have the edges and lengths, bit for bit, of those of arrays in memory."""

from contextlib import suppress

import numpy as np
import pytest

from vicinal import graphs, scale
from vicinal.scale._engine import ThreadEngine, group_items

da = pytest.importorskip("dask.array")
from inputs import HARD, curved  # noqa: E402


@pytest.fixture(autouse=True)
def no_materialising(monkeypatch):
    """Turn every conversion of a dask array to numpy into a failure."""

    def fail(self, *args, **kwargs):
        raise AssertionError("a dask array was loaded into memory")

    monkeypatch.setattr(da.Array, "__array__", fail)


def slow(value):
    return pytest.param(value, marks=pytest.mark.slow)


def chunked(X):
    return da.from_array(X, chunks=(len(X) // 3 + 1, -1))


@pytest.mark.parametrize("X", HARD.values(), ids=HARD)
@pytest.mark.parametrize("n_cells", [slow(1), 4, slow(13)])
def test_the_tree_is_that_of_memory(X, n_cells):
    with scale.config(cell_size=-(-len(X) // n_cells)):
        assert graphs.mst(chunked(X)) == graphs.mst(X)


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
@pytest.mark.parametrize("name", ["normal", "grid", "float32", "huge", "tiny", "many dimensions"])
def test_the_tree_of_every_metric_is_that_of_memory(name, metric):
    X = HARD[name][1:]  # the grid starts with a zero vector
    with scale.config(cell_size=50):
        assert graphs.mst(chunked(X), metric=metric) == graphs.mst(X, metric=metric)


@pytest.mark.parametrize(
    "name", ["normal", "curved", "float32", "grid", "duplicates", "huge", "many dimensions"]
)
@pytest.mark.parametrize("n_cells", [slow(1), 6])
def test_disjoint_trees_are_those_of_memory(name, n_cells):
    X = HARD[name]
    with scale.config(cell_size=-(-len(X) // n_cells)):
        assert graphs.disjoint_mst(chunked(X), 3) == graphs.disjoint_mst(X, 3)


@pytest.mark.parametrize("chunks", [1, 7, (100, 1, 99, 50), 250], ids=str)
def test_chunks_do_not_change_the_tree(chunks):
    X = curved(250, d=4)
    array = da.from_array(X, chunks=250).rechunk((chunks, -1))
    with scale.config(cell_size=70):
        assert graphs.mst(array) == graphs.mst(X)


def test_components_are_connected_as_in_memory():
    X = np.concatenate([curved(300, d=3, n_clusters=9), np.ones((5, 3)), np.ones((5, 3))])
    components = np.arange(len(X)) % 40
    edges = [[i, i + 40] for i in range(len(X) - 40)]
    with scale.config(cell_size=40):
        stored = graphs.knn(chunked(X), 2).points
    graph, known = (
        graphs.Graph.from_edges(len(X), edges, np.ones(len(edges)), points=points)
        for points in (stored, X)
    )
    assert known.n_components == len(np.unique(components)) == 40
    assert graph.connect() == known.connect()
    assert graph.connect(n_links=3) == known.connect(n_links=3)


@pytest.mark.parametrize(
    "name", ["normal", "curved", "grid", "duplicates", "huge", "tiny", "many dimensions"]
)
@pytest.mark.parametrize("scale_of_squares", [slow(1.0), 0.1])
def test_trees_with_offsets_are_those_of_memory(name, scale_of_squares):
    X = HARD[name]
    unit = float(np.abs(X).max()) ** 2 if name != "huge" else 1e300
    offsets = unit * np.random.default_rng(1).uniform(0, 0.2, len(X))
    options = {"offsets": offsets, "offset_scale": scale_of_squares}
    with scale.config(cell_size=-(-len(X) // 5)):
        assert graphs.mst(chunked(X), **options) == graphs.mst(X, **options)


def test_too_many_disjoint_trees_are_an_error():
    X = HARD["one place"]
    with pytest.raises(ValueError, match="only 1 tree"):
        graphs.disjoint_mst(chunked(X), 2)


def test_no_files_of_a_tree_are_left(tmp_path):
    with scale.config(store=tmp_path, cell_size=100):
        graphs.mst(chunked(HARD["normal"]))
    assert not list(tmp_path.rglob("tree-*"))


# Spanning forests T_1, ..., T_t of a set of edges, each of what the earlier ones left over, are a summary
# that can be merged: an edge outside of them is in no such forest of a larger set. With a strict order of
# edges (here their ranks), F_t(A and B) = F_t(F_t(A) and F_t(B)) for any sets A and B.


def forests(ranks, ends, n_forests):
    """Edges of the first forests of a set of edges, by Kruskal's algorithm."""
    left, kept = sorted(ranks), []
    for _ in range(n_forests):
        parent = {}

        def root(i, parent=parent):
            while parent.get(i, i) != i:
                i = parent[i]
            return i

        rest = []
        for rank in left:
            a, b = (root(i) for i in ends[rank])
            if a == b:
                rest.append(rank)
            else:
                parent[a] = b
                kept.append(rank)
        left = rest
    return set(kept)


@pytest.mark.parametrize("seed", range(60))
def test_forests_of_a_union_are_those_of_the_union_of_forests(seed):
    rng = np.random.default_rng(seed)
    n, n_forests = int(rng.integers(2, 14)), int(rng.integers(1, 5))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    ends = [pairs[i] for i in rng.permutation(len(pairs))]  # edge r is the r-th shortest
    owner = rng.integers(0, 3, len(ends))  # in A, in B, or in both
    A = {r for r in range(len(ends)) if owner[r] != 0}
    B = {r for r in range(len(ends)) if owner[r] != 1}
    merged = forests(A, ends, n_forests) | forests(B, ends, n_forests)
    assert forests(merged, ends, n_forests) == forests(A | B, ends, n_forests)


def test_disjoint_trees_are_the_first_forests_of_all_edges():
    X = curved(40, d=3)
    pairs = [(i, j) for i in range(40) for j in range(i)]
    ends = sorted(pairs, key=lambda p: (((X[p[0]] - X[p[1]]) ** 2).sum(), p[1], p[0]))
    expected = sorted(tuple(sorted(ends[r])) for r in forests(range(len(ends)), ends, 3))
    with scale.config(cell_size=9):
        found = graphs.disjoint_mst(da.from_array(X, chunks=11), 3)
    assert [tuple(edge) for edge in found.edges().tolist()] == expected


@pytest.mark.parametrize(
    "name",
    [
        "normal",
        "curved",
        "float32",
        "grid",
        "duplicates",
        "huge",
        "tiny",
        "two points",
        "many dimensions",
    ],
)
@pytest.mark.parametrize(
    "options",
    [{}, {"noise_model": "aligned"}, pytest.param({"metric": "manhattan"}, marks=pytest.mark.slow)],
    ids=str,
)
def test_perturbed_trees_are_those_of_memory(name, options):
    X = HARD[name]
    options = {"n_trees": 3, "random_state": 1, **options}
    with scale.config(cell_size=-(-len(X) // 5)):
        assert graphs.perturbed_mst(chunked(X), **options) == graphs.perturbed_mst(X, **options)


def test_perturbed_distances_of_all_pairs_are_rejected():
    with pytest.raises(TypeError, match=r"metric='cosine' perturbs the distances of all pairs"):
        graphs.perturbed_mst(chunked(HARD["normal"]), metric="cosine")


def test_delayed_tasks_of_earlier_searches_do_not_disturb_later_ones(monkeypatch):
    run, earlier = ThreadEngine.run, []

    def run_all_again(engine, task, items, title, long_work=None):
        results = run(engine, task, items, title, long_work)
        for item in earlier if title == "spanning tree" else []:
            with suppress(FileNotFoundError):
                task(*item)
        earlier.extend(items if title == "spanning tree" else [])
        return results

    monkeypatch.setattr(ThreadEngine, "run", run_all_again)
    X = curved(2000)
    with scale.config(cell_size=300):
        assert graphs.disjoint_mst(chunked(X), 2) == graphs.disjoint_mst(X, 2)
    assert len({id(item[-1]) for item in earlier}) > 2


@pytest.mark.parametrize("n_workers", [1, 3, 50])
@pytest.mark.parametrize("sizes", [[5], [1, 1, 90, 1], list(range(1, 40)), [7] * 30])
def test_items_are_grouped_into_a_few_tasks_of_similar_size(sizes, n_workers):
    sizes = np.array(sizes)
    groups = group_items(sizes, n_workers)
    n_tasks = min(len(sizes), 4 * n_workers)
    assert len(groups) <= n_tasks
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(sizes)))
    assert all((np.diff(group) == 1).all() for group in groups)
    totals = [sizes[group].sum() for group in groups]
    assert totals == sorted(totals, reverse=True)
    assert totals[0] <= sizes.sum() / n_tasks + sizes.max()
