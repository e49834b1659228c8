import inspect

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

import vicinal  # noqa: E402
from vicinal.cli.embed import METHODS  # noqa: E402
from vicinal.datasets import make_spirals  # noqa: E402


@pytest.fixture
def spirals(tmp_path):
    X, arms = make_spirals(90, random_state=0)
    path = tmp_path / "spirals.npz"
    np.savez(path, X=X, arm=arms)
    return path, X


@pytest.mark.parametrize("method", METHODS)
def test_coordinates_written_are_those_of_the_estimator(method, spirals, tmp_path, facts_of):
    path, X = spirals
    target, plot = tmp_path / "emb.csv", tmp_path / "emb.png"
    args = ["--method", method, "--dimensions", 3, "-o", target, "--plot", plot]
    facts = facts_of("embed", path, "--as-is", "--label", "arm", *args)
    estimator = getattr(vicinal, METHODS[method].estimator)
    parameters = {"n_components": 3, **METHODS[method].fixed}
    if "random_state" in inspect.signature(estimator).parameters:
        parameters["random_state"] = 0
    frame = pd.read_csv(target)
    assert list(frame.columns) == ["row", "axis_1", "axis_2", "axis_3"]
    expected = estimator(**parameters).fit_transform(X)
    np.testing.assert_allclose(frame.iloc[:, 1:], expected, rtol=1e-12)
    np.testing.assert_allclose([a["std"] for a in facts["axes"]], expected.std(axis=0))
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_graph_and_landmarks_reach_the_estimator(spirals, tmp_path, facts_of):
    path, X = spirals
    target = tmp_path / "emb.csv"
    args = ["--graph", "dmst", "--n-trees", 5, "--landmarks", 30, "-o", target]
    facts = facts_of("embed", path, "--as-is", "--key", "X", "--method", "isomap", *args)
    model = vicinal.Isomap(n_landmarks=30, graph="disjoint_mst", graph_params={"n_trees": 5})
    np.testing.assert_allclose(pd.read_csv(target).iloc[:, 1:], model.fit_transform(X), rtol=1e-12)
    assert facts["axes"][1]["residual_variance"] == pytest.approx(model.residual_variance_[1])


def test_automatic_choices_are_reported(spirals, facts_of):
    path, X = spirals
    args = ["--method", "diffusion", "--t", "auto", "--alpha", 1]
    facts = facts_of("embed", path, "--as-is", "--key", "X", *args)
    sigma = facts_of(
        "embed", path, "--as-is", "--key", "X", "--method", "cpe-lap", "--neighbors", 7
    )["sigma"]
    assert sigma == vicinal.ClusterPreservingEmbedding(n_neighbors=7).fit(X).sigma_
    assert facts["t"] == vicinal.DiffusionMaps(t="auto", alpha=1, random_state=0).fit(X).t_


def test_distances_are_embedded_and_plotted(spirals, tmp_path, run, capsys):
    X = spirals[1]
    np.save(tmp_path / "D.npy", np.linalg.norm(X[:, None] - X[None], axis=-1))
    args = ["--method", "isomap", "--metric", "precomputed", "--plot", tmp_path / "emb.svg"]
    assert run("embed", tmp_path / "D.npy", *args) == 0
    assert "plot shows: 2 axes of the embedding" in capsys.readouterr().out
    assert (tmp_path / "emb.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("dimensions", [1, 4])
def test_embeddings_of_any_dimension_are_plotted(dimensions, spirals, tmp_path, facts_of):
    args = ["--method", "eigenmaps", "--dimensions", dimensions, "--plot", tmp_path / "emb.png"]
    shows = facts_of("embed", spirals[0], "--key", "X", *args)["plot_shows"]
    assert shows == {1: "1 axes of the embedding", 4: "2 of 4 axes of the embedding"}[dimensions]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--method", "perceptual", "--graph", "mst"], "--graph has no effect with --method perc"),
        (["--method", "map", "--landmarks", "9"], "--landmarks has no effect with --method map"),
        (["--dimensions", "0"], "--dimensions 0"),
        (["--dimensions", "90"], "--dimensions 90"),
        (["--label", "color"], "it has X, arm"),
        (["--plot", "emb.gif"], "--plot emb.gif: unsupported format .gif"),
    ],
)
def test_invalid_options_give_one_error_line_that_names_the_option(
    args, message, spirals, error_of
):
    assert message in error_of("embed", spirals[0], "--key", "X", *args)
