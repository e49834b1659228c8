import numpy as np
import pytest
from scipy import sparse

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

import vicinal  # noqa: E402
from vicinal.cli import output  # noqa: E402
from vicinal.datasets import make_half_cylinders, make_two_moons  # noqa: E402


@pytest.fixture
def moons(tmp_path):
    X, classes = make_two_moons(120, noise=0.03, random_state=0)
    path = tmp_path / "moons.csv"
    names = [f"m{i}" for i in range(120)]
    pd.DataFrame({"name": names, "x": X[:, 0], "y": X[:, 1], "moon": classes}).to_csv(
        path, index=False
    )
    return path, X, classes


@pytest.mark.parametrize("suffix", output.TABLE_FORMATS)
def test_labels_written_are_those_of_the_estimator(suffix, moons, tmp_path, facts_of):
    path, X, _ = moons
    target = tmp_path / f"labels{suffix}"
    args = ["--id", "name", "--label", "moon", "--graph", "dmst", "--n-trees", 3]
    facts = facts_of("cluster", path, "--clusters", 2, *args, "-o", target)
    model = vicinal.SpectralClustering(
        2, graph="disjoint_mst", graph_params={"n_trees": 3}, random_state=0
    ).fit(X)
    if suffix == ".npz":
        with np.load(target) as arrays:
            frame = pd.DataFrame({name: arrays[name] for name in arrays.files})
    elif suffix == ".parquet":
        frame = pd.read_parquet(target)
    else:
        frame = pd.read_csv(target, sep="\t" if suffix == ".tsv" else ",")
    assert list(frame.columns) == ["row", "id", "cluster"]
    np.testing.assert_array_equal(frame["cluster"], model.labels_)
    assert frame["id"][17] == "m17"
    assert facts["clusters"] == 2
    assert facts["accuracy"] == facts["normalized_mutual_info"] == 1.0


def test_the_number_of_clusters_is_chosen_and_its_eigengaps_reported(moons, facts_of):
    facts = facts_of("cluster", moons[0], "--label", "moon")
    assert facts["clusters"] == 2
    assert len(facts["eigengaps"]) > 2
    assert sum(size["rows"] for size in facts["sizes"]) == 120


def test_noise_is_separated_from_clusters(tmp_path, facts_of):
    X, _ = make_half_cylinders(200, 100, random_state=0)
    np.save(tmp_path / "X.npy", X)
    target = tmp_path / "labels.csv"
    args = ["--method", "perceptual", "--clusters", 2, "--noise", 100, "--neighbors", 12, "--as-is"]
    facts = facts_of("cluster", tmp_path / "X.npy", *args, "-o", target)
    assert facts["noise"] == 100
    assert facts["sizes"][0] == {"cluster": -1, "rows": 100, "fraction": 100 / len(X)}
    frame = pd.read_csv(target)
    model = vicinal.PerceptualClustering(2, noise=100, n_neighbors=12, random_state=0).fit(X)
    np.testing.assert_array_equal(frame["cluster"], model.labels_)
    np.testing.assert_allclose(frame["noise_score"], model.noise_score_)


def test_a_sparse_affinity_is_clustered_unchanged(tmp_path, facts_of):
    block = np.ones((5, 5)) - np.eye(5)
    sparse.save_npz(tmp_path / "W.npz", sparse.csr_array(sparse.block_diag([block, block])))
    target = tmp_path / "labels.csv"
    args = ["--graph", "precomputed", "--clusters", 2]
    facts_of("cluster", tmp_path / "W.npz", *args, "-o", target)
    assert pd.read_csv(target)["cluster"].tolist() == [0] * 5 + [1] * 5


def test_a_kernel_matrix_is_clustered_unchanged(moons, tmp_path, facts_of):
    X = moons[1]
    similarity = vicinal.SelfSmoothing(100).fit(X).similarity_
    np.savez(tmp_path / "W.npz", X=similarity, moon=moons[2])
    args = ["--method", "kernel-kmeans", "--kernel", "precomputed", "--psd", "project"]
    facts = facts_of("cluster", tmp_path / "W.npz", "--label", "moon", "--clusters", 2, *args)
    assert facts["accuracy"] == 1.0


