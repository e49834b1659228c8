"""Columns as colours of the map, as texts of rows, and their packed form."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vicinal.report._tables import cluster_name
from vicinal.report._value_text import shows_time, value_formats

if TYPE_CHECKING:
    from vicinal.report.result import Perception

# Total number of values of the columns offered as colours; columns that differ least between clusters
# are dropped first.
MAX_COLOUR_VALUES = 1_000_000
# Text columns with more categories than this are not offered as colours; known labels always are.
MAX_CATEGORIES = 40
# Columns with more distinct values are texts, shown with a row and searched. Long texts are cut; texts of the
# columns after the first ones are left out if all of them would be longer than this in total.
MAX_TEXT_LENGTH, MAX_TEXTS_LENGTH = 300, 2_000_000
# From an array and its type on the page to the text that stands for it: its bytes in base64, or an address.
Pack = Callable[[np.ndarray, Any], str]


class Categories(NamedTuple):
    """A colour by category: codes from -1 (``missing_name``) up."""

    name: str
    codes: np.ndarray
    names: list[str]
    missing_name: str = "noise"

    def packed(self, pack: Pack) -> dict[str, Any]:
        """Codes from 0 up in as few bytes as possible."""
        dtype = np.min_scalar_type(len(self.names))
        return {
            "name": self.name,
            "names": self.names,
            "none": self.missing_name,
            "bytes": dtype.itemsize,
            "codes": pack(self.codes + 1, dtype),
        }


class Numbers(NamedTuple):
    """A colour by number, or by date in years."""

    name: str
    values: np.ndarray
    is_date: bool = False

    def packed(self, pack: Pack) -> dict[str, Any]:
        """Values, and a range of colours that a few outliers do not dominate."""
        values = self.values
        low, high = 2.0 * np.quantile(values / 2.0, [0.01, 0.99])  # halved to avoid overflow
        if high <= low:
            low, high = values.min(), values.max()
        with np.errstate(over="ignore"):
            as_float32 = values.astype(np.float32)
        is_integer = bool((values == np.round(values)).all())
        # Values that do not fit into float32 are stored as float64.
        fits = np.allclose(as_float32, values, 0 if is_integer else 1e-6, 0)
        # A float32 of a year is hours off.
        dtype = np.float32 if fits and not self.is_date else np.float64
        return {
            "name": self.name,
            "low": float(low),
            "high": float(high),
            "date": self.is_date and ("time" if shows_time(values.min(), values.max()) else "day"),
            "bytes": np.dtype(dtype).itemsize,
            "values": pack(values, dtype),
        }


def colours(result: Perception, max_values: int | None) -> Iterator[Categories | Numbers]:
    """Everything that the map can be coloured by."""
    data, clusters = result.data, result.clusters
    yield Categories("cluster", clusters.labels, cluster_names(result))
    yield Numbers("noise score", clusters.noise_score)
    if data.labels is not None:
        categories, codes = np.unique(data.labels, return_inverse=True)
        class_names = categories[categories != ""].tolist()
        # The empty string (no label) sorts first and becomes -1.
        codes = codes - (len(categories) - len(class_names))
        yield Categories(f"known {data.label_name}", codes, class_names, "no label")
    yield Categories(
        f"cluster by {clusters.other_method}", clusters.other_labels, cluster_names(result)
    )
    yield Numbers("occurrences in neighbour lists", result.neighborhoods.occurrences)
    for name, column in data.others.items():
        categories, codes = category_codes(column)
        if len(categories) <= MAX_CATEGORIES:
            yield Categories(name, codes, categories.tolist())
    dates = value_formats(data)
    for j in sorted(columns_by_contrast(result)[: n_offered(result, max_values)]):
        yield Numbers(data.names[j], data.values[:, j], data.names[j] in dates)


def cluster_names(result: Perception) -> list[str]:
    """Names of the clusters in every layer and by the other method."""
    clusters = result.clusters
    largest = max(
        labels.max() for labels in (result.layers.labels, clusters.labels, clusters.other_labels)
    )
    return [cluster_name(label) for label in range(int(largest) + 1)]


def texts(result: Perception) -> list[dict[str, Any]]:
    """Columns of text that have too many distinct values to be colours."""
    found, length = [], 0
    for name, column in result.data.others.items():
        values = [str(value)[:MAX_TEXT_LENGTH] for value in column]
        length += sum(map(len, values))
        if len(set(values)) > MAX_CATEGORIES and length <= MAX_TEXTS_LENGTH:
            found.append({"name": name, "values": values})
    return found


def columns_by_contrast(result: Perception) -> np.ndarray:
    """Columns sorted by the fraction of their variance between clusters, largest first."""
    values, labels = result.data.values, result.labels
    values = values / np.maximum(np.abs(values).max(axis=0, initial=0.0), 1e-300)
    known = labels >= 0
    if not values.shape[1]:
        return np.empty(0, dtype=np.int64)
    counts = np.bincount(labels[known])
    means = np.stack([np.bincount(labels[known], column) for column in values[known].T]) / counts
    centre, std = values[known].mean(axis=0), values[known].std(axis=0)
    z_scores = (means - centre[:, None]) / np.where(std > 0, std, 1.0)[:, None]
    return np.argsort(-(z_scores**2 @ counts), kind="stable")


def n_offered(result: Perception, max_values: int | None = None) -> int:
    """Number of numeric columns that the map can be coloured by."""
    max_values = MAX_COLOUR_VALUES if max_values is None else max_values
    return min(len(result.data.names), max(1, max_values // len(result.data.ids)))


def category_codes(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values as text, and which of them each row has."""
    return np.unique(np.array([str(value) for value in column]), return_inverse=True)


def page_bytes(values: np.ndarray, dtype: Any) -> bytes:
    """The bytes of an array as typed arrays in browsers expect them: little-endian."""
    return np.ascontiguousarray(values.astype(np.dtype(dtype).newbyteorder("<"))).tobytes()


def in_base64(values: np.ndarray, dtype: Any) -> str:
    """An array as text within the page."""
    return base64.b64encode(page_bytes(values, dtype)).decode()
