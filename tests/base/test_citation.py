import inspect

import pytest
from sklearn.base import BaseEstimator

import vicinal
from vicinal import graphs
from vicinal._base.citation import ESTIMATORS


def test_every_public_estimator_says_what_to_cite():
    public = {
        name
        for name in vicinal.__all__
        if inspect.isclass(getattr(vicinal, name))
        and issubclass(getattr(vicinal, name), BaseEstimator)
    }
    assert public == set(ESTIMATORS)


def test_an_estimator_names_its_method_and_its_graph():
    keys = [
        work.key
        for work in vicinal.citation(
            vicinal.SpectralClustering(2, method="ncut", graph="disjoint_mst")
        ).references
    ]
    assert keys == ["vicinal", "shi2000", "carreira2005"]


def test_a_builder_given_as_a_function_counts_like_its_name():
    by_name = vicinal.citation(vicinal.SpectralClustering(2, graph="l1"))
    by_function = vicinal.citation(vicinal.SpectralClustering(2, graph=graphs.l1))
    assert str(by_name) == str(by_function)
    assert "cheng2010" in vicinal.citation(graphs.l1).bibtex()


def test_a_work_is_named_once_however_often_it_was_used():
    models = vicinal.PerceptualClustering(), vicinal.PerceptualRanking()
    assert str(vicinal.citation(*models)).count("Contextual distance") == 1


def test_what_is_not_of_vicinal_is_a_clear_error():
    with pytest.raises(TypeError, match="estimators and functions of vicinal are needed"):
        vicinal.citation(42)
