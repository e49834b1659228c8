"""Names a user types: function and estimator names, suggestions, and options in error messages."""

import argparse

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

import vicinal  # noqa: E402
from vicinal._base.graph_source import BUILDERS  # noqa: E402
from vicinal.cli import build_parser, cluster, embed, rank  # noqa: E402
from vicinal.cli.kinds import KINDS  # noqa: E402
from vicinal.cli.names import in_terms_of_options  # noqa: E402
from vicinal.graphs._contextual_distance import DESCRIPTORS  # noqa: E402

MODULES = {"cluster": cluster, "embed": embed, "rank": rank}


def parsed(*args):
    return build_parser().parse_args([*args, *(["--query", "0"] if args[0] == "rank" else [])])


@pytest.mark.parametrize("name", KINDS)
def test_the_name_of_the_function_selects_the_graph(name):
    chosen = parsed("graph", "x.csv", "--kind", KINDS[name].builder).kind
    assert KINDS[chosen].builder == KINDS[name].builder
    assert parsed("graph", "x.csv", "--kind", name.replace("-", "_")).kind == name
    if not KINDS[name].only_directed:
        assert parsed("cluster", "x.csv", "--graph", KINDS[name].builder).graph == chosen


@pytest.mark.parametrize("command", MODULES)
def test_the_name_of_the_estimator_selects_the_method(command):
    methods = MODULES[command].METHODS
    for name, method in methods.items():
        chosen = parsed(command, "x.csv", "--method", method.estimator).method
        assert methods[chosen].estimator == method.estimator
        assert parsed(command, "x.csv", "--method", name.replace("-", "_")).method == name


def test_function_and_short_names_build_the_same_graph(table, facts_of):
    short = facts_of("graph", table, "--kind", "dmst", "--n-trees", 3)
    long = facts_of("graph", table, "--kind", "disjoint_mst", "--n-trees", 3)
    assert {**short, "seconds": 0} == {**long, "seconds": 0}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["graph", "x.csv", "--kind", "disjont_mst"], "unknown graph 'disjont_mst' (did you mean"),
        (["graph", "x.csv", "--kind", "dmts"], "(did you mean 'dmst'?); choose from knn"),
        (["cluster", "x.csv", "--method", "spectrl"], "(did you mean 'spectral'?)"),
        (["clutser", "x.csv"], "(did you mean 'cluster'?)"),
        (["graph", "x.csv", "--neighbours", "5"], "(did you mean '--neighbors'?)"),
    ],
)
def test_an_error_about_an_unknown_name_suggests_a_close_one(args, message, run, capsys):
    with pytest.raises(SystemExit) as stop:
        run(*args)
    assert stop.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_an_error_about_an_unknown_column_array_or_row_name_suggests_a_close_one(
    tmp_path, points, error_of
):
    frame = pd.DataFrame({"x": points[:, 0], "y": points[:, 1], "species": ["a"] * 60})
    frame["name"] = [f"person {i}" for i in range(60)]
    frame.to_csv(tmp_path / "p.csv", index=False)
    message = error_of("graph", tmp_path / "p.csv", "--label", "Specis")
    assert "has no such column (did you mean 'species'?); it has x, y, species, name" in message
    message = error_of("rank", tmp_path / "p.csv", "--id", "name", "--query", "persn 17")
    assert "no row has this name (did you mean 'person 17'?)" in message
    np.savez(tmp_path / "p.npz", points=points, other=points)
    message = error_of("graph", tmp_path / "p.npz", "--key", "point")
    assert "--key point: no such array (did you mean 'points'?)" in message


def test_precomputed_names_are_those_of_the_library(tmp_path, points, facts_of, capsys):
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.save(tmp_path / "D.npy", distances)
    target = tmp_path / "labels.csv"
    args = ["--graph", "precomputed_distances", "--clusters", 2, "-o", target]
    facts_of("cluster", tmp_path / "D.npy", *args)
    model = vicinal.SpectralClustering(2, graph="precomputed_distances", random_state=0)
    np.testing.assert_array_equal(pd.read_csv(target)["cluster"], model.fit(distances).labels_)
    np.save(tmp_path / "W.npy", np.exp(-distances))
    args = ["--graph", "precomputed_affinity", "--clusters", 2, "-o", target, "--force"]
    facts_of("cluster", tmp_path / "W.npy", *args)
    model = vicinal.SpectralClustering(2, graph="precomputed_affinity", random_state=0)
    expected = model.fit(np.exp(-distances)).labels_
    np.testing.assert_array_equal(pd.read_csv(target)["cluster"], expected)


@pytest.mark.parametrize("command", MODULES)
def test_plain_precomputed_means_what_it_means_in_the_estimator(command):
    for method in MODULES[command].METHODS.values():
        if method.on_graph:
            assert method.precomputed == getattr(vicinal, method.estimator)._precomputed


def test_duplicates_reach_the_builder(tmp_path, points, facts_of):
    repeated = np.repeat(points[:20], 6, axis=0)
    np.save(tmp_path / "X.npy", repeated)
    args = [
        "graph",
        tmp_path / "X.npy",
        "--kind",
        "knn",
        "--neighbors",
        3,
        "--as-is",
        "--duplicates",
    ]
    for duplicates in ("keep", "merge"):
        expected = vicinal.graphs.knn(repeated, 3, duplicates=duplicates)
        assert facts_of(*args, duplicates)["edges"] == expected.n_edges


def test_all_cores_are_used_by_default():
    assert parsed("graph", "x.csv").jobs == -1


@pytest.mark.parametrize(
    ("message", "options", "expected"),
    [
        (
            "n_clusters=0, but n_clusters must be > 0.",
            {"clusters": 0},
            "--clusters 0, but --clusters ",
        ),
        ("noise=2 is too large", {"jitter": 2.0}, "--jitter 2 is too large"),
        ("noise=2 is too large", {"noise": 2.0}, "--noise 2 is too large"),
        ("method='x' is unknown", {"pairs": "x"}, "--pairs 'x' is unknown"),
        ("recall=2 is too large", {}, "recall=2 is too large"),
        ("cannot read a/t=3.csv", {"t": 3}, "cannot read a/t=3.csv"),
    ],
)
def test_messages_name_options_instead_of_parameters(message, options, expected):
    assert in_terms_of_options(message, argparse.Namespace(**options)).startswith(expected)


def test_every_graph_of_points_has_a_kind():
    assert {kind.builder for kind in KINDS.values()} == {*BUILDERS, "contextual"}


def test_the_help_lists_every_descriptor(capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["graph", "--help"])
    text = capsys.readouterr().out
    assert [name for name in DESCRIPTORS if name not in text] == []
