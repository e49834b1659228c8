"""Damaged files of every format: the command ends in success, or in one line with the file and the reason."""

import bz2
import gzip
import lzma
import sqlite3

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

N_DAMAGES = 20
RNG = np.random.default_rng(0)
FRAME = pandas.DataFrame(
    {
        "name": [f"row {i}" for i in range(30)],
        "x": RNG.random(30),
        "y": RNG.integers(0, 9, 30),
        "kind": ["a", "b"] * 15,
    }
)
POINTS = FRAME[["x", "y"]].to_numpy(float)
PIXELS = RNG.integers(0, 255, (20, 20), dtype=np.uint8)


def save_sqlite(path):
    connection = sqlite3.connect(path)
    FRAME.to_sql("rows", connection, index=False)
    connection.close()


def save_duckdb(path):
    duckdb = pytest.importorskip("duckdb")
    frame = FRAME  # noqa: F841, read by the query
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE rows AS SELECT * FROM frame")


def save_excel(path):
    pytest.importorskip("openpyxl")
    FRAME.to_excel(path, index=False)


def save_anndata(path):
    anndata = pytest.importorskip("anndata")
    rows = FRAME[["kind"]].set_axis(FRAME["name"])
    anndata.AnnData(POINTS, obs=rows, obsm={"pca": POINTS}).write_h5ad(path)


def save_sparse(path):
    from scipy import sparse

    sparse.save_npz(path, sparse.csr_array(POINTS))


def save_frame(method, **options):
    def save(path):
        if method in ("to_parquet", "to_feather"):
            pytest.importorskip("pyarrow")
        getattr(FRAME, method)(path, **options)

    return save


def save_compressed(opener):
    def save(path):
        with opener(path, "wt") as file:
            file.write(FRAME.to_csv(index=False))

    return save


def save_image(path):
    pytest.importorskip("PIL.Image").fromarray(PIXELS).save(path)


WRITERS = {
    "t.csv": save_frame("to_csv", index=False),
    "t.tsv": save_frame("to_csv", index=False, sep="\t"),
    "t.csv.gz": save_compressed(gzip.open),
    "t.csv.bz2": save_compressed(bz2.open),
    "t.csv.xz": save_compressed(lzma.open),
    "t.jsonl": save_frame("to_json", orient="records", lines=True),
    "t.parquet": save_frame("to_parquet"),
    "t.feather": save_frame("to_feather"),
    "t.arrow": save_frame("to_feather", compression="uncompressed"),
    "t.xlsx": save_excel,
    "t.sqlite": save_sqlite,
    "t.duckdb": save_duckdb,
    "t.npy": lambda path: np.save(path, POINTS),
    "t.npz": lambda path: np.savez(path, X=POINTS),
    "packed.npz": lambda path: np.savez_compressed(path, X=POINTS, name=FRAME["x"]),
    "sparse.npz": save_sparse,
    "t.h5ad": save_anndata,
    "t.png": save_image,
    "t.tif": save_image,
    "t.gif": save_image,
}


def truncate(content, random):
    del content[random.integers(len(content)) :]


def flip_bits(content, random):
    for place in random.integers(len(content), size=random.integers(1, 9)):
        content[place] ^= 1 << random.integers(8)


def zero_block(content, random):
    start = random.integers(len(content))
    length = min(random.integers(1, max(2, len(content) // 4)), len(content) - start)
    content[start : start + length] = bytes(length)


def change_bytes(content, random):
    for place in random.integers(len(content), size=random.integers(1, 40)):
        content[place] = random.integers(256)


@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_file_is_named_with_the_reason(name, tmp_path, run, capsys):
    path = tmp_path / name
    WRITERS[name](path)
    good = path.read_bytes()
    # HDF5 itself hangs on some changed bytes, so that .h5ad has a test of its own below.
    kinds = [truncate] if name == "t.h5ad" else [truncate, zero_block, flip_bits, change_bytes]
    if path.suffix in (".png", ".tif", ".gif"):
        command = ["segment", path, "-n", 2, "--labels", tmp_path / "out.npy", "--force"]
    else:
        command = ["graph", path, "--kind", "mst"]
    for seed in range(N_DAMAGES):
        content = bytearray(good)
        kinds[seed % len(kinds)](content, np.random.default_rng(seed))
        path.write_bytes(content)
        code = run(*command)
        message = capsys.readouterr().err
        lines = [line for line in message.splitlines() if "error" in line]
        assert code in (0, 2), (seed, message)
        if code == 2:
            assert len(lines) == 1, (seed, message)
            assert lines[0].startswith("vicinal: error: "), (seed, message)
            assert name in lines[0], (seed, message)


@pytest.mark.parametrize("word", [b"TREE", b"HEAP", b"SNOD", b"GCOL", b"encoding-type", b"array"])
def test_an_h5ad_file_with_a_damaged_word_is_named(word, tmp_path, error_of):
    path = tmp_path / "t.h5ad"
    save_anndata(path)
    path.write_bytes(path.read_bytes().replace(word, b"x" * len(word)))
    assert f"cannot read {path} as .h5ad" in error_of("graph", path, "--kind", "mst")


@pytest.mark.parametrize(
    "suffix", [".csv", ".csv.gz", ".jsonl", ".npy", ".arrow", ".h5ad", ".duckdb"]
)
def test_an_error_while_a_file_is_read_names_it(suffix, tmp_path, error_of):
    path = tmp_path / f"t{suffix}"
    try:
        path.symlink_to("/proc/self/mem")  # exists, can be opened, but not read
        with open(path, "rb"):
            pass
    except OSError:
        pytest.skip("needs /proc/self/mem")
    assert f"cannot read {path}" in error_of("graph", path)


@pytest.mark.parametrize("name", ["cut.npy", "cut.parquet"])
def test_a_damaged_file_that_is_read_in_chunks_is_named(name, tmp_path, error_of):
    pytest.importorskip("dask")
    path = tmp_path / name
    WRITERS[f"t{path.suffix}"](path)
    content = bytearray(path.read_bytes())
    content[4:-300] = bytes(len(content) - 304)
    path.write_bytes(content)
    assert f"cannot read {path}" in error_of("graph", path, "--store", tmp_path / "store")
