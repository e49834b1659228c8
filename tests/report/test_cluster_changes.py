"""Changes between two results, on partitions small enough to count by hand."""

import pytest

from vicinal.exceptions import InvalidValueError
from vicinal.report._cluster_changes import LabelledRows, compare_clusters


def rows(text, names=None):
    """One row per character; n is noise."""
    clusters = ["-1" if c == "n" else c for c in text]
    return LabelledRows(list(names or map(str, range(len(text)))), clusters)


def test_renumbered_clusters_have_not_changed():
    changes = compare_clusters(rows("000111nn"), rows("222000nn"))
    assert changes.adjusted_rand == 1.0
    assert changes.moved == changes.split == changes.merged == []
    assert changes.matched == {"2": "0", "0": "1", "-1": "-1"}


def test_moved_rows_are_named():
    changes = compare_clusters(rows("000111", "abcdef"), rows("001110", "abcdef"))
    assert changes.moved == [
        {"id": "c", "before": "0", "after": "1"},
        {"id": "f", "before": "1", "after": "0"},
    ]
    # Of the 15 pairs, 2 are together in both, 6 in each: (2 - 2.4) / (6 - 2.4).
    assert changes.adjusted_rand == pytest.approx(-1 / 9)


def test_split_and_merged_clusters_are_found():
    before, after = rows("0000000011112222"), rows("0000111122222222")
    changes = compare_clusters(before, after)
    assert changes.split == [{"cluster": "0", "parts": ["0", "1"]}]
    assert changes.merged == [{"cluster": "2", "parts": ["1", "2"]}]
    first = changes.contingency[0]
    assert first == {"before": "0", "after": "0", "rows": 4, "of_before": 0.5, "of_after": 1.0}
    assert sum(record["rows"] for record in changes.contingency) == 16
    assert len(changes.moved) == 8


def test_rows_that_become_noise_moved_but_do_not_split_their_cluster():
    changes = compare_clusters(rows("00001111"), rows("00nn1111"))
    assert [record["after"] for record in changes.moved] == ["-1", "-1"]
    assert changes.split == []


def test_only_rows_of_both_results_count():
    changes = compare_clusters(rows("0011", "abcd"), rows("1100", "cdxy"))
    assert (changes.n_rows, changes.n_only_before, changes.n_only_after) == (2, 2, 2)
    assert changes.moved == []


def test_results_without_common_or_unique_rows_are_errors():
    with pytest.raises(InvalidValueError, match=r"no row in common.*'a', 'b'.*'x', 'y'"):
        compare_clusters(rows("01", "ab"), rows("01", "xy"))
    with pytest.raises(InvalidValueError, match="second result has the row 'a' more than once"):
        compare_clusters(rows("01", "ab"), rows("010", "aba"))


def test_names_that_only_look_like_numbers_are_text():
    names = ["10", "9", "²", "٣", "7" * 5000, "-1"]
    changes = compare_clusters(LabelledRows(names, names), LabelledRows(names, names))
    assert [record["before"] for record in changes.contingency] == [
        "9",
        "10",
        "7" * 5000,
        "²",
        "٣",
        "-1",
    ]


def test_a_column_of_unique_values_does_not_contain_clusters():
    names = [str(i) for i in range(3000)]
    few = LabelledRows(names, ["0"] * 3000)
    with pytest.raises(InvalidValueError, match=r"second result has 3,000 clusters .* --cluster"):
        compare_clusters(few, LabelledRows(names, names))
    with pytest.raises(InvalidValueError, match="first result has 3,000 clusters"):
        compare_clusters(LabelledRows(names, names), few)
