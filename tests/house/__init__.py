"""The size and the joints of the package, and the ceilings under which they stay.

    python -m tests.house                      # the table
    python -m tests.house --lower              # ceilings down to today's values; none is ever raised
    python -m tests.house --where "issparse"   # the places that measures of this name count

`source` measures what can be read, `runs` what is called; `ceilings.toml` holds one number for each measure.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

CEILINGS = Path(__file__).with_name("ceilings.toml")
# How far a value may fall before its ceiling must follow: otherwise it could rise again unseen.
SLACK, FEW = 0.02, 3


def ceilings() -> dict[str, int]:
    return tomllib.loads(CEILINGS.read_text(encoding="utf-8"))


def faults(values: Mapping[str, int], limits: Mapping[str, int]) -> list[str]:
    """What is wrong with the values under their ceilings, and what to do."""
    found = []
    for measure, value in values.items():
        limit = limits.get(measure)
        if limit is None:
            found.append(f"{measure}: {value:,}, without a ceiling. Add it to {CEILINGS.name}.")
        elif value > limit:
            found.append(
                f"{measure}: {value:,}, but the ceiling is {limit:,}. Take away what this change added; "
                f"`python -m tests.house --where '{measure}'` shows what is counted."
            )
        elif limit - value > max(FEW, SLACK * value):
            found.append(
                f"{measure}: {value:,}, and the ceiling is still {limit:,}. "
                "Lower it with `python -m tests.house --lower`."
            )
    found += [
        f"{measure} has a ceiling, but nothing measures it. Delete its line in {CEILINGS.name}."
        for measure in limits
        if measure not in values
    ]
    return found


def lowered(table: str, values: Mapping[str, int]) -> str:
    """The table of ceilings with each one down to its value; higher values change nothing."""

    def line(match: re.Match[str]) -> str:
        measure, limit = match[1], int(match[2])
        return f'"{measure}" = {min(limit, values.get(measure, limit))}'

    return re.sub(r'^"([^"]+)" = (\d+)$', line, table, flags=re.MULTILINE)
