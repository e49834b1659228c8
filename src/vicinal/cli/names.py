"""Names a user types: aliases of choices, and options instead of parameters in messages."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping

from vicinal._core.suggestions import suggestion

# Options by the library's parameters they set, where the names differ. Where several options set
# parameters of one name, the option that was given is meant.
OPTIONS_BY_PARAMETER = {
    "n_clusters": ("clusters",),
    "n_components": ("dimensions",),
    "n_neighbors": ("neighbors", "top"),
    "n_landmarks": ("landmarks",),
    "n_steps": ("steps",),
    "method": ("search", "pairs"),
    "noise": ("noise", "jitter"),
    "smoothing": ("blur",),
    "smooth": ("t",),
    "random_state": ("seed",),
    "n_jobs": ("jobs",),
}


# Advice about parameters that no option sets, and its equivalent on the command line.
ADVICE = {
    "use graph='disjoint_mst', which is always connected, or set disconnected='raise'": (
        "use --graph dmst, which is always connected"
    ),
}


def flag(name: str) -> str:
    """Option that sets an attribute of the parsed arguments."""
    return f"--{name.replace('_', '-')}"


def name_type(what: str, aliases: Mapping[str, str]) -> Callable[[str], str]:
    """Argument type that accepts each alias of a choice and returns the choice."""
    by_key = {_key(alias): name for alias, name in aliases.items()}

    def convert(text: str) -> str:
        if _key(text) not in by_key:
            choices = ", ".join(dict.fromkeys(aliases.values()))
            raise argparse.ArgumentTypeError(
                f"unknown {what} {text!r}{suggestion(text, aliases)}; choose from {choices}"
            )
        return by_key[_key(text)]

    return convert


def _key(name: str) -> str:
    return name.lower().replace("_", "-")


def in_terms_of_options(message: str, arguments: argparse.Namespace) -> str:
    """An error message of the library with the command's options instead of its parameters."""
    for advice, option in ADVICE.items():
        message = message.replace(advice, option)
    given = {name for name, value in vars(arguments).items() if value is not None}

    def option_of(parameter: str) -> str | None:
        candidates = OPTIONS_BY_PARAMETER.get(parameter, (parameter,))
        return next((flag(name) for name in candidates if name in given), None)

    def with_value(match: re.Match[str]) -> str:
        option = option_of(match[1])
        return f"{option} " if option else match[0]

    def without_value(match: re.Match[str]) -> str:
        return option_of(match[0]) or match[0]

    message = re.sub(r"(?<![\w./'\"-])([a-z]\w*)=(?=\S)", with_value, message)
    return re.sub(r"(?<![\w./'\"-])(n_[a-z]+|random_state)\b(?!=)", without_value, message)
