"""A browser, and a report on digits with images, each started once."""

import pytest
from sklearn.datasets import load_digits

import vicinal


@pytest.fixture(scope="session")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="session")
def driver(downloads):
    from browsing import new_driver

    browser = new_driver(downloads)
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def digits_result():
    digits = load_digits()
    return vicinal.perceive(
        digits.data[:500],
        labels=digits.target[:500],
        ids=[f"digit {i}" for i in range(500)],
        images=digits.images[:500],
        n_clusters=7,
    )


@pytest.fixture(scope="session")
def report(digits_result, tmp_path_factory):
    return digits_result.to_html(tmp_path_factory.mktemp("report") / "digits.html")
