"""Graphs of sparse codes: cases and contenders.

All contenders solve the same problem: the nonnegative lasso of each point over all others with the same
penalty. scikit-learn and SPAMS cannot do this in one call, so they are called once per point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.contenders import Contender, graph_facts

PENALTY = 0.1
MINUTES = 60.0
GIGABYTE = 1e9

CODES = [
    *(
        Case(
            f"L1 graph D={d}",
            "l1",
            2000,
            d,
            None,
            ("scikit-learn", "SPAMS"),
            max_ratio=1 / 3,
            ratio_to=("scikit-learn", 1 / 20),
            points="directions",
        )
        for d in (20, 200)
    ),
    *(
        Case(
            f"structure-aware L1 graph D={d}, K = 10 %",
            "structure_aware_l1",
            2000,
            d,
            None,
            ("vicinal L1 graph", "vicinal, nearest atoms"),
            ratio_to=("vicinal L1 graph", 1 / 3),
            points="directions",
        )
        for d in (20, 200)
    ),
    *(
        Case(
            f"exact structure-aware L1 graph, {points} D={d}, K = 10 %",
            "exact_structure_aware_l1",
            2000,
            d,
            None,
            ("vicinal L1 graph",),
            ratio_to=("vicinal L1 graph", 1 / 3),
            points=points,
        )
        for d, points in ((20, "directions"), (200, "directions"), (200, "blobs"))
    ),
    Case(
        "structure-aware L1 graph of 100,000, K = 200",
        "large_structure_aware_l1",
        100_000,
        50,
        None,
        (),
        max_seconds=15 * MINUTES,
        max_bytes=6 * GIGABYTE,
        points="blobs",
    ),
]


def code_facts(graph: Any, X: np.ndarray) -> dict[str, Any]:
    """Facts of the graph; the sum of the coefficients shows whether two results are equal."""
    weight = float(graph.strengths.sum() * graph.metadata["codes"].unit)
    return {
        **graph_facts(graph, X),
        "weight": weight,
        "gap": float(graph.metadata["codes"].gaps.max()),
    }


def sum_facts(result: tuple[float, int], X: np.ndarray) -> dict[str, Any]:
    """Sum and number of the coefficients."""
    return {"weight": result[0], "edges": result[1], "fingerprint": ""}


def _l1(X: np.ndarray, **parameters: Any) -> Any:
    from vicinal.graphs import l1

    return l1(X, **{"penalty": PENALTY, **parameters})


def _structure_aware(X: np.ndarray, **parameters: Any) -> Any:
    from vicinal.graphs import structure_aware_l1

    return structure_aware_l1(X, **{"n_atoms": 0.1, "penalty": PENALTY, **parameters})


def _sklearn(X: np.ndarray) -> tuple[float, int]:
    from sklearn.linear_model import Lasso

    # scikit-learn divides the squared error by the number of dimensions.
    model = Lasso(
        alpha=PENALTY / X.shape[1], positive=True, fit_intercept=False, tol=1e-8, max_iter=100_000
    )
    total, count = 0.0, 0
    for i in range(len(X)):
        coefficients = model.fit(np.delete(X, i, axis=0).T, X[i]).coef_
        total, count = total + coefficients.sum(), count + int(np.count_nonzero(coefficients))
    return float(total), int(count)


def _spams(X: np.ndarray) -> tuple[float, int]:
    import spams

    total, count = 0.0, 0
    for i in range(len(X)):
        atoms = np.asfortranarray(np.delete(X, i, axis=0).T)
        target = np.asfortranarray(X[i][:, None])
        coefficients = spams.lasso(target, D=atoms, lambda1=PENALTY, mode=2, pos=True)
        total, count = total + coefficients.sum(), count + coefficients.nnz
    return float(total), int(count)


CONTENDERS: dict[str, dict[str, Contender]] = {
    "l1": {
        "vicinal": Contender("vicinal", _l1, code_facts),
        "scikit-learn": Contender("sklearn", _sklearn, sum_facts),
        "SPAMS": Contender("spams", _spams, sum_facts),
    },
    "structure_aware_l1": {
        "vicinal": Contender("vicinal", _structure_aware, code_facts),
        "vicinal L1 graph": Contender("vicinal", _l1, code_facts),
        "vicinal, nearest atoms": Contender(
            "vicinal", _structure_aware, code_facts, ({"ranking": "euclidean"},)
        ),
    },
    "exact_structure_aware_l1": {
        "vicinal": Contender("vicinal", _structure_aware, code_facts, ({"equality": True},)),
        "vicinal L1 graph": Contender("vicinal", _l1, code_facts, ({"equality": True},)),
    },
    "large_structure_aware_l1": {
        "vicinal": Contender("vicinal", _structure_aware, code_facts, ({"n_atoms": 200},)),
    },
}
