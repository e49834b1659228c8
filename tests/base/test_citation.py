import inspect

import pytest
from sklearn.base import BaseEstimator

import vicinal
from vicinal import graphs
from vicinal._base.citation import ESTIMATORS


def test_every_public_estimator_has_references():
    public = {
        name
        for name in vicinal.__all__
        if inspect.isclass(getattr(vicinal, name))
        and issubclass(getattr(vicinal, name), BaseEstimator)
    }
    assert public == set(ESTIMATORS)


def test_references_include_the_method_and_the_graph():
    keys = [
        work.key
        for work in vicinal.citation(
            vicinal.SpectralClustering(2, method="ncut", graph="disjoint_mst")
        ).references
    ]
    assert keys == ["vicinal", "shi2000", "carreira2005"]


def test_a_builder_function_has_the_references_of_its_name():
    by_name = vicinal.citation(vicinal.SpectralClustering(2, graph="l1"))
    by_function = vicinal.citation(vicinal.SpectralClustering(2, graph=graphs.l1))
    assert str(by_name) == str(by_function)
    assert "cheng2010" in vicinal.citation(graphs.l1).bibtex()


def test_repeated_references_are_listed_once():
    models = vicinal.PerceptualClustering(), vicinal.PerceptualRanking()
    assert str(vicinal.citation(*models)).count("Contextual distance") == 1


def test_objects_of_other_libraries_raise_a_clear_error():
    with pytest.raises(TypeError, match="estimators or functions of vicinal are needed"):
        vicinal.citation(42)
