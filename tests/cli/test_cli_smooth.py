import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import squareform

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

from vicinal import SelfSmoothing, graphs  # noqa: E402
from vicinal.cli import output, smooth  # noqa: E402
from vicinal.datasets import make_two_moons  # noqa: E402


@pytest.fixture
def moons(tmp_path):
    X, classes = make_two_moons(80, noise=0.1, random_state=0)
    path = tmp_path / "moons.csv"
    names = [f"m{i}" for i in range(80)]
    pd.DataFrame({"name": names, "x": X[:, 0], "y": X[:, 1], "moon": classes}).to_csv(
        path, index=False
    )
    return path, X, classes


def table_of(path):
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return pd.DataFrame({name: arrays[name] for name in arrays.files})
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",")


@pytest.mark.parametrize("lines", [1 << 20, 64])
@pytest.mark.parametrize("suffix", output.TABLE_FORMATS)
def test_neighbours_written_are_those_of_the_estimator(
    suffix, lines, moons, tmp_path, facts_of, monkeypatch
):
    path, X, classes = moons
    monkeypatch.setattr(smooth, "LINES_PER_BLOCK", lines)
    target = tmp_path / f"neighbours{suffix}"
    args = ["--id", "name", "--label", "moon", "-k", 5, "--t", 20, "-o", target, "--as-is"]
    facts = facts_of("smooth", path, *args)
    model = SelfSmoothing(20).fit(X)
    similarities, indices = model.kneighbors(n_neighbors=5)
    frame = table_of(target)
    assert list(frame.columns) == ["row", "neighbor", "id", "neighbor_id", "rank", "similarity"]
    np.testing.assert_array_equal(frame["neighbor"], indices.ravel())
    np.testing.assert_allclose(frame["similarity"], similarities.ravel(), rtol=1e-12)
    np.testing.assert_array_equal(frame["rank"], np.tile(np.arange(1, 6), 80))
    np.testing.assert_array_equal(frame["row"], np.repeat(np.arange(80), 5))
    assert (frame["neighbor_id"] == [f"m{i}" for i in indices.ravel()]).all()
    after = np.mean(classes[indices] == classes[:, None])
    assert facts["same_class_after"] == pytest.approx(after)
    assert facts["t"] == 20


def test_a_parquet_file_is_written_in_row_groups(moons, tmp_path, facts_of, monkeypatch):
    monkeypatch.setattr(smooth, "LINES_PER_BLOCK", 100)
    target = tmp_path / "neighbours.parquet"
    facts_of("smooth", moons[0], "-k", 10, "-o", target)
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.ParquetFile(target).num_row_groups == 8


def test_before_smoothing_the_neighbours_are_the_nearest(moons, facts_of):
    path, X, classes = moons
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    nearest = np.argsort(distances, axis=1)[:, 1:8]
    facts = facts_of("smooth", path, "--label", "moon", "-k", 7)
    fraction = np.mean(classes[nearest] == classes[:, None])
    # The kernel width varies between pairs, so a few positions change.
    assert facts["same_class_before"] == pytest.approx(fraction, abs=0.02)
    assert facts["t_curve"][0][1] < 0 < facts["t_curve"][-1][1]


def test_distance_and_similarity_matrices_are_detected(moons, tmp_path, run, capsys):
    X = moons[1]
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    np.save(tmp_path / "D.npy", distances)
    np.save(tmp_path / "S.npy", np.exp(-distances))
    np.save(tmp_path / "X.npy", X[:2])
    sparse.save_npz(tmp_path / "G.npz", graphs.knn(X, 12).to_scipy("lengths"))
    for name, meaning in [
        ("D.npy", "distances"),
        ("S.npy", "similarities"),
        ("G.npz", "distances"),
    ]:
        assert run("smooth", tmp_path / name, "--t", 5, "-k", 3) == 0
        assert f"is interpreted as {meaning}" in capsys.readouterr().err
    assert run("smooth", tmp_path / "D.npy", "--t", 5, "--metric", "euclidean") == 0
    assert "is interpreted as" not in capsys.readouterr().err


def test_distances_and_points_give_the_same_neighbours(moons, tmp_path, facts_of):
    path, X, _ = moons
    np.save(tmp_path / "D.npy", np.linalg.norm(X[:, None] - X[None], axis=-1))
    targets = tmp_path / "a.npz", tmp_path / "b.npz"
    facts_of("smooth", tmp_path / "D.npy", "--t", 9, "-o", targets[0])
    facts_of("smooth", path, "--as-is", "--label", "moon", "--t", 9, "-o", targets[1])
    first, second = map(table_of, targets)
    np.testing.assert_array_equal(first["neighbor"], second["neighbor"])


def test_sparse_similarities_report_their_backend(moons, facts_of):
    args = ["--label", "moon", "--pairs", "sparse", "--t", 6, "--neighbors", 12]
    facts = facts_of("smooth", moons[0], *args)
    assert facts["pairs"] == "sparse"
    assert facts["backend"] in ("pruned powers", "leading eigenpairs", "rows")
    assert facts["sampled_recall"] > 0.9


def test_similarities_before_and_after_are_plotted(moons, tmp_path, run):
    plot = tmp_path / "similarity.png"
    assert run("smooth", moons[0], "--label", "moon", "--plot", plot) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_an_interrupted_write_leaves_no_file(moons, tmp_path, run, monkeypatch):
    monkeypatch.setattr(smooth, "LINES_PER_BLOCK", 100)
    columns = smooth.neighbor_columns

    def broken(*arguments):
        yield next(columns(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(smooth, "neighbor_columns", broken)
    for suffix in output.TABLE_FORMATS:
        with pytest.raises(KeyboardInterrupt):
            run("smooth", moons[0], "-o", tmp_path / f"n{suffix}")
    assert [path.name for path in tmp_path.iterdir()] == ["moons.csv"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--t", "soon"], "--t 'soon'"),
        (["--t", "-1"], "--t -1"),
        (["-k", "80"], "--top 80"),
        (["--bandwidth", "0"], "--bandwidth 0"),
        (["--pairs", "some"], "--pairs 'some'"),
        (["--metric", "precomputed"], "square"),
        (["-o", "n.json"], "--output n.json: unsupported format .json"),
    ],
)
def test_invalid_options_give_one_error_line_that_names_the_option(args, message, moons, error_of):
    assert message in error_of("smooth", moons[0], *args)


def test_negative_distances_are_rejected(tmp_path, error_of):
    np.save(tmp_path / "D.npy", squareform([0.5, 0.4, -1e-5, 0.2, 0.1, 0.3]))
    assert "-1e-05 is negative, but distances must be >= 0" in error_of(
        "smooth", tmp_path / "D.npy"
    )


def test_negative_similarities_are_rejected(tmp_path, error_of):
    np.save(tmp_path / "S.npy", np.eye(4) - squareform([0.1] * 6))
    args = ["smooth", tmp_path / "S.npy", "--metric", "similarity"]
    assert "negative" in error_of(*args)
