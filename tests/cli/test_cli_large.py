"""Tables larger than memory: the same results as in memory, from every format that is read in chunks."""

import sys

import numpy as np
import pytest

from vicinal.cli import large
from vicinal.scale import _read_npy

da = pytest.importorskip("dask.array")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(150, 3)), rng.normal(size=(150, 3)) + 6])
    np.save(tmp_path / "points.npy", points)
    return tmp_path / "points.npy"


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(_read_npy, "CHUNK_BYTES", 70 * 24)


def written(run, *arguments):
    target = arguments[1].parent / f"{arguments[0]}{len(arguments)}.csv"
    assert run(*arguments, "-o", target, "--force") == 0
    return pd.read_csv(target)


COMMANDS = [
    ["graph", "--kind", "dmst", "--n-trees", "2"],
    ["graph", "--kind", "knn", "--neighbors", "5"],
    ["cluster", "--clusters", "2"],
    ["cluster", "--method", "perceptual", "--clusters", "2", "--noise", "0.1"],
    ["embed", "--method", "eigenmaps"],
    ["smooth", "-k", "4", "--pairs", "sparse"],
]


@pytest.mark.filterwarnings("ignore:the graph is not fully connected")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_results_with_a_store_are_those_of_memory(command, table, tmp_path, run):
    name, *options = command
    expected = written(run, name, table, "--as-is", *options)
    found = written(run, name, table, *options, "--store", tmp_path / "store", "--memory", "4GB")
    pd.testing.assert_frame_equal(found, expected)
    assert list((tmp_path / "store").rglob("manifest.json"))


def make_zarr(points, folder):
    zarr = pytest.importorskip("zarr")
    zarr.save_array(str(folder / "points.zarr"), points)
    return folder / "points.zarr", []


def make_zarr_group(points, folder):
    zarr = pytest.importorskip("zarr")
    zarr.open_group(str(folder / "group.zarr"), mode="w").create_array("obs", data=points)
    return folder / "group.zarr", ["--key", "obs"]


def make_parquet_folder(points, folder):
    (folder / "parts").mkdir()
    frame = pd.DataFrame(points, columns=["x", "y", "z"]).assign(name="row")
    for i, part in enumerate(np.array_split(frame, 3)):
        part.to_parquet(folder / "parts" / f"part-{i}.parquet", row_group_size=40)
    return folder / "parts", []


def make_parquet(points, folder):
    pd.DataFrame(points, columns=["x", "y", "z"]).to_parquet(folder / "points.parquet")
    return folder / "points.parquet", []


def make_h5ad(points, folder):
    anndata = pytest.importorskip("anndata")
    made = anndata.AnnData(np.zeros((len(points), 1)), obsm={"X_pca": points})
    made.write_h5ad(folder / "cells.h5ad")
    return folder / "cells.h5ad", ["--key", "X_pca"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make", [make_zarr, make_zarr_group, make_parquet_folder, make_parquet, make_h5ad]
)
def test_every_format_gives_the_same_graph(make, table, tmp_path, run, capsys):
    expected = written(run, "graph", table, "--as-is", "--kind", "mst")
    path, options = make(np.load(table), tmp_path)
    found = written(run, "graph", path, "--kind", "mst", "--store", tmp_path / "s", *options)
    pd.testing.assert_frame_equal(found, expected)
    if make is make_parquet_folder:
        assert "skipped 1 column(s) that are not numbers: name" in capsys.readouterr().err


def test_work_on_a_cluster(table, tmp_path, run):
    distributed = pytest.importorskip("distributed")
    expected = written(run, "graph", table, "--as-is", "--kind", "mst")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        found = written(
            run, "graph", table, "--kind", "mst", "--store", tmp_path / "store",
            "--scheduler", cluster.scheduler_address,
        )  # fmt: skip
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of memory")
def test_the_limit_of_memory_is_set_only_while_the_command_runs(table, tmp_path, run, monkeypatch):
    import resource

    from vicinal import graphs, scale

    seen = []
    mst = graphs.mst

    def build(*args, **kwargs):
        with scale.config() as run:
            seen.append((resource.getrlimit(resource.RLIMIT_DATA)[0], run))
        return mst(*args, **kwargs)

    build.__signature__ = __import__("inspect").signature(mst)
    monkeypatch.setattr(graphs, "mst", build, raising=False)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    options = ["--kind", "mst", "--store", tmp_path / "store", "--jobs", "2"]
    assert run("graph", table, *options, "--memory", "300MB") == 0
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    ((limit, settings),) = seen
    assert limit != before[0]
    assert settings.max_cell_size == 300_000_000 // (2 * 3 * large.BYTES_PER_VALUE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory", "4GB"], "--memory needs --store DIR"),
        (["--scheduler", "tcp://127.0.0.1:1"], "--scheduler needs --store DIR"),
        (["--store", "S", "--standardize"], "--standardize needs all rows in memory"),
        (["--store", "S", "--label", "x"], "--label needs all rows in memory"),
        (["--store", "S", "--plot", "p.png"], "--plot needs all rows in memory"),
        (["--store", "S", "--kind", "gabriel"], "does not process in chunks"),
        (["--store", "S", "--metric", "precomputed"], "a matrix of pairs (distances) needs all"),
    ],
)
def test_what_cannot_be_done_in_chunks_is_an_error(options, message, table, tmp_path, error_of):
    options = [tmp_path / "s" if option == "S" else option for option in options]
    kind = [] if "--kind" in options else ["--kind", "mst"]
    assert message in error_of("graph", table, *kind, *options)


def test_files_that_cannot_be_read_in_chunks_are_named(tmp_path, error_of):
    (tmp_path / "points.csv").write_text("x,y\n1,2\n3,4\n")
    store = ["--store", tmp_path / "store"]
    assert "cannot be read in chunks" in error_of("graph", tmp_path / "points.csv", *store)
    assert "does not exist" in error_of("graph", tmp_path / "none.npy", *store)
    np.save(tmp_path / "line.npy", np.arange(5.0))
    assert "a table of numbers" in error_of("graph", tmp_path / "line.npy", *store)
    np.save(tmp_path / "cut.npy", np.ones((50, 3)))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:300])
    assert "create a truncated file again" in error_of("graph", tmp_path / "cut.npy", *store)
    bad = np.ones((50, 3))
    bad[33, 1] = np.nan
    np.save(tmp_path / "bad.npy", bad)
    assert "at [33, 1]" in error_of("graph", tmp_path / "bad.npy", *store)


@pytest.mark.parametrize("size", ["4", "GB", "xGB", "1KB", "4 lightyears"])
def test_sizes_that_are_none_are_usage_errors(size, table, run, capsys):
    with pytest.raises(SystemExit) as stop:
        run("graph", table, "--memory", size)
    assert stop.value.code == 2
    assert "--memory" in capsys.readouterr().err
