"""The package gets smaller and its parts know less of each other: every measure stays under its ceiling."""

import re
import textwrap
import threading
from pathlib import Path

import pytest

import house
from house import runs, source

ROOT = Path(__file__).parents[1]
CEILINGS = house.ceilings()
READ = {name: limit for name, limit in CEILINGS.items() if name in source.MEASURES}
RUN = {name: limit for name, limit in CEILINGS.items() if name not in source.MEASURES}


def test_a_fault_names_the_measure_the_value_the_ceiling_and_what_to_do():
    values = {"above": 1001, "far below": 979, "just below": 981, "few": 2, "new": 5}
    limits = {"above": 1000, "far below": 1000, "just below": 1000, "few": 5, "gone": 7}
    above, below, new, gone = house.faults(values, limits)
    assert re.search(r"above: 1,001.*ceiling is 1,000.*--where 'above'", above)
    assert re.search(r"far below: 979.*still 1,000.*--lower", below)
    assert re.search(r"new: 5, without a ceiling. Add it to ceilings.toml", new)
    assert re.search(r"gone has a ceiling.*Delete its line", gone)


def test_lowering_lowers_and_never_raises():
    table = '# Why.\n"a" = 10\n"b\'s" = 10\n"c" = 10\n'
    assert house.lowered(table, {"a": 7, "b's": 12}) == '# Why.\n"a" = 7\n"b\'s" = 10\n"c" = 10\n'


@pytest.fixture
def counted(tmp_path):
    """What the measures count in a small package of these files, by part of the measure's name."""

    def count(words, files):
        package = {"__init__.py": "", "__init__.pyi": "", "a/__init__.py": "", "b/__init__.py": ""}
        stubs = {"a/__init__.pyi": "from vicinal.a.work import work as work\n"}
        for name, text in (package | stubs | files).items():
            path = tmp_path / ("" if name.startswith("tests/") else "src/vicinal") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        (places,) = source.places(tmp_path, words).values()
        return [Path(place.partition(" ")[0].rstrip(":,")).name for place in places]

    return count


@pytest.mark.parametrize(
    ("statement", "n_places"),
    [
        ("from vicinal.a import work", 0),
        ("from vicinal.a.work import work", 0),
        ("from vicinal.a.ext import tool", 0),
        ("from vicinal._core import threads", 0),
        ("from vicinal.a.work import helper", 1),
        ("from vicinal.a.work import _helper", 1),
        ("from vicinal.a import other", 1),
        ("import vicinal.a.work as work", 1),
        ("from ..a.work import helper", 1),
        ("def f():\n    from vicinal.a.work import helper", 1),
        ("from vicinal import a\na.work()", 0),
        ("from vicinal import a\na.other.helper()", 1),
    ],
)
def test_a_name_is_private_unless_a_stub_or_an_ext_lists_it(counted, statement, n_places):
    files = {
        "__init__.pyi": "from vicinal import a as a\n",
        "a/work.py": "def work(): ...\ndef helper(): ...\ndef _helper(): ...\n",
        "a/other.py": "def helper(): ...\n",
        "a/ext.py": "",
        "a/ext.pyi": "def tool(): ...\n",
        "b/user.py": statement,
    }
    assert len(counted("another package's private", files)) == n_places
    # Tests may use no more than packages may, and not what is open to packages.
    is_core = "_core" in statement
    tests = {"tests/test_b.py": statement.replace("..", "vicinal.")}
    assert len(counted("files of tests", files | tests)) == bool(n_places or is_core)


def test_settings_of_a_run_count_in_all_that_no_stub_lists(counted):
    code = """
        from typing import NamedTuple

        def work(n_jobs):
            def inner(verbose): ...
        def helper(x, *, n_jobs): ...
        class Job(NamedTuple):
            threads: int
        class Plain:
            n_jobs: int
            def fit(self, verbose): ...
    """
    # work is public; inner, helper, Job and fit are not, whatever their names begin with.
    assert len(counted("n_jobs", {"a/work.py": code})) == 4


