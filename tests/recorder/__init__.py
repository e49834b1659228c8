"""A record of what public calls answer, to the bit: any change of an answer shows, wanted or not.

    python -m tests.recorder record               # before a change: into build/recorder
    python -m tests.recorder check                # after it, on the same machine: what differs, and how far
    python -m tests.recorder check --only mst     # calls with this word in their name
    python -m tests.recorder list                 # the calls
    python -m tests.recorder show --only mst      # the parts of what they give

A record holds the sha256 of every array, number, text, warning and error of each call, and the values of
small ones, so that `check` can say how large a difference is. It is not committed, because bits differ
between processors. `record` keeps nothing unless each call gives the same with one and two threads, twice,
and in a process of its own in another order. ``--to FOLDER`` and ``--from FOLDER`` name another place, and
``PYTHONPATH=/other/src`` records another version of the package.

The calls are in `calls`, a file for each room; `inputs` makes what they take, `expect` says what must hold
on every machine, `digest` takes results apart, `records` stores and compares them. A call is declared in
one line; `tests/test_recorder.py` runs all of them and fails for a public name without one.
"""
