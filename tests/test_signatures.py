"""Parameters of all public functions and estimators follow the same conventions."""

import inspect

import pytest
from sklearn.base import BaseEstimator

import vicinal

PACKAGES = [vicinal, *(o for n in vicinal.__all__ if inspect.ismodule(o := getattr(vicinal, n)))]
# Constructed by users rarely or never: arrays of a graph, and results.
NOT_CALLED = {"Graph", "Assignment", "Perception", "PerceptionModel"}
CALLABLES = {
    f"{package.__name__}.{name}": public
    for package in PACKAGES
    for name in package.__all__
    if callable(public := getattr(package, name)) and name not in NOT_CALLED
    if not (inspect.isclass(public) and issubclass(public, BaseException))
}
ESTIMATORS = {
    name: public
    for name, public in CALLABLES.items()
    if inspect.isclass(public) and issubclass(public, BaseEstimator)
}
DEFAULTS = {
    "beta": 0.99999,
    "descriptor": "coding_length",
    "epsilon": None,
    "graph_params": None,
    "max_clusters": "auto",
    "metric": "euclidean",
    "n_jobs": -1,
    "random_state": None,
    "verbose": 0,
}
# Other defaults of ``random_state``, and why.
SEEDED = {
    vicinal.perceive: "reports are reproducible by default",
    vicinal.audit: "reports are reproducible by default",
    vicinal.OutlierDetector: "outliers are reproducible by default",
    vicinal.near_duplicates: "duplicates are reproducible by default",
    vicinal.cluster.k_subspaces: "a function of its arguments only",
}
# Names of other libraries for a parameter that has another name here.
SYNONYMS = {
    "n_neighbours": "n_neighbors",
    "neighbours": "n_neighbors",
    "n_nbrs": "n_neighbors",
    "seed": "random_state",
    "rng": "random_state",
    "n_threads": "n_jobs",
    "dim": "n_components",
    "n_dims": "n_components",
    "n_dimensions": "n_components",
    "max_iterations": "max_iter",
    "tol": "tolerance",
}


def parameters(public):
    return inspect.signature(public).parameters.values()


def positional(public):
    return [each for each in parameters(public) if each.kind is each.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_only_the_first_parameter_of_an_estimator_may_be_positional(name):
    assert len(positional(ESTIMATORS[name])) <= 1


@pytest.mark.parametrize("name", sorted(set(CALLABLES) - set(ESTIMATORS)))
def test_optional_parameters_after_the_second_are_keyword_only(name):
    optional = [
        each.name for each in positional(CALLABLES[name])[2:] if each.default is not each.empty
    ]
    assert optional == []


@pytest.mark.parametrize("name", CALLABLES)
def test_a_parameter_has_the_same_name_and_default_everywhere(name):
    for parameter in parameters(CALLABLES[name]):
        assert parameter.name not in SYNONYMS, f"use {SYNONYMS[parameter.name]}"
        assert parameter.name != "k", "use n_neighbors, or a longer name"
        expected = DEFAULTS.get(parameter.name, parameter.default)
        if parameter.name == "random_state" and CALLABLES[name] in SEEDED:
            expected = 0
        assert parameter.default in (expected, parameter.empty), parameter
        if parameter.name in ("n_jobs", "verbose", "random_state"):
            assert parameter.kind is parameter.KEYWORD_ONLY, parameter


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_number_of_components_or_clusters_comes_first(name):
    names = [parameter.name for parameter in parameters(ESTIMATORS[name])]
    for first in ("n_components", "n_clusters"):
        # Smoothing for clusters is an option of a similarity.
        if first in names and ESTIMATORS[name] is not vicinal.SelfSmoothing:
            assert names[0] == first
