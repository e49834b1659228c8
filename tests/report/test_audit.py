import json

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

import vicinal
from vicinal.duplicates import near_duplicates
from vicinal.report._audit.copies import near_categories
from vicinal.report._audit.label_doubts import count_votes, doubt_labels


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def wrong_labels(y, rate, seed=0):
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(y)) < rate
    noisy = y.copy()
    noisy[wrong] = (y[wrong] + rng.integers(1, 10, wrong.sum())) % 10
    return noisy, wrong


@pytest.fixture(scope="module")
def found(digits):
    """An audit of digits with 5 % wrong labels, 12 slightly changed copies in the test split, and a blank."""
    X, y = digits
    rng = np.random.default_rng(1)
    noisy, wrong = wrong_labels(y, 0.05)
    points = np.concatenate([X, X[:12] + 0.02 * rng.normal(size=(12, X.shape[1])), 40 + 0 * X[:1]])
    labels = np.concatenate([noisy, y[:12], y[:1]])
    splits = np.repeat(["train", "test"], [600, 13])
    return vicinal.audit(points, labels, splits=splits, scaling="none"), wrong


def test_wrong_labels_are_found_with_calibrated_probabilities(found):
    result, wrong = found
    probability = result.label_doubts.probability[:600]
    doubtful = np.isin(np.arange(600), result.doubtful_rows)
    assert doubtful[wrong].mean() > 0.9
    assert wrong[doubtful].mean() > 0.9
    assert abs(result.label_doubts.error_rate - wrong.mean()) < 0.02
    assert np.mean((probability - wrong) ** 2) < 0.2 * wrong.mean() * (1 - wrong.mean())


@pytest.mark.parametrize("rate", [0.02, 0.2, 0.4])
def test_probabilities_of_wrong_labels_follow_the_error_rate(digits, rate):
    X, y = digits
    noisy, wrong = wrong_labels(y, rate)
    doubts = doubt_labels(X, noisy.astype(str))
    assert doubts.error_rate == pytest.approx(wrong.mean(), abs=0.03)
    assert roc_auc_score(wrong, doubts.probability) > 0.97


def test_clean_labels_are_not_doubtful(digits):
    X, y = digits
    assert len(vicinal.audit(X, y, scaling="none").doubtful_rows) <= 2


def test_votes_equal_those_of_a_loop():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 30)
    indices = np.array([rng.choice(30, 6, replace=False) for _ in range(30)])
    weights = rng.random((30, 6))
    votes = count_votes(codes, indices, weights)
    for i in range(30):
        seen = set()
        for j in range(6):
            label = codes[indices[i, j]]
            expected = sum(weights[i, m] for m in range(6) if codes[indices[i, m]] == label)
            assert votes.listed[i, j] == pytest.approx(expected)
            assert votes.is_first[i, j] == (label not in seen)
            seen.add(label)
        own = sum(weights[i, m] for m in range(6) if codes[indices[i, m]] == codes[i])
        assert votes.own[i] == pytest.approx(own)


def test_rows_leak_exactly_if_a_pair_crosses_splits(found):
    result, _ = found
    expected = np.zeros(613, bool)
    splits = result.leakage.splits
    for i, j in result.duplicates.pairs:
        if splits[i] != splits[j]:
            expected[[i, j]] = True
    assert np.array_equal(result.leaking_rows, np.flatnonzero(expected))
    assert set(range(12)) <= set(result.leaking_rows.tolist())
    assert result.leakage.table[0]["split"] == "test"
    assert result.leakage.table[0]["rows"] == 12


def test_categories_near_a_row_equal_those_of_its_pairs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(60, 2)).astype(float)
    found = near_duplicates(X, threshold=1.0, max_pairs=10_000)
    codes = rng.integers(0, 3, 60)
    near = near_categories(found, codes, 3)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    for i in range(60):
        assert set(np.flatnonzero(near[i])) == set(codes[distances[i] <= 1.0])


def test_the_most_unusual_row_is_an_outlier(found):
    result, _ = found
    assert result.outliers.rows[0] == 612


def test_near_duplicates_with_other_labels_are_conflicts(found):
    result, _ = found
    pairs = result.duplicates.pairs
    labels = result.data.labels
    expected = np.unique(pairs[labels[pairs[:, 0]] != labels[pairs[:, 1]]])
    assert np.array_equal(result.conflicts, expected)


def test_the_frame_has_one_row_per_row(found):
    frame = found[0].to_frame()
    assert len(frame) == 613
    assert {"duplicate_group", "outlier", "doubtful_label", "leaks_to", "split"} <= set(frame)
    assert frame["leaks_to"][0] == "test"
    assert frame["keep"].sum() == 601


