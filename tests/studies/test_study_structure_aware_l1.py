"""The study of structure-aware L1 graphs, on small data."""

import numpy as np
import pytest

from studies import structure_aware_l1 as study
from studies import structure_aware_report as report
from studies.loaders import TABLES
from studies.uci_sets import find_folder, read_sets, standardize


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Six tables of 40 points in two groups, with a missing value and a constant feature each."""
    subfolder = tmp_path_factory.mktemp("data") / "uci"
    subfolder.mkdir()
    rng = np.random.default_rng(0)
    for name in TABLES.values():
        y = np.arange(40) % 2
        X = rng.standard_normal((40, 5)) + 4 * y[:, None] * [1, -1, 1, -1, 0]
        table = np.column_stack([X, np.full(40, 7), y])
        lines = [",".join(f"{value:.4f}" for value in row) for row in table]
        lines[3] = "," + lines[3].split(",", 1)[1]
        header = ",".join("abcdefg")
        (subfolder / name).write_text("\n".join([header, *lines]) + "\n")
    return subfolder.parent


@pytest.fixture(scope="module")
def rows(folder):
    return study.cluster_scores(study.QUICK._replace(n_seeds=2, data=find_folder(folder)))


def test_sets_are_standardised_and_complete(folder):
    sets = read_sets(folder)
    assert [labelled.name for labelled in sets] == list(study.PAPER)
    for labelled in sets:
        assert labelled.points.shape == (40, 5)
        np.testing.assert_allclose(labelled.points.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(labelled.points.std(axis=0), 1)


def test_missing_values_become_the_mean():
    X = standardize(np.array([[1.0, 5.0], [np.nan, 5.0], [3.0, 5.0]]))
    np.testing.assert_allclose(X[:, 0], [-np.sqrt(1.5), 0, np.sqrt(1.5)])
    assert X.shape == (3, 1)


def test_without_a_folder_the_sets_of_scikit_learn_are_used():
    assert [labelled.name for labelled in read_sets(None)] == ["Wine", "Breast cancer", "Digits"]
    assert [labelled.name for labelled in read_sets(None, 200)] == ["Wine"]


def test_an_error_lists_the_files_missing_in_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"breast_tissue\.csv"):
        find_folder(tmp_path)


def test_every_cell_has_a_measured_and_a_published_value(rows):
    assert len(rows) == 6 * (2 + 3 * len(study.FAMILIES))
    assert all(0 <= row["NMI"] <= 1 and 0.5 <= row["AC"] <= 1 for row in rows)
    wine = {(row["graph"], row["fraction"]): row for row in rows if row["set"] == "Wine"}
    assert wine["SA-L1", 0.1]["paper_NMI"] == 0.9209
    assert wine["Gaussian", 0.3]["paper_AC"] == 0.9717
    assert wine["L1", None]["paper_NMI"] == 0.7717
    assert wine["L1 penalised", None]["paper_NMI"] is None
    assert wine["SA-L1", 0.3]["NMI"] > 0.8


def test_means_of_published_values_match_the_paper(rows):
    table = report.score_table(rows)
    lines = {(line[0], line[1]): dict(zip(table[0], line, strict=True)) for line in table[1:]}
    assert lines["L1", "all"]["mean NMI"].endswith("(0.486)")
    assert lines["SA-L1", "best"]["mean NMI"].endswith("(0.558)")
    assert lines["L1", "all"]["NMI >= L1"] == "6 of 6"
    best = float(lines["SA-L1", "best"]["Glass NMI"].split()[0])
    cells = [float(lines["SA-L1", f"{k}%"]["Glass NMI"].split()[0]) for k in (10, 20, 30)]
    assert best == max(cells)


def test_moons_are_measured_and_plotted_with_both_graphs(tmp_path):
    moons = study.moon_graphs(study.QUICK)
    table = report.moon_table(moons)
    assert len(table) == 5
    across = {row["graph"]: row["weight_across"] for row in moons.rows}
    assert across["SA-L1, K = 10"] < across["L1"]
    report.draw_moons(moons, tmp_path / "moons.png")
    assert (tmp_path / "moons.png").stat().st_size > 10_000


def test_scores_are_plotted(rows, tmp_path):
    report.draw_scores(rows, tmp_path / "scores.png")
    assert (tmp_path / "scores.png").stat().st_size > 5_000
