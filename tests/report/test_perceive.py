"""The full analysis: results on well-known tables, and the contract of `Perception`."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

import vicinal
from vicinal.datasets import make_half_cylinders, make_two_moons
from vicinal.metrics import clustering_accuracy
from vicinal.report._html.data import payload
from vicinal.report._steps.maps import Maps

every_table = pytest.mark.parametrize(
    "name", ["iris", "wine", "digits", "half-cylinders", "spirals"]
)


def same_bits(a, b):
    """Whether two nested results are bitwise equal."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, Maps):
        return same_bits(a._asdict(), b._asdict())
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same_bits(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same_bits, a, b))
    return a == b or (a != a and b != b)


@every_table
def test_every_row_has_a_cluster_a_score_and_coordinates(name, perception):
    result = perception(name)
    n = len(result.data.ids)
    assert (
        result.labels.shape
        == result.noise_score.shape
        == result.clusters.other_labels.shape
        == (n,)
    )
    assert set(np.unique(result.labels)) - {-1} == set(range(result.n_clusters))
    assert result.noise_score.min() >= 0
    assert result.noise_score.max() <= 1
    for coordinates in result.maps.coordinates.values():
        assert coordinates.shape == (n, 2)
        assert np.isfinite(coordinates).all()


@every_table
def test_the_snippet_reproduces_the_clusters(name, perception, iris_table):
    result = perception(name)
    X = result.data.values
    if name == "iris":
        X = iris_table.select_dtypes("number").to_numpy()
    lines = [line for line in result.snippet().splitlines() if not line.startswith("X = ...")]
    namespace = {"X": X}
    exec("\n".join(lines), namespace)
    np.testing.assert_array_equal(namespace["labels"], result.labels)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("factors", [[1e300, 1.0], [1e300, 1e300]])
def test_extreme_values_give_a_report_and_a_snippet_that_agree(factors, tmp_path):
    X = make_blobs(60, centers=[[0, 0], [9, 9]], random_state=0)[0] * factors
    result = vicinal.perceive(X, random_state=0)
    assert result.n_clusters == 2
    result.to_html(tmp_path / "page.html")
    namespace = {"X": X}
    exec(result.snippet().replace("X = ...", ""), namespace)
    np.testing.assert_array_equal(namespace["labels"], result.labels)
    # The report solves for more eigenpairs at once than the estimator: equal up to rounding.
    np.testing.assert_allclose(namespace["noise_score"], result.noise_score, rtol=1e-12)


def test_equal_rows_have_equal_results_and_rounding_creates_no_noise():
    X, truth = make_two_moons(500, noise=0.05, random_state=0)
    X = X.round(1)
    result = vicinal.perceive(X, n_clusters=2, sample=100)
    assert clustering_accuracy(truth, result.labels) == 1
    _, group = np.unique(X, axis=0, return_inverse=True)
    for values in (result.labels, result.noise_score, result.maps.coordinates["perceptual"][:, 0]):
        assert len(np.unique(np.column_stack([group.ravel(), values]), axis=0)) == group.max() + 1
    assert "nan" not in str(result)
    namespace = {"X": X}
    exec(result.snippet().replace("X = ...", "#"), namespace)
    np.testing.assert_array_equal(namespace["labels"], result.labels)


