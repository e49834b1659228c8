"""The tables of methods agree with the library."""

import inspect

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import vicinal
from vicinal import SpectralClustering
from vicinal.cli import build_parser, cluster, embed, rank
from vicinal.datasets import make_two_moons

METHODS = [
    pytest.param(command, name, method, id=f"{command}-{name}")
    for command, module in (("cluster", cluster), ("embed", embed), ("rank", rank))
    for name, method in module.METHODS.items()
]


@pytest.mark.parametrize(("command", "name", "method"), METHODS)
def test_options_are_parameters_of_the_estimator(command, name, method):
    parameters = inspect.signature(getattr(vicinal, method.estimator)).parameters
    assert {*method.options.values(), *method.fixed} <= set(parameters)
    assert method.on_graph == ("graph" in parameters)


@pytest.mark.parametrize(
    ("args", "method"),
    [
        (["cluster"], "perceptual"),
        (["cluster", "--noise", 0.1], "perceptual"),
        (["cluster", "--graph", "dmst"], "spectral"),
        (["cluster", "--kernel", "rbf", "--clusters", 2], "kernel-kmeans"),
        (["embed"], "map"),
        (["embed", "--graph", "dmst"], "map"),
        (["embed", "--landmarks", 20], "isomap"),
        (["embed", "--sigma", 1.0], "cpe-lap"),
        (["rank", "--query", 3], "perceptual"),
        (["rank", "--query", 3, "--graph", "mst"], "manifold"),
    ],
    ids=str,
)
def test_the_default_is_the_best_method_that_takes_the_options(args, method, tmp_path, facts_of):
    np.save(tmp_path / "X.npy", make_two_moons(80, noise=0.05, random_state=0)[0])
    command, *options = args
    assert facts_of(command, tmp_path / "X.npy", *options)["method"] == method


@pytest.mark.parametrize(
    "option", [("--metric", "precomputed"), ("--graph", "precomputed_distances")]
)
def test_distances_are_clustered_without_naming_a_method(option, tmp_path, facts_of):
    X = make_two_moons(80, noise=0.05, random_state=0)[0]
    np.save(tmp_path / "D.npy", cdist(X, X))
    facts = facts_of("cluster", tmp_path / "D.npy", *option)
    assert (facts["method"], facts["clusters"]) == (
        "spectral",
        SpectralClustering().fit(X).n_clusters_,
    )


@pytest.mark.parametrize(("command", "name", "method"), METHODS)
def test_options_can_be_given_and_are_absent_otherwise(command, name, method):
    args = [
        command,
        "data.csv",
        "--method",
        name,
        *(["--query", "0"] if command == "rank" else []),
    ]
    parser = build_parser()
    assert not set(method.options) & set(vars(parser.parse_args(args)))
    given = [word for option in method.options for word in (f"--{option}", "1")]
    assert set(method.options) <= set(vars(parser.parse_args([*args, *given])))
