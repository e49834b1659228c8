"""Every public function, constructor and method, found by introspection, with plausible arguments.

New functions are found automatically. It needs an entry in `TYPICAL` only for a required parameter of a name
that no other function has.
"""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import anndata
import numpy as np
from sklearn.base import BaseEstimator

import vicinal
from vicinal import Graph, graphs
from vicinal.embed import classical_scaling
from vicinal.neighbors import NeighborSearch
from vicinal.report import Perception

N_POINTS = 12
POINTS = np.random.default_rng(0).normal(size=(N_POINTS, 3))
DISTANCES = np.linalg.norm(POINTS[:, None] - POINTS, axis=2)
FOLDER = tempfile.TemporaryDirectory()  # deleted when the process ends
np.save(f"{FOLDER.name}/points.npy", POINTS)
SIMILARITY = np.exp(-np.square(DISTANCES))
LABELS = np.repeat([0, 1, -1], [4, 4, 4])
CLASSES = np.repeat([0, 1, 2], 4)
IMAGE = np.random.default_rng(1).random((6, 7))
SEGMENTS = np.repeat([0, 1], 21).reshape(6, 7)
GRAPH = graphs.knn(POINTS, 4)
ORDER = np.argsort(DISTANCES, axis=1)

# By the name of a parameter, or of an entry and its parameter where the name alone is not enough.
TYPICAL: dict[str, Any] = {
    "X": POINTS,
    "adata": anndata.AnnData(POINTS),
    "y": LABELS,
    "GraphRegressor.y": POINTS[:, 0],
    "SimilarityVoteClassifier.y": CLASSES,
    "k": 3,
    "n_neighbors": 3,
    "n_pairs": 3,
    "n_clusters": 2,
    "n_segments": 2,
    "n_nodes": N_POINTS,
    "dtype": "float32",
    "radius": 1.5,
    "beta": 1.5,
    "t": 2.0,
    "ts": [1.0, 2.0],
    "window": 3,
    "graph": GRAPH,
    "affinity": SIMILARITY,
    "operator": SIMILARITY,
    "W": SIMILARITY,
    "similarity.before": SIMILARITY,
    "similarity.after": SIMILARITY,
    "digraph": graphs.knn(POINTS, 4, directed=True),
    "distances": DISTANCES,
    "estimated": DISTANCES,
    "true": DISTANCES,
    "geodesics": DISTANCES,
    "landmarks": [0, 1, 2, 3],
    "embedding": POINTS[:, :2],
    "points": POINTS,
    "rows": POINTS,
    "offsets": POINTS[:, 0],
    "positions": POINTS[:, :2],
    "values": POINTS[:, 0],
    "image": IMAGE,
    "shape": (3, 4),
    "scaling": classical_scaling(DISTANCES, 2),
    "labels": CLASSES,
    "labels_true": CLASSES,
    "labels_pred": CLASSES,
    "ranking": ORDER,
    "segments": SEGMENTS,
    "segments.labels": SEGMENTS,
    "human_maps": [SEGMENTS],
    "sources": [DISTANCES, DISTANCES],
    "weights": [0.5, 0.5],
    "queries": [0, 1],
    "NeighborSearch.queries": POINTS,
    "nodes": [0, 2, 3],
    "landing": np.full(N_POINTS, 1 / N_POINTS),
    "indptr": GRAPH.indptr,
    "indices": GRAPH.indices,
    "lengths": GRAPH.lengths,
    "strengths": GRAPH.strengths,
    "Graph.from_edges.edges": GRAPH.edges(),
    "Graph.from_edges.lengths": np.ones(GRAPH.n_edges),
    "Graph.from_edges.strengths": np.ones(GRAPH.n_edges),
    "Graph.from_kneighbors.indices": ORDER[:, 1:4],
    "Graph.from_kneighbors.distances": np.sort(DISTANCES, axis=1)[:, 1:4],
    "graph_score.build": graphs.knn,
    "read_npy.path": f"{FOLDER.name}/points.npy",
    "TableEncoder.differences.Y": POINTS,
    "stability.estimator": vicinal.SpectralClustering(2, graph_params={"n_neighbors": 3}),
    "stability.parameter": "n_clusters",
    "stability.values": [2, 3],
    "neighbors": (ORDER[:, 1:4], np.sort(DISTANCES, axis=1)[:, 1:4]),
    "matrix": DISTANCES,
    "results": [0, 1],
    "scores": [1.0, 0.5],
}
# Objects that are not estimators, whose methods are entries.
INSTANCES = {
    Graph: GRAPH,
    NeighborSearch: NeighborSearch(POINTS),
}
# Entries that need something that tests do not have.
WITHOUT = {
    "perceive": "runs everything; its parts are entries of their own",
    "Perception": "a result, made by perceive",
    "audit": "runs everything; its parts are entries of their own",
    "Audit": "a result, made by audit",
    "PerceptionModel": "part of a result, made by Perception.model",
    "Assignment": "a result, made by PerceptionModel.assign",
    "Stability": "a result, made by stability",
    "Store": "creates the folders that it is given",
    "explore": "serves a result of perceive",
    "Explorer": "serves a page, made by explore",
    "Graph.from_networkx": "needs another library's object",
    "Graph.from_anndata": "needs another library's object",
    "Graph.to_anndata": "needs another library's object",
    "Graph.to_igraph": "needs another library",
}
# Options of estimators that keep a fit on a few points possible.
SMALL = {"n_neighbors": 3, "graph_params": {"n_neighbors": 3}}

VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Entry:
    """Something that can be called; ``call`` takes the arguments by name."""

    name: str
    parameters: dict[str, inspect.Parameter]
    call: Callable[..., Any]
    arguments: dict[str, Any]
    # Parameters of the constructor, which errors of methods may name.
    options: tuple[str, ...] = ()

    def table(self, parameter: str) -> np.ndarray:
        """A typical table of the parameter; points where it is no table."""
        value = _typical(self.name, parameter)
        return np.asarray(value if isinstance(value, (np.ndarray, list)) else POINTS)


def _typical(entry: str, parameter: str, default: Any = None) -> Any:
    """The value of the longest name in `TYPICAL` that fits."""
    parts = entry.split(".")
    for n in range(len(parts), 0, -1):
        for name in (".".join(parts[:n]), ".".join(parts[-n:])):
            if f"{name}.{parameter}" in TYPICAL:
                return TYPICAL[f"{name}.{parameter}"]
    return TYPICAL.get(parameter, default)


def public_entries() -> list[Entry]:
    """All of them, each once, in the order of their names."""
    result: dict[int, Entry] = {}
    for module in [vicinal, *_subpackages()]:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.ismodule(thing) or id(thing) in result or name in WITHOUT:
                continue
            result.update((id(thing) + i, e) for i, e in enumerate(_entries_of(name, thing)))
    return sorted(result.values(), key=lambda entry: entry.name)


def _subpackages() -> list[Any]:
    # Users do not construct errors.
    names = set(vicinal.__all__) - {"exceptions"}
    names = sorted(n for n in names if inspect.ismodule(getattr(vicinal, n)))
    return [importlib.import_module(f"vicinal.{name}") for name in names]


def _entries_of(name: str, thing: Any) -> Iterator[Entry]:
    if not inspect.isclass(thing):
        yield _entry(name, thing)
    elif issubclass(thing, BaseEstimator):
        yield from _entries_of_estimator(name, thing)
    else:
        yield _entry(name, thing)
        instance = INSTANCES[thing]
        for method in _methods(thing):
            if f"{name}.{method}" not in WITHOUT:
                yield _entry(f"{name}.{method}", _on_a_copy(instance, method))


def _entries_of_estimator(name: str, kind: Any) -> Iterator[Entry]:
    options = {k: v for k, v in SMALL.items() if k in inspect.signature(kind).parameters}
    data = _arguments(f"{name}.fit", inspect.signature(kind.fit))
    if "y" in inspect.signature(kind.fit).parameters:
        data.setdefault("y", None)

    def constructed(**parameters: Any) -> Any:
        return used(kind(**{**options, **parameters}).fit(**data), **data)

    def fitted(**given: Any) -> Any:
        return used(kind(**options).fit(**given), **given)

    yield Entry(name, _parameters(kind), constructed, {})
    known = tuple(_parameters(kind))
    yield Entry(f"{name}.fit", _parameters(kind(**options).fit), fitted, data, known)
    model = kind(**options).fit(**data)
    for method in _methods(kind):
        if not method.startswith("fit"):
            yield _entry(f"{name}.{method}", _on_a_copy(model, method), known)


def _on_a_copy(model: Any, method: str) -> Callable[..., Any]:
    """The method of a copy of the model, since some change their model."""

    @functools.wraps(getattr(model, method))
    def call(**arguments: Any) -> Any:
        return getattr(copy.deepcopy(model), method)(**arguments)

    return call


def used(model: Any, **data: Any) -> tuple[Any, ...]:
    """A fitted model with what its methods give for the data it was fitted on."""
    results = [model]
    for method in _methods(type(model)):
        parameters = _parameters(getattr(model, method))
        required = [p for p, v in parameters.items() if v.default is v.empty]
        if method.startswith("fit") or not set(required) <= {"X"}:
            continue
        results.append(consumed(getattr(model, method)(*[data["X"] for _ in required])))
    if hasattr(model, "rank"):
        results.append(model.rank([0], 1))
    return tuple(results)


def consumed(result: Any) -> Any:
    """What a generator yields; anything else as it is."""
    return list(result) if inspect.isgenerator(result) else result


def _methods(kind: Any) -> list[str]:
    """Public methods that vicinal defines, not those inherited from scikit-learn."""
    return [
        name
        for name, method in inspect.getmembers(kind, callable)
        if not name.startswith("_")
        and getattr(method, "__module__", "").startswith("vicinal")
        and not name.startswith(("set_", "get_"))
    ]


def _entry(name: str, function: Any, options: tuple[str, ...] = ()) -> Entry:
    @functools.wraps(function)
    def call(**arguments: Any) -> Any:
        return consumed(function(**arguments))

    arguments = _arguments(name, inspect.signature(function))
    return Entry(name, _parameters(function), call, arguments, options)


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    result = inspect.signature(function).parameters
    return {name: value for name, value in result.items() if value.kind not in VARIADIC}


def _arguments(name: str, signature: inspect.Signature) -> dict[str, Any]:
    required = [
        p
        for p, v in signature.parameters.items()
        if v.default is v.empty and p != "self" and v.kind not in VARIADIC
    ]
    missing = object()
    values = {p: _typical(name, p, missing) for p in required}
    unknown = [p for p, value in values.items() if value is missing]
    assert not unknown, f"give a typical value of {name}({', '.join(unknown)}) in TYPICAL"
    return values


assert Perception.__name__ in WITHOUT
