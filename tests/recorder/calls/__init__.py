"""All calls, by room."""

import importlib
from dataclasses import replace

from ..call import Call

ROOMS = [
    "neighbors",
    "graphs",
    "operators",
    "similarity",
    "codes",
    "cluster",
    "embed",
    "rank",
    "semi_supervised",
    "segmentation",
    "outliers",
    "duplicates",
    "metrics",
    "tables",
    "report",
    "scale",
    "threads",
    "tl",
    "datasets",
    "plot",
    "cli",
]
CALLS: list[Call] = [
    replace(call, name=f"{room}: {call.name}")
    for room in ROOMS
    for call in importlib.import_module(f"{__name__}.{room}").CALLS
]
