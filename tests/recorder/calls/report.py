"""The steps of an analysis and of an audit, new rows, and the page that is served; not the text of pages."""

import tempfile
import urllib.request
from pathlib import Path

import numpy as np

import vicinal
from vicinal import report

from .. import inputs
from ..call import call, odd
from ..expect import array, equal, error, every, groups, has
from ..inputs import Input, dense, mixed

STEPS = (
    *("labels", "n_clusters", "noise_score", "probabilities", "neighborhoods", "count", "clusters"),
    *("layers", "exemplars", "explanations", "scores", "failures", "parameters"),
)
FINDINGS = (
    *("duplicates", "outliers", "label_doubts", "conflicts", "leakage", "typicality", "hubs"),
    *("doubtful_rows", "leaking_rows", "parameters"),
)
ASSIGNED = (
    *("ids", "labels", "probabilities", "noise_score", "nearest", "nearest_ids", "distances"),
    *("known", "noise"),
)
WITH_NOISE = Input(
    "half-cylinders", lambda: vicinal.datasets.make_half_cylinders(60, 40, random_state=0)[0]
)
SPLITS = Input("splits", lambda: np.where(np.arange(90) % 3 == 0, "test", "train"))
SIZES = {"size": ["S", "M", "L"]}
THREE = every({"labels": groups()})
THREE_IN_TURN = every({"labels": groups(np.arange(90) % 3)})


def perceived(X, n_jobs=None, **options):
    """What each step of an analysis finds."""
    result = vicinal.perceive(X, n_jobs=n_jobs, **options)
    found = {name: getattr(result, name) for name in STEPS}
    found |= {name: getattr(result.data, name) for name in ("points", "columns", "notes")}
    found |= {"maps": dict(result.maps.coordinates), "snippet": result.snippet()}
    return found | {"frame": result.to_frame()}


def audited(X, n_jobs=None, **options):
    """What each check of an audit finds."""
    result = vicinal.audit(X, n_jobs=n_jobs, **options)
    found = {name: getattr(result, name) for name in FINDINGS}
    found |= {"json": result.to_json(), "summary": result.summary()}
    return found | {"frame": result.to_frame()}


def assigned(X, new, n_jobs=None, **options):
    """New rows by a model, and by the model after it was written and read."""
    model = vicinal.perceive(X, n_jobs=n_jobs, **options).model(n_jobs=n_jobs)
    with tempfile.TemporaryDirectory() as folder:
        read = report.PerceptionModel.load(model.save(Path(folder) / "model.vicinal"))
    results = {"made": model.assign(new, n_jobs=n_jobs), "read": read.assign(new, n_jobs=n_jobs)}
    return {k: {name: getattr(found, name) for name in ASSIGNED} for k, found in results.items()}


def resumed(X, n_jobs=None):
    """An analysis that finds its steps in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = (vicinal.perceive(X, n_jobs=n_jobs, resume=folder) for _ in range(2))
        return {"first": first.labels, "second": second.labels, "scores": second.noise_score}


def served(X, n_jobs=None):
    result = vicinal.perceive(X, n_clusters=2, sample=50, n_jobs=n_jobs)
    with report.explore(result, open_browser=False) as explorer:
        return _status(explorer)


def served_page():
    with report.Explorer("<p>page</p>", {"a": b"12"}) as explorer:
        return _status(explorer)


def _status(explorer):
    with urllib.request.urlopen(explorer.url) as response:
        return {"status": response.status, "type": response.headers["Content-Type"]}


def classes(X, n_jobs=None):
    """Whether results are of the public classes."""
    analysis, audit = vicinal.perceive(X, n_jobs=n_jobs), vicinal.audit(X, n_jobs=n_jobs)
    model = analysis.model(n_jobs=n_jobs)
    pairs = [(analysis, report.Perception), (audit, report.Audit), (model, report.PerceptionModel)]
    return [isinstance(*pair) for pair in [*pairs, (model.assign(X), report.Assignment)]]


def _labels(n):
    return every({"labels": array(n, dtype=np.int64), "noise_score": array(n)})


def _found(n=90):
    return every({"typicality": has(rank=array(n)), "outliers": has(score=array(n))})


SIX = every({"made": _labels(6), "read": _labels(6)})
NEW_ROWS = Input("new rows", mixed.new)
CALLS = [
    call(perceived, dense, expect=THREE),
    call(perceived, dense, n_clusters=3, labels=inputs.names, expect=THREE),
    call(perceived, mixed, ids="name", labels="size", expect=_labels(90)),
    call(perceived, mixed, kinds=SIZES, weights={"price": 2.0}, expect=THREE_IN_TURN),
    call(perceived, inputs.holes, expect=every({"labels": array(90, dtype=np.int64)})),
    call(perceived, inputs.frame, scaling="standard", sample=50, random_state=3, expect=THREE),
    call(perceived, inputs.equal_rows, scaling="none", expect=_labels(90)),
    call(perceived, WITH_NOISE, expect=_labels(160)),
    call(audited, dense, labels=inputs.flipped, expect=_found()),
    call(audited, dense, splits=SPLITS, metric="cosine", expect=_found()),
    call(audited, mixed, labels="size", ids="name", expect=_found()),
    call(audited, inputs.equal_rows, labels=inputs.names, splits=SPLITS, expect=_found()),
    call(audited, inputs.equal_rows, threshold=0.1, expect=_found()),
    call(audited, inputs.holes, scaling="none", expect=_found()),
    call(assigned, dense, inputs.new_points, expect=SIX),
    call(assigned, mixed, NEW_ROWS, kinds=SIZES, expect=SIX),
    call(resumed, dense, expect=every({"first": groups(), "second": groups()})),
    call(served, dense, expect=every({"status": equal(200)})),
    call(served_page, expect=every({"status": equal(200)})),
    call(classes, dense, expect=equal([True] * 4)),
    odd(vicinal.perceive, inputs.ODD_TABLES),
    odd(vicinal.audit, inputs.ODD_TABLES),
    call(vicinal.perceive, dense, n_clusters=0, expect=error("n_clusters=0")),
    call(vicinal.perceive, dense, labels="nothing", expect=error("nothing")),
    call(vicinal.audit, dense, labels=[0, 1], expect=error("labels")),
]
