"""Sparse matrices with wrong index arrays are rejected wherever they enter, in every format."""

import inspect
import re

import numpy as np
import pytest
from scipy import sparse

import vicinal
from vicinal import (
    Graph,
    cluster,
    embed,
    graphs,
    metrics,
    operators,
    plot,
    rank,
    semi_supervised,
    similarity,
)
from vicinal._core.sparse import checked_csr
from vicinal.cli import main
from vicinal.neighbors import NeighborSearch
from vicinal.operators._conjugate_gradients import solve_positive_definite

N = 12


def ring(n=N):
    """Each node beside the next, both ways; distances and affinities alike."""
    nodes = np.arange(n)
    pairs = np.concatenate([nodes, (nodes + 1) % n]), np.concatenate([(nodes + 1) % n, nodes])
    return sparse.coo_array((np.ones(2 * n), pairs), shape=(n, n))


def far_index(matrix):
    matrix.indices[1] = 10**8


def negative_index(matrix):
    matrix.indices[1] = -7


def falling_pointers(matrix):
    matrix.indptr[2] = 2 * N


def pointers_beyond_the_end(matrix):
    matrix.indptr[-1] = 10**6


def late_start(matrix):
    matrix.indptr[0] = 1


def few_indices(matrix):
    matrix.indices = matrix.indices[:5]


def few_pointers(matrix):
    matrix.indptr = matrix.indptr[:5]


def real_indices(matrix):
    matrix.indices = matrix.indices + 0.5


FAULTS = [
    far_index,
    negative_index,
    falling_pointers,
    pointers_beyond_the_end,
    late_start,
    few_indices,
    few_pointers,
    real_indices,
]


def broken(fault=far_index, form="csr"):
    matrix = ring().asformat(form)
    matrix.indices, matrix.indptr = matrix.indices.copy(), matrix.indptr.copy()
    fault(matrix)
    return matrix


def broken_coordinates():
    matrix = ring()
    matrix.row[3] = 10**8
    return matrix


def broken_lists():
    matrix = ring().tolil()
    matrix.rows[2] = [10**8, 10**8 + 1]
    return matrix


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("fault", FAULTS)
def test_invalid_index_arrays_are_rejected(fault, form):
    with pytest.raises(
        ValueError, match=r"X is a malformed sparse matrix: it has .*; .*build it again"
    ):
        checked_csr(broken(fault, form), "X")


@pytest.mark.parametrize("make", [broken_coordinates, broken_lists])
def test_invalid_coordinates_are_rejected(make):
    with pytest.raises(ValueError, match=r"the (row|column) index 10000000\d, but there are 12"):
        checked_csr(make(), "X")


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia", "dok", "lil"])
def test_valid_matrices_pass_unchanged(form):
    given = ring().asformat(form)
    np.testing.assert_array_equal(checked_csr(given, "X").toarray(), ring().toarray())


def test_unused_capacity_is_not_read():
    matrix = ring().tocsr()
    n_stored = matrix.nnz
    matrix.indices = np.append(matrix.indices, [10**8] * 3)
    matrix.data = np.append(matrix.data, np.full(3, np.nan))
    result = checked_csr(matrix, "X")
    assert len(result.indices) == len(result.data) == n_stored
    assert len(matrix.indices) == n_stored + 3


def test_empty_matrices_pass():
    assert checked_csr(sparse.csr_array((3, 3)), "X").nnz == 0


