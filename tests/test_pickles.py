"""A pickle of the same layout is loaded, one of another layout or of none is refused by name."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import vicinal
from vicinal import SpectralClustering, graphs
from vicinal._core import pickles
from vicinal.report import Assignment, Audit, Perception, PerceptionModel

X = np.random.default_rng(0).normal(size=(30, 3))
# Results whose classes have no public name.
RESULTS = [
    graphs.contextual(X, 5),
    vicinal.path_similarity(X),
    vicinal.near_duplicates(X),
    vicinal.neighbors.NeighborSearch(X),
    vicinal.SelfSmoothing(n_neighbors=5, method="sparse").fit(X).similarity_,
]
ESTIMATORS = [
    thing
    for name in vicinal.__all__
    if inspect.isclass(thing := getattr(vicinal, name)) and hasattr(thing, "fit")
]
CLASSES = [*map(type, RESULTS), *ESTIMATORS, Assignment, Audit, Perception, PerceptionModel]


class Made:
    """Pickled as an object of another class in a given state."""

    def __init__(self, kind, state):
        self.kind, self.state = kind, state

    def __reduce__(self):
        return object.__new__, (self.kind,), self.state


class Part:
    """A class that a later version has no more."""


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "thing", [*RESULTS, *(kind() for kind in ESTIMATORS)], ids=lambda e: type(e).__name__
)
def test_the_same_layout_is_loaded(thing, protocol):
    again = pickle.loads(pickle.dumps(thing, protocol=protocol))
    assert type(again) is type(thing)
    if isinstance(thing, vicinal.Graph):
        assert again == thing
    else:
        assert list(vars(again)) == list(vars(thing))


@pytest.mark.parametrize("kind", CLASSES)
def test_another_layout_is_refused(kind, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(pickles, "LAYOUT", 0)
        earlier.setattr(pickles, "__version__", "0.0.9")
        data = pickle.dumps(Made(kind, pickles.stamped(kind.__name__, {"labels_": X})))
    message = (
        rf"this {kind.__name__} was pickled by vicinal 0.0.9 \(layout 0\), but this is vicinal "
        rf"{vicinal.__version__} \(layout {pickles.LAYOUT}\); fit or build it again"
    )
    with pytest.raises(ValueError, match=message):
        pickle.loads(data)


@pytest.mark.parametrize("kind", CLASSES)
def test_a_pickle_without_a_layout_is_refused(kind):
    data = pickle.dumps(Made(kind, {"labels_": X}))
    with pytest.raises(ValueError, match=f"this {kind.__name__} was pickled by a development"):
        pickle.loads(data)


def test_another_layout_is_refused_before_a_missing_class_is_looked_up(monkeypatch):
    model = SpectralClustering(2).fit(X)
    model.part_ = Part()
    monkeypatch.setattr(pickles, "LAYOUT", 0)
    data = pickle.dumps(model)
    monkeypatch.undo()
    monkeypatch.delattr(f"{__name__}.Part")
    with pytest.raises(ValueError, match="this SpectralClustering was pickled by"):
        pickle.loads(data)


def test_the_layout_adds_few_bytes_and_is_no_attribute():
    model = SpectralClustering(2).fit(X)
    plain = len(pickle.dumps(vars(model)))
    assert len(pickle.dumps(model)) < plain + 500
    for twin in (copy.copy(model), copy.deepcopy(model)):
        assert vars(twin).keys() == vars(model).keys()
        np.testing.assert_array_equal(twin.predict(X), model.labels_)
