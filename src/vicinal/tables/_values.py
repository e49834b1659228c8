"""What cells of text mean: numbers with currencies, percent and separators, dates, yes and no."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

# Words that mean a missing value among numbers, dates, and yes and no. Anywhere else they are words.
MISSING_WORDS = {
    *("", "na", "n/a", "#n/a", "#na", "<na>", "#n/a n/a", "nan", "-nan", "none", "null", "nil"),
    *("?", "-", "--", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),
}
YES_NO = [
    ("yes", "no"),
    ("y", "n"),
    ("true", "false"),
    ("t", "f"),
    ("on", "off"),
    ("ja", "nein"),
    ("oui", "non"),
    ("sí", "no"),
    ("si", "no"),
    ("sim", "não"),
]
CURRENCIES = (
    r"(?:[$€£¥₹₽₩₺₪฿]|US\$|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|ZAR)"
)
# Other names of a currency.
SAME_CURRENCY = {"US$": "$", "USD": "$", "EUR": "€", "GBP": "£", "INR": "₹"}
# Currency signs and percent around a number; the sign may stand before or behind the currency.
SIGN = r"([+\-−]?)"
MINUS = ("-", "−")
AROUND = re.compile(
    rf"{SIGN}\s*({CURRENCIES})?\s*{SIGN}\s*"
    rf"([\d.,'’_\s]*[\d.,](?:[eE][+-]?\d+)?)\s*(?:%|({CURRENCIES}))?"
)
# A number by the mark of its fraction; groups of three digits may be separated.
BODY = r"(?:(?:\d+|[1-9]\d{0,2}(?:[GROUP]\d{3})+)(?:MARK\d*)?|MARK\d+)(?:[eE][+-]?\d+)?"
GROUP_MARKS = {"point": ",'’_ ", "comma": ".'’_ "}
BODY_PATTERNS = {
    "point": BODY.replace("GROUP", GROUP_MARKS["point"]).replace("MARK", r"\."),
    "comma": BODY.replace("GROUP", GROUP_MARKS["comma"]).replace("MARK", ","),
}
BODIES = {mark: re.compile(pattern) for mark, pattern in BODY_PATTERNS.items()}
# What makes a body a number of Python: no groups, and a point.
PLAIN = {
    "point": str.maketrans("", "", GROUP_MARKS["point"]),
    "comma": str.maketrans(",", ".", GROUP_MARKS["comma"]),
}
DATE_FORMATS = [
    "%d.%m.%Y",
    "%d.%m.%y",
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
]
TIMES = ["", " %H:%M", " %H:%M:%S", " %I:%M %p"]
ISO = "ISO"
# An ISO date with at least a month; plain numbers such as 20240131 stay numbers.
ISO_DATE = re.compile(
    r"\d{4}-\d{2}(-\d{2})?([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?"
)
# Number of texts that formats are tried on before all are parsed.
N_PROBED = 50
MAX_SHOWN_WORDS = 5


class NumberText(NamedTuple):
    """A text that is a number: its value by the mark of its fraction, and its currency, if it has one."""

    value: dict[str, float]
    currency: str | None

    @property
    def shows(self) -> str:
        """The decimal mark: "comma", "point", "either" with different values, or "" if it does not matter."""
        if len(self.value) == 1:
            return next(iter(self.value))
        return "either" if self.value["comma"] != self.value["point"] else ""


def is_missing_word(text: str) -> bool:
    """Whether text means a missing value."""
    return text.strip().lower() in MISSING_WORDS


def number_text(text: str) -> NumberText | None:
    """The number that text represents, or None."""
    text = text.strip().replace("\u00a0", " ").replace("\u202f", " ")
    negative = text.startswith("(") and text.endswith(")")
    match = AROUND.fullmatch(text[1:-1].strip() if negative else text)
    if match is None:
        return None
    outer, before, inner, body, behind = match.groups()
    sign = -1.0 if negative != (outer in MINUS or inner in MINUS) else 1.0
    value = {
        mark: sign * float(body.translate(PLAIN[mark]))
        for mark, pattern in BODIES.items()
        if pattern.fullmatch(body)
    }
    currency = before or behind
    return NumberText(value, SAME_CURRENCY.get(currency, currency)) if value else None


def shown_marks(numbers: Mapping[str, NumberText | None]) -> dict[str, str]:
    """What texts show about the decimal mark ("comma", "point", "either"), each with the first that does."""
    shown: dict[str, str] = {}
    for text, number in numbers.items():
        if number is not None and number.shows:
            shown.setdefault(number.shows, text)
    return shown


def common_mark(shown: Iterable[Mapping[str, str]]) -> str | None:
    """The decimal mark of the columns of a table; None if they show none, or both."""
    marks = {mark for own in shown for mark in own} - {"either"}
    return marks.pop() if len(marks) == 1 else None


def counted(words: Counter[str]) -> str:
    """Words with the number of cells that hold them, the most frequent first."""
    listed = [f"{word!r} ({n:,})" for word, n in words.most_common(MAX_SHOWN_WORDS)]
    return ", ".join(listed) + (", ..." if len(words) > MAX_SHOWN_WORDS else "")


def date_format(texts: Sequence[str]) -> str | None:
    """A format that reads all texts as dates, or None."""
    probed = texts[:N_PROBED]
    formats = [ISO, *(day + time for time in TIMES for day in DATE_FORMATS)]
    for form in formats:
        parse = date_parser(form)
        if all(parse(text) is not None for text in probed) and all(
            parse(text) is not None for text in texts[N_PROBED:]
        ):
            return form
    return None


def other_order(form: str, texts: Sequence[str]) -> str | None:
    """The format with day and month exchanged, if it reads all texts too, some of them as other dates."""
    # Dates with points have the day first everywhere.
    if not form.startswith(("%m/%d/", "%d/%m/", "%m-%d-", "%d-%m-")):
        return None
    other = form.replace("%d", "%").replace("%m", "%d").replace("%-", "%m-").replace("%/", "%m/")
    given, exchanged = date_parser(form), date_parser(other)
    dates = [(given(text), exchanged(text)) for text in texts]
    is_open = all(b is not None for _, b in dates) and any(a != b for a, b in dates)
    return other if is_open else None


def date_parser(form: str) -> Callable[[str], datetime | None]:
    """Function that reads a date of a format; None where text is not one."""

    def parse(text: str) -> datetime | None:
        text = text.strip()
        try:
            if form != ISO:
                return datetime.strptime(text, form)
            if not ISO_DATE.fullmatch(text):
                return None
            whole = f"{text}-01" if len(text) == 7 else text
            return datetime.fromisoformat(whole).replace(tzinfo=None)
        except ValueError:
            return None

    return parse


def yes_no(texts: set[str]) -> tuple[str, str] | None:
    """The pair of words for no and yes to which all texts belong, or None."""
    lower = {text.strip().lower() for text in texts}
    for yes, no in YES_NO:
        if lower <= {yes, no}:
            return no, yes
    return None
