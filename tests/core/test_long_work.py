"""Work that takes minutes or longer says so soon after its start, with the expected time."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from vicinal import ManifoldRanking, PerceptualRanking, graphs
from vicinal._core import parallel, warn
from vicinal._core.parallel import map_threads, progress_bar, run_with, use_run
from vicinal._core.warn import LongWork, duration
from vicinal.exceptions import VicinalWarning
from vicinal.neighbors import NeighborSearch
from vicinal.neighbors import _brute as brute
from vicinal.neighbors import _kdtree as kdtree
from vicinal.neighbors import _pairwise as pairwise
from vicinal.neighbors import _sparse_points as sparse_points
from vicinal.rank import _auto_alpha as auto_alpha
from vicinal.rank import _scores as scores

WORK = LongWork("counting", "count less")


@pytest.fixture
def hour_per_part(monkeypatch):
    """A clock that advances by an hour whenever it is read, which is once per part."""
    hours = itertools.count()
    monkeypatch.setattr(warn, "clock", lambda: 3600.0 * next(hours))


def test_the_expected_time_is_that_of_the_remaining_parts(hour_per_part):
    with pytest.warns(
        VicinalWarning, match=r"counting takes about 8\.0 hours; count less\. verbose=1"
    ):
        # After the second part, 8 parts of one hour remain.
        assert map_threads(abs, range(10), 1, long_work=WORK) == list(range(10))


def test_a_second_pass_counts(hour_per_part):
    with pytest.warns(VicinalWarning, match="takes about 18 hours"):
        map_threads(abs, range(10), 1, long_work=WORK._replace(n_passes=2))


def test_the_first_part_is_not_measured_because_it_may_compile(monkeypatch):
    times = iter([500.0, 501.0, 502.0, 503.0])
    monkeypatch.setattr(warn, "clock", lambda: next(times))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        map_threads(abs, range(4), 1, long_work=WORK)


def test_parts_too_short_to_measure_are_measured_together(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(warn, "clock", lambda: 0.25 * next(ticks))
    with pytest.warns(VicinalWarning, match=r"takes about 4\.1 minutes") as caught:
        map_threads(abs, range(1000), 1, long_work=WORK)
    assert len(caught) == 1


def test_a_progress_bar_replaces_the_warning(hour_per_part, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with use_run(run_with(1, 1)):
            map_threads(abs, range(10), title="counting", long_work=WORK)
    assert "counting" in capfd.readouterr().err


def test_parts_of_different_size_are_weighted(hour_per_part):
    with progress_bar(100, None, WORK) as bar:
        bar.update(2)
        with pytest.warns(VicinalWarning, match=r"takes about 2\.0 days"):
            bar.update(2)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (119, "119 seconds"),
        (150, "2.5 minutes"),
        (7100, "118 minutes"),
        (7200, "2.0 hours"),
        (3.6e9, "41,667 days"),
    ],
)
def test_a_duration_has_its_largest_unit(seconds, text):
    assert duration(seconds) == text


def points(n, d=2):
    return np.random.default_rng(0).normal(size=(n, d))


def rank_all(model):
    return lambda X: model.fit(X).rank(np.arange(len(X)), 3)[0]


# What is long, its advice, and the sizes that cut it into enough parts.
SLOW_WORK = {
    "L1 graph": (lambda: graphs.l1(np.abs(points(700, 3))), "structure_aware_l1", {}),
    "radius": (
        lambda: NeighborSearch(points(1600, 40)).within(5.0),
        "the search within a radius .* k nearest neighbours",
        {},
    ),
    "radius by the tree": (
        lambda: NeighborSearch(points(8000)).within(0.05),
        "the search within a radius .* k nearest neighbours",
        {},
    ),
    "radius among sparse points": (
        lambda: NeighborSearch(csr_array(points(40))).within(1.0),
        "the search within a radius .* k nearest neighbours",
        {sparse_points: {"BLOCK_ENTRIES": 400}},
    ),
    "sparse points": (
        lambda: NeighborSearch(csr_array(points(40))).nearest(3),
        "TruncatedSVD",
        {sparse_points: {"BLOCK_ENTRIES": 400}},
    ),
    "another metric": (
        lambda: NeighborSearch(points(40), metric="chebyshev").nearest(3),
        "metric='euclidean'",
        {pairwise: {"BLOCK_ENTRIES": 400}},
    ),
    "neighbours by products": (
        lambda: NeighborSearch(points(300, 40)).nearest(3),
        "the exact search for neighbours .* approximate",
        {brute: {"BLOCK_ROWS": 64}},
    ),
    "neighbours by the tree": (
        lambda: NeighborSearch(points(3000)).nearest(3),
        "the exact search for neighbours .* approximate",
        {kdtree: {"_leaves_per_task": lambda tree: 8}},
    ),
    "spanning tree": (lambda: graphs.mst(points(2000, 40)), "the spanning tree .* knn", {}),
    "empty regions": (lambda: graphs.gabriel(points(3000)), "empty regions .* knn", {}),
    "ManifoldRanking": (
        lambda: rank_all(ManifoldRanking())(points(40)),
        "ranking of 40 points for 40 queries .* fewer queries",
        {scores: {"BLOCK_ENTRIES": 1, "QUERIES_PER_GROUP": 4}},
    ),
    "scores": (
        lambda: ManifoldRanking().fit(points(40)).scores(np.arange(40)),
        "ranking of 40 points for 40 queries .* fewer queries",
        {scores: {"BLOCK_ENTRIES": 1, "QUERIES_PER_GROUP": 4}},
    ),
    "alpha of PerceptualRanking": (
        lambda: PerceptualRanking().fit(points(40)),
        r"alpha='auto' for 40 points .* alpha=0\.99",
        {auto_alpha: {"SECONDS_PER_SCORE": 1.0}},
    ),
}


@pytest.mark.parametrize("name", SLOW_WORK)
def test_long_work_is_announced_with_what_is_faster(name, monkeypatch, hour_per_part):
    run, message, sizes = SLOW_WORK[name]
    # Of work this short, the thread that warns may do a single part, unless it is the only one.
    monkeypatch.setattr(parallel, "n_threads", lambda n_jobs=-1: 1)
    for module, values in sizes.items():
        for constant, value in values.items():
            monkeypatch.setattr(module, constant, value)
    with pytest.warns(VicinalWarning, match=f"(?s){message}") as caught:
        run()
    assert any("takes about" in str(warning.message) for warning in caught)
    # The warning is about the line that started the work.
    assert {warning.filename for warning in caught} == {__file__}


def test_alpha_of_many_points_is_chosen_by_fewer_queries(monkeypatch):
    n_queries = []

    def solver(half, n_jobs):
        def solve(alpha):
            def scores_of(starts, n_jobs):
                n_queries.append(starts.shape[0])
                return np.ones(starts.shape)

            return scores_of

        return solve

    digraph = graphs.knn(points(200), 3, directed=True)
    masses = np.arange(200.0)
    for n_scores, expected in ((10**6, 64), (200 * 20, 20), (200 * 10, 16)):
        monkeypatch.setattr(auto_alpha, "N_SCORES", n_scores)
        auto_alpha.choose_alpha(digraph, masses, solver, 1)
        assert set(n_queries) == {expected}
        n_queries.clear()