def test_doubt_about_heavy_noise_is_in_the_summary():
    X, _ = make_half_cylinders(300, 600, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        result = vicinal.perceive(X, n_clusters=2, sample=100, scaling="none")
    assert result.clusters.noise_doubt
    assert "very heavy noise can go undetected" in str(result)


@pytest.mark.parametrize("n_distinct", [2, 3, 5])
def test_few_distinct_rows_form_as_many_clusters_if_requested(n_distinct):
    X = np.repeat(np.eye(n_distinct), 12, axis=0)
    result = vicinal.perceive(X, n_clusters=n_distinct, scaling="none")
    np.testing.assert_array_equal(result.labels, np.repeat(np.arange(n_distinct), 12))


def test_the_result_does_not_depend_on_the_number_of_threads(perception):
    X, y = load_wine(return_X_y=True)
    expected, result = perception("wine"), vicinal.perceive(X, labels=y, n_jobs=3)
    assert payload(result) == payload(expected)
    for step in ("neighborhoods", "count", "clusters", "maps", "scores"):
        assert same_bits(getattr(result, step), getattr(expected, step)), step


def test_well_separated_clusters_are_counted_correctly(perception):
    assert perception("wine").n_clusters == 3
    assert perception("half-cylinders").n_clusters == 2
    assert perception("iris").n_clusters == 2  # two of the species overlap


def test_clusters_agree_with_known_classes(perception):
    result = perception("half-cylinders")
    truth = result.data.labels
    on_surface = truth != "-1"
    both = on_surface & (result.labels >= 0)
    assert clustering_accuracy(truth[both], result.labels[both]) > 0.98
    assert result.noise_score[~on_surface].mean() > result.noise_score[on_surface].mean() + 0.1
    spirals = perception("spirals")
    assert clustering_accuracy(spirals.data.labels, spirals.clusters.other_labels) == 1.0


def test_scores_match_the_metrics_on_the_labels(perception):
    result = perception("wine")
    table = {row["method"]: row for row in result.scores.table}
    assert set(table) == {
        result.clusters.method,
        result.clusters.other_method,
        "k-means",
        "HDBSCAN",
        "scikit-learn spectral",
    }
    reported = table[result.clusters.method]
    assert reported["accuracy"] == clustering_accuracy(result.data.labels, result.labels)
    assert reported["noise"] == pytest.approx(np.mean(result.labels < 0))
    assert table["k-means"]["accuracy"] > 0.94


def test_the_frame_has_one_row_per_row_of_the_table(perception):
    result = perception("iris")
    frame = result.to_frame()
    assert list(frame["id"][:2]) == ["flower 0", "flower 1"]
    np.testing.assert_array_equal(frame["cluster"], result.labels)
    np.testing.assert_array_equal(frame["noise_score"], result.noise_score)
    np.testing.assert_array_equal(frame["isomap_x"], result.maps.coordinates["isomap"][:, 0])
    assert list(frame["species"].unique()) == ["setosa", "versicolor", "virginica"]


def test_the_summary_lists_changes_to_the_table(perception):
    result = perception("iris")
    text = str(result)
    assert "Table: 150 rows, 4 of 6 columns used" in text
    assert "4 of 6 columns used (numeric: sepal length (cm)" in text
    assert "'garden' not used: 2 categories; independent of every other column" in text
    assert "'planet' not used: constant" in text
    assert "4 of 600 values are missing (0.67%)" in text
    assert "2 clusters" in text
    assert "compared with species" in text
    assert (
        repr(result)
        == f"Perception(150 rows, 4 columns, 2 clusters, {sum(result.labels < 0)} noise rows)"
    )


@every_table
def test_typical_rows_score_below_atypical_rows_of_their_cluster(name, perception):
    result = perception(name)
    for picked in result.exemplars.clusters:
        rows = picked["typical"] + picked["atypical"]
        assert len(set(rows)) == len(rows)
        assert set(result.labels[rows]) == {picked["cluster"]}
        scores = result.noise_score
        assert max(scores[picked["typical"]]) <= min(scores[picked["atypical"]], default=1.0)


def test_the_stability_is_measured_on_the_requested_sample(perception):
    assert perception("digits").count.n_rows == 200


def test_a_table_with_one_column_is_clustered():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 60), rng.normal(20, 1, 60)])[:, None]
    result = vicinal.perceive(X)
    assert result.n_clusters == 2
    assert len(set(result.labels[:60]) & set(result.labels[60:]) - {-1}) == 0


@pytest.mark.parametrize(
    ("X", "arguments", "words"),
    [
        (np.zeros((3, 2)), {}, "the table has 3 rows"),
        (np.ones((20, 3)), {}, "rows can be compared by"),
        (np.random.default_rng(0).random((20, 3)), {"labels": [0] * 19}, "labels has shape"),
        (
            np.random.default_rng(0).random((20, 3)),
            {"labels": "species"},
            "X is an array without column names",
        ),
        (np.random.default_rng(0).random((20, 3)), {"n_clusters": 0}, "n_clusters=0"),
        (np.random.default_rng(0).random((20, 3)), {"n_clusters": "many"}, "n_clusters='many'"),
        (np.random.default_rng(0).random((20, 3)), {"sample": 3}, "sample=3"),
        (np.random.default_rng(0).random((20, 3)), {"scaling": "big"}, "scaling='big'"),
        (
            np.random.default_rng(0).random((20, 3)),
            {"images": np.zeros((5, 4, 4))},
            "images has shape",
        ),
        (np.arange(20.0), {}, "a table (n_rows, n_columns) is needed"),
    ],
)
def test_invalid_input_is_rejected_with_a_reason(X, arguments, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(").replace(")", r"\)")):
        vicinal.perceive(X, **arguments)


def test_duplicates_are_counted():
    X = np.random.default_rng(3).normal(size=(40, 3))
    result = vicinal.perceive(np.vstack([X, X[:15]]))
    assert result.neighborhoods.n_duplicates == 15
    np.testing.assert_array_equal(result.neighborhoods.duplicate_of[40:], np.arange(15))
    assert len(result.labels) == 55


def test_communities_are_reported_unless_another_number_is_requested():
    X, y = load_digits(return_X_y=True)
    result = vicinal.perceive(X[:900], sample=50, scaling="standard")
    assert result.clusters.method == "consensus communities"
    assert result.clusters.other_method == "spectral clustering on spanning trees"
    assert 9 <= result.n_clusters <= 12
    assert adjusted_rand_score(y[:900], result.labels) > 0.7
    names = {"X": X[:900]}
    lines = [line for line in result.snippet().splitlines() if not line.startswith("X = ...")]
    exec("\n".join(lines), names)
    np.testing.assert_array_equal(names["labels"], result.labels)
    other = vicinal.perceive(X[:900], n_clusters=6, sample=50, scaling="standard")
    assert other.clusters.method == "spectral clustering on spanning trees"
    assert other.n_clusters == 6
