"""Tables of before, after and gain."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from vicinal import SelfSmoothing, self_smooth
from vicinal.metrics import (
    bulls_eye,
    compare,
    mean_average_precision,
    normalized_mutual_info,
    retrieval_rate,
)

# In a random order: ties, which go by the number of the item, must not favour a class.
SHUFFLED = np.random.default_rng(0).permutation(150)
X, Y = (part[SHUFFLED] for part in load_iris(return_X_y=True))
TS = [1, 20, 400]


@pytest.fixture(scope="module")
def model():
    return SelfSmoothing(20).fit(X)


@pytest.mark.parametrize(
    ("measure", "window", "score"),
    [
        ("bulls_eye", None, bulls_eye),
        ("mean_average_precision", None, mean_average_precision),
        ("retrieval_rate", 40, lambda ranking, labels: retrieval_rate(ranking, labels, 40)),
    ],
)
def test_scores_are_those_of_the_measure_before_clamping_makes_ties(model, measure, window, score):
    table = compare({"sso": model}, Y, ts=TS, measure=measure, window=window)
    assert [row.t for row in table.scores] == TS
    for row in table.scores:
        W = model.affinity_
        assert row.before == pytest.approx(score(W, Y), abs=1e-12)
        smoothed = self_smooth(W, row.t, normalize=False)
        assert row.after == pytest.approx(score(smoothed, Y), abs=1e-9)
        assert row.gain == row.after - row.before


def test_functions_and_arrays_are_compared_with_models(model):
    methods = {
        "sso": model,
        "function": lambda t: self_smooth(model.affinity_, t, normalize=False),
        "lists": model.kneighbors(n_neighbors=149)[1],
    }
    table = compare(methods, Y, ts=TS)
    by_name = {name: [r for r in table.scores if r.method == name] for name in methods}
    for one, other in zip(by_name["sso"], by_name["function"], strict=True):
        assert one.after == pytest.approx(other.after, abs=1e-9)
        assert one.before == other.before
    (alone,) = by_name["lists"]
    assert alone.t is None
    assert alone.after == pytest.approx(by_name["sso"][1].after, abs=1e-12)
    assert list(table.curves()) == ["sso", "function"]


def test_models_use_their_own_t_by_default(model):
    other = SelfSmoothing(7).fit(X)
    assert [row.t for row in compare({"a": model, "b": other}, Y).scores] == [20, 7]


def test_before_may_be_given_and_sparse_models_are_measured_by_their_neighbours(model):
    sparse_model = SelfSmoothing(20, method="sparse").fit(X)
    table = compare({"sparse": sparse_model}, Y, ts=[5, 20], before=model.affinity_)
    assert table.baselines() == {"sparse": bulls_eye(model.affinity_, Y)}
    score = compare({"sparse": sparse_model}, Y, ts=[5]).scores[0]
    assert score.before == pytest.approx(bulls_eye(sparse_model.affinity_.toarray(), Y), abs=1e-12)
    exact = self_smooth(sparse_model.affinity_, 5, normalize=False)
    assert score.after == pytest.approx(bulls_eye(exact, Y), abs=0.01)


def test_a_function_measures_whole_matrices(model):
    def split(similarity, labels):
        return normalized_mutual_info(
            labels, (similarity[0] > np.median(similarity[0])).astype(int)
        )

    table = compare({"sso": model}, Y, ts=TS, measure=split)
    assert table.measure == "split"
    assert table.scores[1].after == split(model.at(20), Y)


def test_the_table_shows_percentages_and_marks_the_best(model):
    table = compare({"sso": model}, Y, ts=TS)
    lines = str(table).splitlines()
    assert lines[0] == "bull's eye, %"
    assert lines[1].split() == ["t", "before", "after", "gain"]
    best = table.best()["sso"]
    (marked,) = [line for line in lines if line.endswith("best")]
    assert marked.split()[:2] == ["sso", f"{best.t:g}"]
    assert f"{100 * best.gain:+.2f}" in marked
    frame = table.to_frame()
    assert list(frame.columns) == ["method", "t", "before", "after", "gain"]
    assert len(frame) == 3


def test_ties_go_to_the_fewest_steps():
    table = compare({"same": lambda t: np.eye(150)}, Y, ts=[9, 1, 5], before=np.eye(150))
    assert len({row.after for row in table.scores}) == 1
    assert table.best()["same"].t == 1
    (marked,) = [line for line in str(table).splitlines() if line.endswith("best")]
    assert marked.split()[:2] == ["same", "1"]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"methods": []}, TypeError, "methods is list"),
        ({"methods": {}}, TypeError, "at least one"),
        ({"measure": "recall"}, ValueError, "bulls_eye"),
        ({"measure": "retrieval_rate"}, ValueError, "window"),
        ({"window": 3}, ValueError, "window=3"),
        ({"methods": {"a": np.eye(150)}}, ValueError, "pass before="),
        ({"methods": {"a": np.eye}, "before": np.eye(150), "ts": None}, ValueError, "pass ts="),
        ({"ts": [-1]}, ValueError, "t=-1"),
        ({"labels": Y[:9]}, ValueError, "labels has 9"),
    ],
)
def test_errors_name_the_remedy(model, change, error, words):
    arguments = {"methods": {"sso": model}, "labels": Y, "ts": TS, **change}
    with pytest.raises(error, match=words):
        compare(**arguments)
