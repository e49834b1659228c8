"""Signals at a chosen moment of ``vicinal perceive``; run as a script for a process that may be killed."""

import os
import signal
import sys
from unittest import mock

from vicinal.cli import main
from vicinal.report import _checkpoints as steps
from vicinal.report.pipeline import STEPS
from vicinal.report.result import Perception


def run_struck(words, moment, stage, number):
    """The command, sent a signal once at a moment of a stage; returns its exit code.

    The moment is "computing", before a step is computed; "writing", when its file is written but
    not renamed yet; or "report", the same for the report.
    """
    call, replace, to_html = steps.CheckpointedRunner.__call__, os.replace, Perception.to_html
    now = {"stage": None}

    def strike():
        os.kill(os.getpid(), number)

    def computing(self, name, kind, compute, *rest, **options):
        now["stage"] = name

        def struck():
            if moment == "computing" and name == STEPS[stage]:
                strike()
            return compute()

        return call(self, name, kind, struck, *rest, **options)

    def writing(source, target):
        if moment == "writing" and now["stage"] == STEPS[stage]:
            strike()
        return replace(source, target)

    def reporting(self, path):
        written = to_html(self, path)
        if moment == "report":
            strike()
        return written

    # Background jobs of a shell start with interrupts ignored.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with (
            mock.patch.object(steps.CheckpointedRunner, "__call__", computing),
            mock.patch.object(os, "replace", writing),
            mock.patch.object(Perception, "to_html", reporting),
        ):
            return main(words)
    finally:
        signal.signal(signal.SIGINT, former)


if __name__ == "__main__":
    given, when, where, what = sys.argv[4:], sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sys.exit(run_struck(given, when, where, signal.Signals(what)))