@pytest.mark.parametrize(
    "code",
    [
        "from vicinal import a\ngetattr(a, name)()",
        "import importlib\ngetattr(importlib.import_module(where), name)()",
        "part = __import__(where)\ngetattr(part, name)()",
        "TABLE = {'work': 'vicinal.a.work'}",
        "TABLE = {'work': 'a.work'}",
        "TABLE['work'](1)",
        "from vicinal._core.lazy import counterpart\ncounterpart('work')(1)",
    ],
)
def test_a_function_found_by_its_name_counts(counted, code):
    lazy = "def counterpart(name):\n    return getattr(import_module(PLACES[name]), name)\n"
    files = {"_core/lazy.py": lazy, "a/work.py": "", "b/user.py": code}
    assert counted("by a string", files) == ["user.py:2" if "\n" in code else "user.py:1"]


@pytest.mark.parametrize(
    "code",
    [
        "metric == 'precomputed_distances'",
        "GIVEN = 'precomputed'\nkind == GIVEN",
        "isinstance(X, (list, np.ndarray))",
        "from numpy import ndarray as table\nisinstance(X, table)",
        "isinstance(X, sparse.csr_array | int)",
        "hasattr(X, 'rechunk')",
        "is_lazy(X)",
        "match X:\n    case np.ndarray():\n        pass",
    ],
)
def test_what_asks_for_the_kind_of_data_counts_also_through_a_function(counted, code):
    asked = "def is_lazy(X) -> bool:\n    return has_chunks(X)\n"
    asked += "def has_chunks(X) -> bool:\n    return isinstance(X, Array)\n"
    files = {"_core/asked.py": asked, "b/user.py": code, "b/other.py": "isinstance(X, dict)"}
    assert counted("what X is", files) == ["asked.py", "user.py"]


def test_issparse_counts_by_any_name(counted):
    files = {"b/user.py": "from scipy.sparse import issparse as thin\n", "b/other.py": "thin = 1\n"}
    assert counted("issparse", files) == ["user.py"]


def test_documentation_may_speak_of_dask(counted):
    files = {
        "a/work.py": '"""Takes dask arrays."""\n# chunks\n',
        "b/user.py": "rows = X.rechunk(3)\n",
        "b/cells.py": "import dask\n",
    }
    assert counted("dask", files) == ["user.py"]


def test_a_module_that_one_other_imports_counts_unless_it_is_public(counted):
    files = {
        "a/work.py": "from vicinal.a.part import x\n",
        "a/part.py": "",
        "b/user.py": "from vicinal.a.work import work\n",
    }
    assert counted("exactly one other", files) == ["part.py"]


def test_only_functions_that_pass_on_their_arguments_as_they_are_forward_them(counted):
    code = """
        def same(a, b):
            return other(a, b=b)
        def less(a, b):
            return other(a)
        def more(a):
            return other(a, 1)
        def made(a):
            return a.b.other(a)
        class C:
            def same(self, a):
                '''Docstring.'''
                return self.other(a)
    """
    assert counted("forward", {"a/work.py": code}) == ["work.py:2", "work.py:11"]


def test_calls_are_counted_in_all_threads_and_every_counted_function_must_be_called():
    def task():
        return None

    def both():
        thread = threading.Thread(target=task)
        thread.start()
        thread.join()
        task()

    modules, calls = runs.profile(both, package=__name__.partition(".")[0])
    assert modules == {__name__}
    assert runs.count(calls, [task.__code__], "tasks") == 2
    with pytest.raises(runs.StaleRegistryError, match="measures is counted as runs, but was never"):
        runs.count(calls, [runs.measures.__code__], "runs")


def test_a_counted_function_that_is_gone_is_an_error():
    assert runs.code_of("json.dumps").co_name == "dumps"
    with pytest.raises(runs.StaleRegistryError, match=r"json.gone is counted, but is no function"):
        runs.code_of("json.gone")


@pytest.mark.parametrize(
    ("measures", "ceilings"),
    [(source.measures, READ), (runs.measures_of_a_process, RUN)],
    ids=["source", "runs"],
)
def test_every_measure_is_under_its_ceiling_and_near_it(measures, ceilings):
    faults = house.faults(measures(ROOT), ceilings)
    assert not faults, "\n".join(faults)
