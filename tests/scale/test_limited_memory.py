"""A limit of memory changes where arrays are, and no result."""

import mmap
import subprocess
import sys

import numpy as np
import pytest

from vicinal import (
    ClusterPreservingEmbedding,
    LaplacianEigenmaps,
    OutlierDetector,
    PerceptualClustering,
    SpectralClustering,
    graphs,
    scale,
)

da = pytest.importorskip("dask.array")
from inputs import curved  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:the graph is not fully connected"),
    pytest.mark.filterwarnings("ignore:noise could not be separated"),
]
X = curved(900, d=5, n_clusters=3)
# The lists and graphs of these are large enough for files.
MANY = curved(50_000, d=3, n_clusters=3)
MEMORY = 10**8


def memory_of_run():
    with scale.config() as run:
        return run.memory


def is_in_a_file(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


@pytest.mark.parametrize(
    ("model", "result"),
    [
        (SpectralClustering(3, random_state=0), "labels_"),
        (SpectralClustering(7, method="ncut", random_state=0), "labels_"),
        (PerceptualClustering(3, random_state=0), "labels_"),
        (LaplacianEigenmaps(2, random_state=0), "embedding_"),
        (ClusterPreservingEmbedding(2, random_state=0), "embedding_"),
        (OutlierDetector(), "labels_"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_results_are_those_of_memory(model, result, tmp_path):
    with scale.config(store=tmp_path, cell_size=150, memory=MEMORY):
        found = getattr(model.fit(da.from_array(X, chunks=(250, 3))), result).compute()
    np.testing.assert_array_equal(found, getattr(model.fit(X), result))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("knn", {}),
        ("knn", {"mutual": True}),
        ("knn", {"directed": True}),
        ("mst", {}),
        ("disjoint_mst", {"n_trees": 2}),
    ],
)
def test_graphs_are_those_of_memory_and_outlive_the_block(name, arguments, tmp_path):
    build = getattr(graphs, name)
    with scale.config(store=tmp_path, memory=MEMORY):
        graph = build(da.from_array(MANY, chunks=20_000), **arguments)
    assert graph == build(MANY, **arguments)
    assert is_in_a_file(graph.lengths)


def test_contexts_are_those_of_memory(tmp_path):
    with scale.config(store=tmp_path, cell_size=150, memory=MEMORY):
        graph = graphs.contextual(da.from_array(X, chunks=400))
    assert graph == graphs.contextual(X)


def test_the_limit_holds_within_the_block_only(tmp_path):
    def build():
        return graphs.knn(da.from_array(MANY, chunks=20_000), 5).lengths

    with scale.config(memory=2 * MEMORY):
        assert memory_of_run() == 2 * MEMORY
        with scale.config(store=tmp_path, cell_size=20_000):
            assert memory_of_run() == 2 * MEMORY
            assert is_in_a_file(build())
    assert memory_of_run() is None
    assert not is_in_a_file(build())


@pytest.mark.parametrize("memory", [10**6, 0, -1, "4GB", 1.5, True])
def test_limits_that_are_none_are_errors(memory):
    with pytest.raises((ValueError, TypeError), match="memory="):
        scale.config(memory=memory)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak from /proc")
@pytest.mark.slow
def test_a_graph_that_needs_more_than_the_limit_is_built_below_it(tmp_path):
    def growth(memory):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", GROWTH, str(tmp_path), str(memory or "")],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return int(done.stdout)

    assert growth(150_000_000) < 150_000_000 < 250_000_000 < growth(None)


GROWTH = """
import sys
from pathlib import Path
import numpy as np
from vicinal import graphs, scale

folder, memory = sys.argv[1], int(sys.argv[2]) if sys.argv[2] else None

def build(name):
    graphs.knn(scale.read_npy(f"{folder}/{name}.npy", 20_000), 30, n_jobs=2)

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

points = np.random.default_rng(0).normal(size=(300_000, 3)).astype(np.float32)
np.save(f"{folder}/few.npy", points[:6000])
np.save(f"{folder}/all.npy", points)
with scale.config(cell_size=2000):
    build("few")
before = peak()
with scale.config(store=f"{folder}/store-{memory}", cell_size=10_000, memory=memory):
    build("all")
print(peak() - before)
"""
