"""Names in messages: suggestions for those that do not exist, and short lists of those that do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MAX_LISTED, MAX_QUOTED = 20, 60
# Names that are less similar are not suggested: "income" for "nope" has 0.6.
MIN_SIMILARITY = 0.65


def listing(names: Iterable[object]) -> str:
    """Names separated by commas; only the first if there are many."""
    texts = [
        text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}..." for text in map(str, names)
    ]
    return ", ".join(texts[:MAX_LISTED]) + (", ..." if len(texts) > MAX_LISTED else "")


def quoted(text: object) -> str:
    """A value in quotes; only its start if it is long."""
    shown = repr(text)
    return shown if len(shown) <= MAX_QUOTED else f"{shown[:MAX_QUOTED]}..."


def suggestion(name: str, known: Iterable[str]) -> str:
    """`` (did you mean ...?)`` if a known name is close to the given one, otherwise nothing."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=MIN_SIMILARITY)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""
