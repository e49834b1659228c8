"""Commands: exit code, what they print, and the files that they write."""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path

import numpy as np

from vicinal.cli import main

from .. import inputs
from ..call import call
from ..expect import every

# Times, and parts of the report that are no answer of their own.
LEFT_OUT = ("step_seconds", "seconds", "graphs")


def command(line, n_jobs=None):
    """Run a command on a table in an empty folder."""
    arguments = line.split()
    printed, said, before = io.StringIO(), io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            _write_tables()
            known = set(os.listdir())
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
                code = _code([*arguments, "--jobs", str(n_jobs)])
            written = sorted(set(os.listdir()) - known)
            files = {name: Path(name).read_text() for name in written if name.endswith("csv")}
        finally:
            os.chdir(before)
    out = printed.getvalue()
    if "--json" in arguments and code == 0:
        out = {name: part for name, part in json.loads(out).items() if name not in LEFT_OUT}
    return {"code": code, "out": out, "said": said.getvalue(), "files": files}


def _code(arguments):
    try:
        return main(arguments)
    except SystemExit as end:
        return end.code


def _write_tables():
    points = inputs.dense.make()
    np.savetxt("points.csv", points, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    labels = np.where(inputs.few_labels.make() < 0, "", inputs.names.make())
    rows = np.column_stack([points.astype(str), labels])
    np.savetxt("partly.csv", rows, delimiter=",", header="a,b,c,kind", comments="", fmt="%s")
    Path("new.csv").write_text("a,b,c\n0.5,0.5,0.5\n9,2,1\n")


def _exits(code):
    def check(found):
        assert found == code, found

    return every({"code": check})


CALLS = [
    *(
        call(command, line, expect=_exits(0))
        for line in [
            "cluster points.csv --json",
            "cluster points.csv --method perceptual --clusters 3 -o clusters.csv --json",
            "embed points.csv --method eigenmaps -o map.csv --json",
            "graph points.csv --kind knn --neighbors 5 -o edges.csv --json",
            "label partly.csv --label kind --queries 3 -o labels.csv --json",
            "rank points.csv --query 0 40 -k 3 --json",
            "duplicates points.csv --json",
            "perceive points.csv -o page.html --json",
            "audit points.csv -o page.html --json",
        ]
    ),
    *(
        call(command, line, expect=_exits(2))
        for line in [
            "cluster nothing.csv --json",
            "cluster points.csv --clusters 0",
            "rank points.csv --query 500",
            "graph points.csv --kind bogus",
        ]
    ),
]
