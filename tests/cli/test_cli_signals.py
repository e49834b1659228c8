"""Ctrl-C and SIGTERM at any moment: an exit code, no partial or temporary file, no word of Python."""

import gzip
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no signals of POSIX")

INTERRUPTED = "vicinal: interrupted; no partial files were left behind\n"
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
UNCLEAN = ("Traceback", "Exception ignored", "terminate called")
# The command, sent a signal at the n-th import or opened file that has the word in its name.
STRUCK = """
import os, signal, sys
_, word, left, number, *sys.argv[1:] = sys.argv
left = int(left)

def look(event, args):
    global left
    if event in ("import", "open") and word in str(args[0]):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), int(number))

signal.signal(signal.SIGINT, signal.default_int_handler)
from vicinal.__main__ import main
sys.addaudithook(look)
sys.exit(main())
"""


def check_struck(word, left, number, *command, **options):
    words = [sys.executable, "-c", STRUCK, word, left, int(number), *command]
    done = subprocess.run([str(w) for w in words], capture_output=True, check=False, **options)
    errors = done.stderr.decode()
    assert (done.returncode, errors.endswith(INTERRUPTED)) == (
        CODES[number],
        number == signal.SIGINT,
    )
    assert not any(word in errors for word in UNCLEAN)
    assert done.stdout == b""


MOMENTS = [1, 40, 200, 500, 1000, 1600, 2300, 3000]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_among_imports_and_steps_ends_the_command(moment, table):
    number = (signal.SIGINT, signal.SIGTERM)[MOMENTS.index(moment) % 2]
    report = table.with_name("report.html")
    check_struck("", moment, number, "perceive", table, "--clusters", "2", "-o", report)
    assert [path.name for path in table.parent.iterdir()] == ["points.csv"]


@pytest.mark.parametrize("number", CODES)
def test_a_signal_while_writing_leaves_the_old_file(number, table):
    target = table.with_name("edges.csv")
    target.write_text("old")
    check_struck(".edges-", 1, number, "graph", table, "--kind", "mst", "-o", target, "--force")
    assert target.read_text() == "old"
    assert sorted(path.name for path in table.parent.iterdir()) == ["edges.csv", "points.csv"]


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize("source", ["pipe", "compressed"])
def test_a_signal_leaves_no_temporary_folder(number, source, table, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    packed = table.with_name("points.csv.gz")
    packed.write_bytes(gzip.compress(table.read_bytes()))
    monkeypatch.setenv("TMPDIR", str(folder))
    name = "-" if source == "pipe" else packed
    # The second time that the file is opened, it is read.
    check_struck("temporary/vicinal-", 2, number, "graph", name, input=table.read_bytes())
    assert list(folder.iterdir()) == []


def test_a_page_is_left_by_ctrl_c(table, run):
    report = table.with_name("report.html")
    assert run("perceive", table, "--clusters", "2", "--sample", "50", "-o", report) == 0
    words = [sys.executable, "-c", STRUCK, "none", "0", "0", "explore", report, "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b"http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.communicate() == (b"", b"")
    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", CODES)
def test_200_signals_at_random_moments_end_the_command(number, tmp_path):
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(0, 1, (700, 5)), rng.normal(4, 1, (800, 5))])
    table = tmp_path / "points.csv"
    np.savetxt(table, points, delimiter=",", header="a,b,c,d,e", comments="")
    words = [sys.executable, "-c", STRUCK, "none", "0", "0", "perceive", table, "--force"]
    words += ["-o", tmp_path / "report.html", "--labels", tmp_path / "labels.csv", "--jobs", "2"]
    start = time.monotonic()
    subprocess.run(words, check=True, capture_output=True)
    length, moments = time.monotonic() - start, random.Random(0)
    codes: Counter[int] = Counter()
    for _ in range(200):
        for path in tmp_path.glob("[rl]*"):
            path.unlink()
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            time.sleep(moments.uniform(0, length))
            process.send_signal(number)
            _, errors = process.communicate()
        codes[process.returncode] += 1
        if process.returncode == CODES[number]:
            assert not any(word in errors.decode() for word in UNCLEAN)
            # A report that was complete stays.
            names = {path.name for path in tmp_path.iterdir()}
            assert names <= {"points.csv", "report.html", "labels.csv"}
    # Before the first line of the command, Python itself answers, and a short run may be over.
    early = (-signal.SIGTERM,) if number == signal.SIGTERM else (-signal.SIGINT, 1)
    assert codes.keys() <= {CODES[number], 0, *early}
    assert sum(codes[code] for code in early) < 20
