"""Any result as named parts, each with its kind, its sha256 and, if it is small, its values.

Arrays count by dtype, shape and bytes in C order, so their order in memory, their class and who owns them
do not matter; everything else does, down to the sign of a zero. An object that is not known here is an
error, because a part left out would be a change unseen.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np
from scipy import sparse

import vicinal

# Arrays of more values and texts of more letters are kept as hashes only.
FEW_VALUES, FEW_LETTERS = 20_000, 2_000


@dataclasses.dataclass(frozen=True)
class Part:
    """A leaf of a result; ``values`` is an array, a text, or None if it is large."""

    kind: str
    sha256: str
    values: Any = dataclasses.field(default=None, compare=False)


def parts(value: Any, path: str = "result") -> dict[str, Part]:
    """Every leaf of a value by its path, such as ``result.graph_.lengths``."""
    return dict(_leaves(value, path))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Part]]:
    for kinds, split in SPLIT:
        if isinstance(value, kinds):
            inner = split(value)
            break
    else:
        inner = _split_by_name(value)
    if isinstance(inner, Part):
        yield path, inner
        return
    yield f"{path}:", of_text(f"{type(value).__name__} of {', '.join(map(str, inner))}", "type")
    for name, part in inner.items():
        yield from _leaves(part, f"{path}.{name}")


def of_text(text: str, kind: str = "text") -> Part:
    text = normalised(text)
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
    return Part(kind, digest, text if len(text) <= FEW_LETTERS else None)


def normalised(text: str) -> str:
    """A text without what differs between two runs: folders, addresses, times and versions."""
    for pattern, name in NORMALISED:
        text = re.sub(pattern, name, text)
    # A set of words is printed in an order that differs between processes.
    return re.sub(r"\{'[^{}:]*'\}", _sorted, text)


NORMALISED = [
    (re.escape(tempfile.gettempdir()) + r"[^\s'\",:;)]*", "<folder>"),
    (r"0x[0-9a-f]{6,}", "<address>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?", "<time>"),
    (r"\b\d+(\.\d+)? ?(seconds|s)\b", "<seconds>"),
    (re.escape(vicinal.__version__), "<version>"),
]


def of_array(values: np.ndarray) -> Part | dict[str, Any]:
    if isinstance(values, np.ma.MaskedArray):
        return {"data": values.filled(0), "mask": np.ma.getmaskarray(values)}
    kind = f"{values.dtype} {values.shape}"
    if values.dtype.hasobject:
        return of_text("\n".join(map(_scalar, values.ravel())), kind)
    plain = np.ascontiguousarray(values)
    head = f"{plain.dtype.str} {values.shape} ".encode()
    digest = hashlib.sha256(head + plain.tobytes()).hexdigest()
    # A copy, since the caller may go on writing into the array.
    return Part(kind, digest, np.array(values) if values.size <= FEW_VALUES else None)


def _scalar(value: Any) -> str:
    return value.hex() if isinstance(value, float) else repr(value)


def _of_number(value: Any) -> Part:
    return dataclasses.replace(of_array(np.asarray(value)), kind=type(value).__name__)


def _of_integer(value: int) -> Part:
    return of_text(repr(value), "int") if abs(value) >= 2**63 else _of_number(value)


def _of_sequence(values: Any) -> Part | dict[str, Any]:
    if all(isinstance(value, (str, int, type(None))) for value in values):
        return of_text(repr(list(values)), f"{type(values).__name__} of {len(values)}")
    return {str(i): value for i, value in enumerate(values)}


def _of_sparse(matrix: Any) -> dict[str, Any]:
    names = ("indptr", "indices", "row", "col", "offsets", "data")
    return {"shape": matrix.shape} | {n: getattr(matrix, n) for n in names if hasattr(matrix, n)}


def _of_fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _of_graph(graph: Any) -> dict[str, Any]:
    names = ("directed", "indptr", "indices", "lengths", "strengths")
    return {name: getattr(graph, name) for name in names} | {"metadata": dict(graph.metadata)}


def _of_model(model: Any) -> dict[str, Any]:
    names = {*vars(model), *dir(type(model))}
    fitted = sorted(
        n for n in names if n.endswith("_") and not n.startswith("_") and hasattr(model, n)
    )
    return {name: attempt(lambda name=name: getattr(model, name)) for name in fitted}


def _sorted(words: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(words[0][1:-1].split(", "))) + "}"


# What an artist of a plot draws; others, such as axes, say nothing about the data.
ARTISTS = {
    "Line2D": ["get_xydata", "get_color"],
    "PathCollection": ["get_offsets", "get_facecolors", "get_sizes", "get_array"],
    "LineCollection": ["get_segments", "get_colors", "get_linewidths", "get_array"],
    "AxesImage": ["get_array"],
    "Legend": ["get_texts"],
    "Text": ["get_text"],
    "Artist": [],
}


def _of_artist(names: list[str], artist: Any) -> dict[str, Any]:
    return {name: getattr(artist, name)() for name in names}


# What `near_duplicates` documents.
DUPLICATES = (
    *("threshold", "search_radius", "recall", "curve", "n_rows", "n_against", "linkage"),
    *("n_pairs", "pairs", "distances", "labels", "groups", "representatives", "keep"),
)


def attempt(ask: Callable[[], Any]) -> Any:
    """What a question gives, which may be an error."""
    try:
        value = ask()
        return list(value) if inspect.isgenerator(value) else value
    except Exception as error:
        return error


SPLIT: list[tuple[Any, Callable[[Any], Part | dict[str, Any]]]] = [
    (type(None), lambda value: of_text("None", "None")),
    ((bool, np.bool_, float, complex, np.generic), _of_number),
    (int, _of_integer),
    (str, of_text),
    (bytes, lambda value: of_text(hashlib.sha256(value).hexdigest(), "bytes")),
    (PurePath, lambda value: of_text(str(value), "path")),
    (BaseException, lambda value: of_text(f"{type(value).__name__}: {value}", "error")),
    (type, lambda value: of_text(value.__name__, "class")),
    (np.ndarray, of_array),
    (sparse.spmatrix | sparse.sparray, _of_sparse),
    (vicinal.Graph, _of_graph),
    (Mapping, lambda value: {str(key): part for key, part in value.items()}),
    (slice | range, lambda value: of_text(repr(value))),
]


def _split_by_name(value: Any) -> Part | dict[str, Any]:
    """Objects of libraries that need not be imported here, and those with a common form."""
    for kind in type(value).__mro__:
        if kind.__name__ in BY_NAME:
            return BY_NAME[kind.__name__](value)
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, (list, tuple)):
        return _of_sequence(value)
    if isinstance(value, (set, frozenset)):
        return _of_sequence(sorted(value))
    if dataclasses.is_dataclass(value):
        return _of_fields(value)
    if callable(value):
        return of_text(getattr(value, "__name__", type(value).__name__), "function")
    raise TypeError(f"{type(value)} has no entry in {__name__}; say there what its parts are.")


BY_NAME: dict[str, Callable[[Any], Part | dict[str, Any]]] = {
    "Axes": lambda axes: dict(enumerate(axes.get_children())),
    **{name: partial(_of_artist, names) for name, names in ARTISTS.items()},
    "BaseEstimator": _of_model,
    "NeighborSearch": _of_model,
    "NearDuplicates": lambda found: {name: getattr(found, name) for name in DUPLICATES},
    "Array": lambda array: {"chunks": repr(array.chunks), "values": np.asarray(array)},
    "DataFrame": lambda frame: {"rows": list(frame.index), **{n: frame[n] for n in frame.columns}},
    "Series": lambda column: {"dtype": str(column.dtype), "values": np.asarray(column)},
    "Categorical": lambda column: {"names": list(column.categories), "codes": column.codes},
    "LinearOperator": lambda operator: {"matrix": operator @ np.eye(operator.shape[1])},
    "PathSimilarity": lambda similarity: {"matrix": similarity.toarray()},
    "SmoothedSimilarity": lambda similarity: {"matrix": similarity.toarray()},
}
