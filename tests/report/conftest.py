"""Reports that several tests use, each computed once."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine

import vicinal
from vicinal.datasets import make_half_cylinders, make_spirals


def iris_table():
    """Iris with text columns, missing values and a constant column, like a real-world table."""
    iris = load_iris(as_frame=True)
    frame = iris.frame.drop(columns="target")
    frame["species"] = iris.target_names[iris.target]
    frame["flower"] = [f"flower {i}" for i in range(len(frame))]
    frame["garden"] = np.where(np.arange(len(frame)) % 2, "east", "west")
    frame["planet"] = 3.0
    frame.iloc[[3, 70], [0, 1]] = np.nan
    return frame


def _iris():
    return vicinal.perceive(iris_table(), labels="species", ids="flower")


def _wine():
    X, y = load_wine(return_X_y=True)
    return vicinal.perceive(X, labels=y, n_jobs=1)


def _digits():
    digits = load_digits()
    return vicinal.perceive(digits.data, labels=digits.target, images=digits.images, sample=200)


def _half_cylinders():
    X, y = make_half_cylinders(400, 200, random_state=0)
    return vicinal.perceive(X, labels=y, sample=300, scaling="none")


def _spirals():
    X, y = make_spirals(400, random_state=0)
    return vicinal.perceive(X, labels=y, n_clusters=2, scaling="none")


MAKERS = {
    "iris": _iris,
    "wine": _wine,
    "digits": _digits,
    "half-cylinders": _half_cylinders,
    "spirals": _spirals,
}


@pytest.fixture(scope="session", name="iris_table")
def _iris_table():
    return iris_table()


@pytest.fixture(scope="session")
def perception():
    """A function from the name of a data set to its `Perception`."""
    results = {}

    def get(name):
        if name not in results:
            results[name] = MAKERS[name]()
        return results[name]

    return get