def test_the_page_and_the_json_are_complete(found, tmp_path):
    result, _ = found
    page = result.to_html(tmp_path / "audit.html").read_text()
    for heading in ("Near-duplicates", "Leakage", "Doubtful labels", "Outliers", "Hubs"):
        assert heading in page
    facts = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert facts["rows"] == 613
    assert facts["doubtful_labels"] == len(result.doubtful_rows)
    assert "13" in str(result) or "12" in str(result)
    assert "<iframe" in result._repr_html_()


def test_ids_are_escaped_in_the_page(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[7] = X[3]
    ids = np.array([f"<script>{i}" for i in range(40)])
    page = vicinal.audit(X, ids=ids).to_html(tmp_path / "a.html").read_text()
    assert "<script>3" not in page
    assert "&lt;script&gt;3" in page


def test_images_are_shown(tmp_path, digits):
    X = digits[0][:100].reshape(-1, 8, 8)
    page = vicinal.audit(X).to_html(tmp_path / "a.html").read_text()
    assert page.count("data:image/png") >= 20


def test_tables_of_mixed_columns_are_audited():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 120)
    frame = pandas.DataFrame(
        {
            "size": kind * 5 + rng.normal(size=120),
            "colour": np.where(kind == 1, "red", "blue"),
            "species": np.where(kind == 1, "a", "b"),
            "part": np.where(np.arange(120) < 90, "train", "test"),
        }
    )
    frame.loc[4, "size"] = np.nan
    frame.loc[5, "species"] = None
    frame.loc[100] = frame.loc[10]
    frame.loc[100, "part"] = "test"
    frame.loc[20, "species"] = "b" if kind[20] else "a"
    result = vicinal.audit(frame, labels="species", splits="part")
    assert 20 in result.doubtful_rows
    assert {10, 100} <= set(result.leaking_rows.tolist())
    assert np.isnan(result.label_doubts.probability[5])
    assert result.to_frame()["suggested_label"][5] is None


def test_cosine_ignores_the_length_of_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    X[150] = 2 * X[20]
    scaled = X * rng.choice([0.5, 2.0, 4.0], size=(200, 1))  # exact in floating point
    first, second = (vicinal.audit(table, metric="cosine") for table in (X, scaled))
    assert any({20, 150} == set(group.tolist()) for group in second.duplicates.groups)
    assert np.allclose(first.outliers.score, second.outliers.score)


def test_zero_vectors_are_named_with_cosine():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[4] = 0
    with pytest.raises(ValueError, match="row 4 is a zero vector"):
        vicinal.audit(X, metric="cosine")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"splits": ["train"] * 30}, "only the value 'train'"),
        ({"splits": ["train", "test"]}, r"splits has shape \(2,\)"),
        ({"labels": [None] * 30}, "none of the 30 rows has a label"),
        ({"metric": "manhattan"}, "metric"),
        ({"labels": "species"}, "X is an array without column names"),
    ],
)
def test_bad_arguments_are_explained(arguments, message):
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match=message):
        vicinal.audit(X, **arguments)


def test_arrays_and_tables_have_the_same_points_and_none_takes_numbers_as_they_are():
    X = np.random.default_rng(0).normal(size=(100, 3)) * [1.0, 1.0, 100.0]
    expected = near_duplicates(X, threshold=0.5)
    result = vicinal.audit(X, threshold=0.5, scaling="none")
    assert np.array_equal(result.duplicates.pairs, expected.pairs)
    frame = pandas.DataFrame(X, columns=list("abc"))
    points = vicinal.TableEncoder().fit_transform(X)
    for table in (X, frame):
        assert np.array_equal(vicinal.audit(table).data.points, points)


def test_all_rows_equal_but_one():
    X = np.zeros((30, 2))
    X[3] = 1.0
    splits = np.tile(["train", "test"], 15)
    result = vicinal.audit(X, np.repeat(["a", "b"], 15), splits=splits, scaling="none")
    assert len(result.duplicates.groups) == 1
    assert len(result.leaking_rows) == 29


def test_threads_give_the_same_bits(digits):
    X, y = digits
    results = [vicinal.audit(X[:200], y[:200], n_jobs=n) for n in (1, 3)]
    frames = [result.to_frame() for result in results]
    pandas.testing.assert_frame_equal(*frames)


def test_doubts_are_called_weak_where_columns_do_not_predict_the_labels(found):
    rng = np.random.default_rng(0)
    X, coins = rng.normal(size=(200, 3)), rng.choice(["heads", "tails"], 200)
    text = vicinal.audit(X, labels=coins).summary()
    assert "the columns hardly predict the labels" in text
    assert "wrong labels cannot be recognised reliably" in text
    assert "hardly predict" not in found[0].summary()


def test_the_caption_says_where_only_equal_rows_are_duplicates():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[1] = X[0]
    page = vicinal.audit(X)._repr_html_()
    assert "only equal rows are duplicates" in page
    assert "vertical line is the threshold" not in page
