"""A limit of memory changes where arrays are, and no result."""

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
from vicinal._core import file_arrays
from vicinal.scale.settings import current_settings

da = pytest.importorskip("dask.array")
from inputs import curved  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux"),
    pytest.mark.filterwarnings("ignore:the graph is not fully connected"),
    pytest.mark.filterwarnings("ignore:noise could not be separated"),
]
X = curved(900, d=5, n_clusters=3)
MEMORY = 10**8


@pytest.fixture
def nearly_all_in_files(monkeypatch, tmp_path):
    """Arrays from 20,000 bytes on are in files."""
    monkeypatch.setattr(file_arrays, "MIN_ARRAY_FRACTION", 2e-4)
    with scale.config(store=tmp_path, cell_size=150, memory=MEMORY):
        yield da.from_array(X, chunks=(250, 3))


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
def test_results_are_those_of_memory(model, result, nearly_all_in_files):
    found = getattr(model.fit(nearly_all_in_files), result).compute()
    np.testing.assert_array_equal(found, getattr(model.fit(X), result))


@pytest.mark.parametrize("name", ["knn", "mst", "disjoint_mst", "contextual"])
def test_graphs_are_those_of_memory_and_outlive_the_block(name, monkeypatch, tmp_path):
    monkeypatch.setattr(file_arrays, "MIN_ARRAY_FRACTION", 2e-4)
    build = getattr(graphs, name)
    with scale.config(store=tmp_path, cell_size=150, memory=MEMORY):
        graph = build(da.from_array(X, chunks=400))
    assert graph == build(X)


def test_the_limit_holds_within_the_block_only(tmp_path):
    with scale.config(memory=2 * MEMORY):
        assert current_settings().memory == 2 * MEMORY
        assert file_arrays.current_limit().folder is None
        with scale.config(store=tmp_path, cell_size=100):
            assert current_settings().memory == 2 * MEMORY
        with scale.config(store=tmp_path, memory=MEMORY):
            assert file_arrays.current_limit().folder == tmp_path
    assert current_settings().memory is None
    assert file_arrays.current_limit() is None


@pytest.mark.parametrize("memory", [10**6, 0, -1, "4GB", 1.5, True])
def test_limits_that_are_none_are_errors(memory):
    with pytest.raises((ValueError, TypeError), match="memory="):
        scale.config(memory=memory)


@pytest.mark.slow
def test_the_limit_holds_where_eigenvectors_are_iterated(tmp_path):
    growth = int(subprocess.run(
        [sys.executable, "-W", "ignore", "-c", GROWTH, str(tmp_path)],
        check=True, capture_output=True, text=True,
    ).stdout)  # fmt: skip
    assert growth < MEMORY


GROWTH = f"""
import sys
from pathlib import Path
import numpy as np
from vicinal import SpectralClustering, scale

def cluster(name):
    X = scale.read_npy(f"{{sys.argv[1]}}/{{name}}.npy", 10_000)
    SpectralClustering(20, random_state=0, n_jobs=1).fit(X)

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

points = np.random.default_rng(0).normal(size=(60_000, 3)).astype(np.float32)
np.save(f"{{sys.argv[1]}}/few.npy", points[:3000])
np.save(f"{{sys.argv[1]}}/all.npy", points)
cluster("few")
before = peak()
with scale.config(store=f"{{sys.argv[1]}}/store", memory={MEMORY}):
    cluster("all")
print(peak() - before)
"""