ENTRIES = {
    "Graph.from_scipy": Graph.from_scipy,
    "Graph(points=)": lambda bad: Graph(
        np.zeros(N + 1, int), [], [], points=bad, metric="precomputed"
    ),
    "knn": lambda bad: graphs.knn(bad, 2, metric="precomputed"),
    "mst": lambda bad: graphs.mst(bad, metric="precomputed"),
    "complete": lambda bad: graphs.complete(bad, metric="precomputed"),
    "NeighborSearch": lambda bad: NeighborSearch(bad, metric="precomputed"),
    "NeighborSearch.nearest": lambda bad: NeighborSearch(
        ring().tocsr(), metric="precomputed"
    ).nearest(1, queries=bad),
    "smoothing_kernel": similarity.smoothing_kernel,
    "self_smooth": lambda bad: similarity.self_smooth(bad, 1),
    "SelfSmoothing similarity": lambda bad: similarity.SelfSmoothing(metric="similarity").fit(bad),
    "SelfSmoothing distances": lambda bad: similarity.SelfSmoothing(metric="precomputed").fit(bad),
    "laplacian": operators.laplacian,
    "leading_eigenpairs": lambda bad: operators.leading_eigenpairs(bad, 2),
    "solve_positive_definite": lambda bad: solve_positive_definite(bad, np.ones(N)),
    "stationary_distribution": operators.stationary_distribution,
    "SpectralClustering": lambda bad: cluster.SpectralClustering(2, graph="precomputed").fit(bad),
    "KernelKMeans": lambda bad: cluster.KernelKMeans(2, kernel="precomputed").fit(bad),
    "Isomap": lambda bad: embed.Isomap(graph="precomputed").fit(bad),
    "GraphClassifier": lambda bad: semi_supervised.GraphClassifier(graph="precomputed").fit(
        bad, [0, 1] + [-1] * (N - 2)
    ),
    "ManifoldRanking": lambda bad: rank.ManifoldRanking(graph="precomputed").fit(bad),
    "plot.similarity": plot.similarity,
    "perceive": vicinal.perceive,
}


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_checks_index_arrays(entry, form):
    with pytest.raises(ValueError, match="malformed sparse matrix"):
        ENTRIES[entry](broken(far_index, form))


def public_callables():
    for module in (graphs, operators, similarity, metrics, cluster, embed, rank, semi_supervised):
        for name in module.__all__:
            yield pytest.param(getattr(module, name), id=f"{module.__name__}.{name}")


def precomputed_variants(entry):
    """The estimator in each mode that takes matrices."""
    accepted = inspect.signature(entry).parameters
    for name in ("graph", "metric", "kernel", "affinity"):
        if name in accepted:
            yield entry(**{name: "precomputed"})
    yield entry()


@pytest.mark.parametrize("entry", list(public_callables()))
def test_no_public_function_uses_an_invalid_index(entry):
    bad = broken(far_index, "csr")
    if inspect.isclass(entry):
        if not hasattr(entry, "fit"):
            return
        calls = [lambda model=model: model.fit(bad) for model in precomputed_variants(entry)]
    else:
        accepted = inspect.signature(entry).parameters
        calls = [lambda: entry(bad)]
        if "metric" in accepted:
            calls.append(lambda: entry(bad, metric="precomputed"))
    for call in calls:
        # What matters here is that there is no result and no crash.
        with pytest.raises((ValueError, TypeError, AttributeError)):
            call()


FILES = {
    "csr": {"indices": [0, 10**8, -7], "indptr": [0, 1, 2, 3]},
    "csc": {"indices": [0, 10**8, -7], "indptr": [0, 1, 2, 3]},
    "bsr": {"indices": [0, 10**8, -7], "indptr": [0, 1, 2, 3], "data": np.ones((3, 1, 1))},
    "coo": {"row": [0, 1, 10**8], "col": [0, 1, 2]},
    "dia": {"offsets": [0, 1, 2, 3], "data": np.ones((3, 3))},
    "lil": {},
    "no such format": {},
}


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize(
    "words",
    [
        ["graph", "--kind", "mst"],
        ["graph", "--kind", "mst", "--metric", "precomputed"],
        ["perceive"],
        ["cluster"],
        ["smooth"],
    ],
    ids=" ".join,
)
def test_files_with_malformed_matrices_give_a_one_line_error(
    words, form, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    arrays = {"data": np.ones(3)} | FILES[form]
    np.savez("x.npz", format=form, shape=[3, 3], **arrays)
    assert main([words[0], "x.npz", *words[1:]]) == 2
    assert re.match(r"vicinal: error: (cannot read )?x\.npz ", capsys.readouterr().err)


def test_h5ad_files_with_invalid_indices_give_a_one_line_error(tmp_path, capsys):
    anndata = pytest.importorskip("anndata")
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(sparse.csr_matrix(ring())).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        file["X/indices"][1] = 10**8
    assert main(["graph", str(path), "--kind", "mst"]) == 2
    assert "malformed sparse matrix" in capsys.readouterr().err
