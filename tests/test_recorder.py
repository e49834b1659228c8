"""Calls of the recorder give what they must on any machine, all public names are called, and changes show."""

import ast
import importlib
import inspect
import subprocess
import sys
import warnings
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA

import vicinal
from recorder import calls, inputs
from recorder.__main__ import compared
from recorder.call import Call, Outcome, odd
from recorder.digest import normalised, parts
from recorder.expect import anything, error
from recorder.records import difference_of_arrays, differences, load, record_of, save

# Public names without a call, and why.
WITHOUT_CALL = dict.fromkeys(vicinal.exceptions.__all__, "what odd inputs raise")


@pytest.mark.parametrize("call", calls.CALLS, ids=[call.name for call in calls.CALLS])
def test_the_call_gives_what_it_must(call):
    outcome = call.run()
    call.expect(outcome.result)
    # Every part can be recorded.
    record_of(outcome)


def test_names_of_calls_are_unique():
    names = [call.name for call in calls.CALLS]
    assert len(set(names)) == len(names)


def test_every_public_name_is_called():
    called = {id(thing) for room in calls.ROOMS for thing in _named_in(room)}
    rooms = [vicinal, *filter(inspect.ismodule, (getattr(vicinal, n) for n in vicinal.__all__))]
    missing = {
        f"{room.__name__}.{name}"
        for room in rooms
        for name in room.__all__
        if name not in WITHOUT_CALL
        and not inspect.ismodule(getattr(room, name))
        and id(getattr(room, name)) not in called
    }
    assert not missing, f"Call {sorted(missing)} in tests/recorder/calls."


def _named_in(room):
    """What the names and attributes in the file of a room stand for."""
    module = importlib.import_module(f"{calls.__name__}.{room}")
    for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
        thing = vars(module)
        if isinstance(node, (ast.Name, ast.Attribute)):
            for name in ast.unparse(node).split("."):
                thing = thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
            yield thing


ARRAY = np.array([[1.0, 2.0], [-0.0, 4.0]])
Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    "same",
    [np.asfortranarray(ARRAY), ARRAY[:, ::-1][:, ::-1], np.repeat(ARRAY, 2, axis=0)[::2]],
    ids=["Fortran order", "reversed strides", "gaps"],
)
def test_the_order_in_memory_is_no_change(same):
    assert parts(same) == parts(ARRAY)


CHANGED = {
    "a bit": [ARRAY, np.array([[1.0, np.nextafter(2.0, 3.0)], [-0.0, 4.0]])],
    "the sign of a zero": [ARRAY, np.array([[1.0, 2.0], [0.0, 4.0]])],
    "the dtype": [ARRAY, ARRAY.astype(np.float32)],
    "the order of bytes": [ARRAY, ARRAY.astype(">f8")],
    "the shape": [ARRAY, ARRAY.ravel()],
    "a nested value": [{"a": [1.0, {"b": ARRAY}]}, {"a": [1.0, {"b": ARRAY + 1}]}],
    "a name": [{"a": 1}, {"b": 1}],
    "a kind of number": [1, 1.0],
    "a number": [0.1 + 0.2, 0.3],
    "the order of a list": [[1, 2], [2, 1]],
    "the class": [(1.5, 2.5), Pair(1.5, 2.5)],
    "a field": [Pair(1.5, None), Pair(1.5, 2.5)],
    "a stored zero": [sparse.csr_array(ARRAY), sparse.csr_array(ARRAY + 0.0)],
    "an object": [np.array(["a", None]), np.array(["a", "None"], dtype=object)],
    "a mask": [np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[0, 0])],
    "a fitted attribute": [PCA(1).fit(ARRAY), PCA(1).fit(2 * ARRAY)],
    "a graph": [vicinal.graphs.mst(ARRAY), vicinal.graphs.mst(2 * ARRAY)],
    "a text": ["a", "b"],
    "the text of an error": [ValueError("a"), ValueError("b")],
    "the kind of error": [ValueError("a"), TypeError("a")],
}
CHANGED["a stored zero"][1].data[0] = -1.0


@pytest.mark.parametrize("values", CHANGED.values(), ids=CHANGED)
def test_a_change_is_seen(values):
    old, new = (parts(value) for value in values)
    assert differences(old, new)
    assert not differences(old, old)


def test_an_added_warning_is_seen():
    warned = Call("warns", lambda _: warnings.warn("odd", stacklevel=1), anything).run()
    assert warned.warned == ["UserWarning: odd"]
    found = differences(record_of(Outcome(None, [])), record_of(warned))
    assert found == {"warning 0": ("new: UserWarning: odd", np.inf)}


def test_an_unknown_object_is_an_error():
    class Unknown:
        __slots__ = ()

    with pytest.raises(TypeError, match="Unknown"):
        parts({"a": Unknown()})


def test_folders_addresses_times_and_orders_of_sets_are_no_text():
    assert normalised("{'b', 'a'} at 0x7f00deadbeef") == "{'a', 'b'} at <address>"
    assert normalised("in 1.5 s, 2024-01-31 12:30") == "in <seconds>, <time>"


def test_differences_are_said_in_words():
    a = np.array([0, 0, 1, 2])
    for new, said in [
        (np.array([1, 1, 0, 2]), "the same groups, numbered otherwise: 3 of 4 differ"),
        (np.array([0, 1, 1, 2]), "1 of 4 differ"),
        (np.array([0.0, 0, 1, 2 + 6e-12]), "floats within 3.0e-12 relative to the largest"),
        (np.array([-0.0, 0, 1, 2]), "values equal, bits not"),
        (np.array([0.0, 0, 1, np.nan]), "1 of 4 became finite or ceased to be"),
    ]:
        old = a.astype(new.dtype)
        assert difference_of_arrays(old, new).said == said


def test_a_record_is_the_same_after_it_was_written(tmp_path):
    records = {"a": parts({"x": ARRAY, "y": "text", "z": ValueError("no")}), "b": parts(None)}
    save(records, tmp_path)
    assert load(tmp_path) == records
    np.testing.assert_array_equal(load(tmp_path)["a"]["result.x"].values, ARRAY)


def test_changed_gone_new_and_renamed_calls_are_listed():
    old = {"same": parts(1), "changed": parts(1.0), "gone": parts(2), "old name": parts(3)}
    new = {"same": parts(1), "changed": parts(1.5), "new": parts(4), "new name": parts(3)}
    lines, is_equal = compared(old, new)
    assert not is_equal
    assert lines == [
        "changed",
        "    result: floats within 5.0e-01 relative to the largest",
        "gone: gone",
        "gone: old name (the same as new name)",
        "new: new",
        "new: new name (the same as old name)",
        "1 of 1 changed calls: floats within 5.0e-01, all else equal",
        "4 calls: 1 changed, 2 gone, 2 new",
    ]
    assert compared(old, old | {"new": parts(4)})[1]


def test_an_odd_input_that_is_taken_fails():
    takes_all = odd(lambda X: 1, inputs.ODD[:1])
    with pytest.raises(AssertionError, match="NaN"):
        takes_all.expect(takes_all.run().result)
    with pytest.raises(AssertionError, match="another"):
        error("one")(ValueError("another"))


def test_the_commands_record_and_check(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "tests.recorder", *arguments, "--only", "outliers float32"]
        root = Path(__file__).parents[1]
        return subprocess.run(command, cwd=root, capture_output=True, text=True)

    done = run("record", "--to", str(tmp_path))
    assert done.returncode == 0, done.stderr
    checked = run("check", "--from", str(tmp_path))
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout == "1 calls: 0 changed, 0 gone, 0 new\n"
