"""What cells of text mean: numbers with currencies, percent and separators, dates, yes and no."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

# Text that means a missing value.
MISSING_WORDS = {"", "na", "n/a", "#n/a", "nan", "null", "nil", "?", "-", "--"}
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
# Currency signs and percent around a number; the sign may stand before or behind the currency.
SIGN = r"([+\-−]?)\s*"
AROUND = re.compile(
    rf"{SIGN}{CURRENCIES}?\s*{SIGN}([\d.,'’_\s]+?(?:[eE][+-]?\d+)?)\s*(?:%|{CURRENCIES})?"
)
# A number by the mark of its fraction; groups of three digits may be separated.
BODIES = {
    "point": re.compile(r"(?:\d+|\d{1,3}(?:[,'’_ ]\d{3})+)?(?:\.\d*)?(?:[eE][+-]?\d+)?"),
    "comma": re.compile(r"(?:\d+|\d{1,3}(?:[.'’_ ]\d{3})+)?(?:,\d*)?(?:[eE][+-]?\d+)?"),
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


def is_missing_word(text: str) -> bool:
    """Whether text means a missing value."""
    return text.strip().lower() in MISSING_WORDS


def parse_number(text: str, mark: str) -> float | None:
    """The number that text represents, or None."""
    text = text.strip().replace("\u00a0", " ").replace("\u202f", " ")
    negative = text.startswith("(") and text.endswith(")")
    match = AROUND.fullmatch(text[1:-1].strip() if negative else text)
    if match is None or not any(letter.isdigit() for letter in match[3]):
        return None
    body = match[3]
    if not BODIES[mark].fullmatch(body):
        return None
    decimal, others = (".", ",'’_ ") if mark == "point" else (",", ".'’_ ")
    for letter in others:
        body = body.replace(letter, "")
    try:
        value = float(body.replace(decimal, "."))
    except ValueError:
        return None
    is_negative = negative != any(sign in ("-", "−") for sign in match.groups()[:2])
    return -value if is_negative else value


def number_mark(texts: Sequence[str]) -> tuple[str, int]:
    """The decimal mark with which most texts are numbers, and how many are."""
    counts = {mark: sum(parse_number(text, mark) is not None for text in texts) for mark in BODIES}
    best = "comma" if counts["comma"] > counts["point"] else "point"
    return best, counts[best]


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
