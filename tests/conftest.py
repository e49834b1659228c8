"""The same examples in every run and no deadlines, so that a failure is never due to a slow machine.

Two marks follow from what a test is, so that no new test can miss them: `system` from the imports of its
file, and `core` from being the first of its file, which says what the file is about.
"""

import re
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("vicinal", derandomize=True, deadline=None)
settings.load_profile("vicinal")

SYSTEM = re.compile(
    r"^ *(import|from) (concurrent|distributed|http|resource|signal|socket|subprocess|threading|time"
    r"|tracemalloc|urllib)\b",
    re.MULTILINE,
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    tests, files = Path(__file__).parent, {}
    for item in items:
        if tests in item.path.parents and not {"slow", "browser"} & set(item.keywords):
            files.setdefault(item.path, []).append(item)
    for path, found in files.items():
        found[0].add_marker("core")
        if SYSTEM.search(path.read_text(encoding="utf-8")):
            for item in found:
                item.add_marker("system")
