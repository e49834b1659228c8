"""How the values of new rows differ from those of the rows that a model was made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from vicinal.exceptions import InvalidValueError
from vicinal.tables._codes import NORMAL_IQR

# Quantiles at which two distributions of numbers are compared.
LEVELS = np.linspace(0.0, 1.0, 41)
# Probability that a column without any change is called changed, divided by the number of columns.
SIGNIFICANCE = 0.01
# Changes below this difference of distributions do not matter, however many rows show them.
MIN_DIFFERENCE = 0.1
# Categories beyond the most frequent ones are counted as one.
MAX_CATEGORIES = 1000


class NumberProfile(NamedTuple):
    """Distribution of a column of numbers.

    ``values`` are some of its quantiles, and ``below`` the fraction of rows with at most each value; ``unit``
    is its robust standard deviation.
    """

    values: list[float]
    below: list[float]
    median: float
    unit: float
    missing: float


class CategoryProfile(NamedTuple):
    """Fraction of rows in each category of a column."""

    fractions: dict[str, float]
    missing: float


Profile = NumberProfile | CategoryProfile


def profile_of(values: np.ndarray) -> Profile:
    """Profile of numbers, NaN where missing, or of texts, empty where missing."""
    return profile_words(values) if values.dtype == object else profile_numbers(values)


def profile_numbers(values: np.ndarray) -> NumberProfile:
    """Profile of numbers, NaN where missing."""
    known = np.sort(values[np.isfinite(values)])
    missing = 1.0 - len(known) / max(len(values), 1)
    if not len(known):
        return NumberProfile([], [], 0.0, 0.0, missing)
    quantiles = np.unique(np.quantile(known, LEVELS, method="inverted_cdf"))
    below = np.searchsorted(known, quantiles, side="right") / len(known)
    # Halved, because the difference of two values may overflow.
    low, median, high = (2.0 * float(np.quantile(known / 2.0, q)) for q in (0.25, 0.5, 0.75))
    unit = high / NORMAL_IQR - low / NORMAL_IQR
    unit = unit if unit > 0 else float(np.std(known / 2.0)) * 2.0
    return NumberProfile(quantiles.tolist(), below.tolist(), median, unit, missing)


def profile_words(words: np.ndarray) -> CategoryProfile:
    """Profile of categories as text, empty where missing."""
    counts = Counter(word for word in words.tolist() if word)
    n_known = sum(counts.values())
    frequent = counts.most_common(MAX_CATEGORIES)
    fractions = {word: count / n_known for word, count in frequent}
    return CategoryProfile(fractions, 1.0 - n_known / max(len(words), 1))


def compare_columns(
    old: Mapping[str, Profile], new: Mapping[str, np.ndarray], n_old: int
) -> list[dict[str, Any]]:
    """A record per column: how new values (numbers, or text) differ from a profile, largest change first.

    ``difference`` is the largest difference of the two distribution functions, or of the fractions in a
    category; ``shift`` that of the medians, in robust standard deviations; ``outside`` the fraction of new
    values outside the old range, or in unseen categories.
    """
    records = [_compare(name, profile, new[name]) for name, profile in old.items()]
    for record in records:
        n_new = record.pop("n_known")
        limit = MIN_DIFFERENCE
        if n_new:
            # Hoeffding's inequality for both tables, for all columns at once.
            rows = n_old * n_new / (n_old + n_new)
            limit = max(
                limit, float(np.sqrt(np.log(2.0 * len(records) / SIGNIFICANCE) / (2 * rows)))
            )
        record["changed"] = bool(n_new) and record["difference"] > limit
    return sorted(records, key=lambda record: -record["difference"])


def _compare(name: str, profile: Profile, new: np.ndarray) -> dict[str, Any]:
    if isinstance(profile, CategoryProfile):
        record = _compare_words(profile, new)
    else:
        record = _compare_numbers(profile, new)
    return {"column": name, **record, "missing_before": profile.missing}


def _compare_words(profile: CategoryProfile, new: np.ndarray) -> dict[str, Any]:
    current = profile_words(new)
    before, now = profile.fractions, current.fractions
    changes = [abs(now.get(word, 0.0) - before.get(word, 0.0)) for word in {*before, *now}]
    return {
        "difference": max(changes, default=0.0),
        "shift": None,
        "outside": float(sum(now[word] for word in now if word not in before)),
        "missing": current.missing,
        "n_known": int(np.count_nonzero(new != "")),
    }


def _compare_numbers(profile: NumberProfile, new: np.ndarray) -> dict[str, Any]:
    current = profile_numbers(new)
    known = np.sort(new[np.isfinite(new)])
    difference, shift, outside = 0.0, None, 0.0
    if len(known) and profile.values:
        below = np.searchsorted(known, profile.values, side="right") / len(known)
        below_all = float(np.searchsorted(known, profile.values[0])) / len(known)
        difference = float(max(np.abs(below - profile.below).max(), below_all))
        outside = float(1.0 - below[-1] + below_all)
        if profile.unit > 0:
            shift = current.median / profile.unit - profile.median / profile.unit
    return {
        "difference": difference,
        "shift": shift,
        "outside": outside,
        "missing": current.missing,
        "n_known": len(known),
    }


def profiles_to_json(profiles: Mapping[str, Profile]) -> list[dict[str, Any]]:
    """Profiles as records."""
    return [{"column": name, **profile._asdict()} for name, profile in profiles.items()]


def profiles_from_json(records: list[dict[str, Any]]) -> dict[str, Profile]:
    """Profiles of records; errors of wrong types are raised."""
    profiles: dict[str, Profile] = {}
    for record in records:
        missing = float(record["missing"])
        profile: Profile
        if "fractions" in record:
            fractions = {str(word): float(f) for word, f in record["fractions"].items()}
            profile = CategoryProfile(fractions, missing)
        else:
            values, below = ([float(v) for v in record[key]] for key in ("values", "below"))
            if len(values) != len(below):
                raise InvalidValueError(
                    f"the profile of {record['column']!r} has lists of two lengths"
                )
            numbers = float(record["median"]), float(record["unit"])
            profile = NumberProfile(values, below, *numbers, missing)
        profiles[str(record["column"])] = profile
    return profiles
