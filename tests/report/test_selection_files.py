"""Files with a selection that the page loads: a wrong one is explained, and changes nothing."""

import json
import re
import shutil
import subprocess

import pytest

NODE = shutil.which("node")
GOOD = {"format": "vicinal selection", "version": 1, "n": 150, "clusters": 3, "rows": [1, 2]}
NAMED = {"clusters": 3, "cluster": 0, "name": "setosa"}

# What the functions for these files need from the rest of the page.
PAGE = """
const data = { n: 150, layers: { numbers: [3], reported: 0 } };
const clusters = { names: ["cluster 0", "cluster 1", "cluster 2"] };
const state = { layer: 0, selected: null };
const said = [];
const say = (text) => said.push(text);
const count = (n, what) => `${n} ${what}s`;
const maskOf = (rows) => rows;
const setSelection = (rows) => { state.selected = rows; };
const setLayer = () => {};
"""
CALLS = """
afterNaming = () => {};
showNameInputs = () => {};
setName(0, 1, "mine");
loadSelection(process.argv[1], true);
const kept = givenNames().map((given) => given.name);
console.log(JSON.stringify({ said: said[0], selected: state.selected, names: kept }));
"""


@pytest.fixture
def load(perception, tmp_path):
    """What the page says after it has loaded a file, its selection, and the names of clusters."""
    if NODE is None:
        pytest.skip("needs node")
    page = perception("iris").to_html(tmp_path / "page.html").read_text()
    functions = re.search(
        r'const FORMAT = "vicinal selection".*?\nfunction loadSelection.*?\n}\n', page, re.S
    )
    script = PAGE + functions[0] + CALLS

    def call(content):
        out = subprocess.run(
            [NODE, "-e", script, json.dumps(content)], capture_output=True, check=True, timeout=60
        )
        return json.loads(out.stdout)

    return call


def test_keptof_a_good_file_replace_those_of_the_reader(load):
    after = load({**GOOD, "names": [NAMED]})
    assert (after["selected"], after["names"]) == ([1, 2], ["setosa"])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rows": None}, "it has no list of rows"),
        ({"rows": {"0": 1}}, "it has no list of rows"),
        ({"rows": [150]}, "a row number is not one of this table"),
        ({"names": None}, "its names are not a list of clusters with names"),
        ({"names": [None]}, "its names are not a list of clusters with names"),
        ({"names": [{**NAMED, "name": {"toString": 1}}]}, "its names are not a list"),
        (
            {"names": [NAMED, {**NAMED, "cluster": 9}]},
            "it names clusters that this table does not have",
        ),
    ],
)
def test_a_wrong_file_is_explained_and_changes_nothing(load, change, problem):
    after = load({**GOOD, "names": [NAMED], **change})
    assert f"could not be loaded: {problem}" in after["said"]
    assert (after["selected"], after["names"]) == (None, ["mine"])