def test_distances_are_clustered_on_their_graph(moons, tmp_path, facts_of):
    X = moons[1]
    np.save(tmp_path / "D.npy", np.linalg.norm(X[:, None] - X[None], axis=-1))
    facts = facts_of("cluster", tmp_path / "D.npy", "--metric", "precomputed", "--clusters", 2)
    assert [size["rows"] for size in facts["sizes"]] == [60, 60]


def test_standardize_makes_columns_of_different_units_comparable(moons, tmp_path, facts_of):
    frame = pd.read_csv(moons[0]).assign(x=lambda f: 1e-4 * f["x"])
    frame.to_csv(tmp_path / "units.csv", index=False)
    args = ["cluster", tmp_path / "units.csv", "--label", "moon", "--clusters", 2]
    assert facts_of(*args, "--as-is")["accuracy"] < 0.95
    assert facts_of(*args)["accuracy"] > 0.95
    assert facts_of(*args, "--standardize")["accuracy"] > 0.95


def test_rows_are_clustered_by_sparse_representation(tmp_path, facts_of):
    rng = np.random.default_rng(0)
    # Two cones of directions, at any distance from the origin.
    cones = np.vstack([rng.random((30, 4)) @ np.eye(4, 8), rng.random((30, 4)) @ np.eye(4, 8, 4)])
    np.savez(tmp_path / "cones.npz", X=cones + 0.001, y=np.repeat([0, 1], 30))
    args = ["--penalty", 0.05, "--clusters", 2, "--label", "y"]
    for graph in (["l1"], ["structure-aware-l1", "--n-atoms", 20]):
        facts = facts_of("cluster", tmp_path / "cones.npz", "--graph", *graph, *args)
        assert facts["accuracy"] == 1.0
    args = ["--method", "sparse-subspace", *args]
    assert facts_of("cluster", tmp_path / "cones.npz", *args)["accuracy"] == 1.0


def test_the_clusters_are_plotted(moons, tmp_path, run, capsys):
    plot = tmp_path / "clusters.png"
    assert run("cluster", moons[0], "--clusters", 2, "--plot", plot) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert f"plot written to {plot}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--method", "perceptual", "--graph", "mst"], "--graph has no effect with --method perc"),
        (["--method", "perceptual", "--radius", "1"], "--radius has no effect with --method perc"),
        (
            ["--method", "spectral", "--noise", "0.1"],
            "--noise has no effect with --method spectral; it applies to perceptual",
        ),
        (["--graph", "mst", "--neighbors", "3"], "--neighbors has no effect with --graph mst"),
        (
            ["--graph", "precomputed", "--radius", "3"],
            "with --graph precomputed: the table is the graph",
        ),
        (["--graph", "epsilon"], "--graph epsilon needs --radius"),
        (["--method", "kernel-kmeans"], "--method kernel-kmeans needs a number of --clusters"),
        (
            ["--method", "spectral", "--gamma", "1"],
            "--gamma has no effect with --method spectral; it applies to kernel",
        ),
        (
            ["--graph", "mst", "--noise", "0.1"],
            "--graph has no effect with --method perceptual; it applies to spectral, ncut",
        ),
        (["--clusters", "many"], "--clusters many: must be an integer or auto"),
        (["--clusters", "0"], "--clusters 0"),
        (["--clusters", "200"], "--clusters 200"),
        (["--scale", "wide"], "--scale 'wide'"),
        (["--graph", "precomputed", "--plot", "c.png"], "--plot needs coordinates"),
        (["-o", "labels.txt"], "--output labels.txt: unsupported format .txt"),
    ],
)
def test_invalid_options_give_one_error_line_that_names_the_option(args, message, moons, error_of):
    assert message in error_of("cluster", moons[0], *args)
