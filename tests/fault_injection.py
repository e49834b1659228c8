"""Signals at a chosen moment of ``vicinal perceive``; run as a script for a process that may be killed."""

import os
import signal
import sys
from unittest import mock

from vicinal.__main__ import main
from vicinal.report import _checkpoints as steps
from vicinal.report.pipeline import STEPS
from vicinal.report.result import Perception


def run_struck(command, moment, stage, number):
    """The exit code of ``command()``, which is sent a signal once at a moment of a stage.

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
            return command()
    finally:
        signal.signal(signal.SIGINT, former)


if __name__ == "__main__":
    _, when, where, what, *sys.argv[1:] = sys.argv
    sys.exit(run_struck(main, when, int(where), signal.Signals(int(what))))
