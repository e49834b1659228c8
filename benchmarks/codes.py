"""Graphs of sparse codes: cases and contenders.

Contenders for the L1 graph solve the same problem: the nonnegative lasso of each point over all others with
the same penalty. scikit-learn and SPAMS cannot do this in one call, so they are called once per point. Of
20,000 points, they and related methods (elastic net, orthogonal matching pursuit) code every thousandth one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.cases import Case
from benchmarks.contenders import Contender, graph_facts
from benchmarks.data import classes

PENALTY = 0.1
SAMPLING = 1000
# Atoms of matching pursuit, and the part of the lasso penalty in the elastic net.
N_PURSUIT_ATOMS, L1_RATIO = 10, 0.9
SAMPLED = (
    "scikit-learn Lasso, 0.1 % of the points",
    "SPAMS lasso, 0.1 % of the points",
    "scikit-learn ElasticNet, 0.1 % of the points",
    "SSC-OMP by scikit-learn, 0.1 % of the points",
    "SSC-OMP by SPAMS, 0.1 % of the points",
)
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
    Case(
        "L1 graph of 20,000 D=200",
        "sampled_l1",
        20_000,
        200,
        None,
        SAMPLED,
        max_ratio=1.0,
        points="blobs",
        measure="weight within clusters",
    ),
    *(
        Case(
            f"structure-aware L1 graph D={d}, K = 10 %",
            "structure_aware_l1",
            2000,
            d,
            None,
            ("vicinal L1 graph", "vicinal, exact ranking", "vicinal, nearest atoms"),
            ratio_to=("vicinal L1 graph", 1.0),
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
            ratio_to=("vicinal L1 graph", 1 / 3 if d == 200 else 1.0),
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
        once=True,
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


def cluster_facts(weights: Any, X: np.ndarray) -> dict[str, Any]:
    """Fraction of the weight of the sampled points that connects them to their own cluster."""
    weights = weights.tocoo()
    truth = classes(len(X))
    same = truth[weights.coords[0]] == truth[weights.coords[1]]
    values = np.abs(weights.data) * (weights.coords[0] % SAMPLING == 0)
    return {"score": float(values[same].sum() / values.sum())}


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


def _weights(X: np.ndarray) -> Any:
    return _l1(X).to_scipy("strengths")


def _sampled(code: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., Any]:
    """Codes of a few points, scaled to unit length, by a function of the dictionary and the point."""

    def run(X: np.ndarray) -> Any:
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        weights = sparse.lil_array((len(X), len(X)))
        for i in range(0, len(X), SAMPLING):
            coefficients = code(np.asfortranarray(np.delete(unit, i, axis=0).T), unit[i])
            used = np.flatnonzero(coefficients)
            weights[i, used + (used >= i)] = coefficients[used]
        return weights

    return run


def _lasso(atoms: np.ndarray, target: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import Lasso

    penalty = PENALTY / len(target)
    model = Lasso(penalty, positive=True, fit_intercept=False, tol=1e-6, max_iter=100_000)
    return model.fit(atoms, target).coef_


def _elastic_net(atoms: np.ndarray, target: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import ElasticNet

    model = ElasticNet(
        PENALTY / len(target) / L1_RATIO,
        l1_ratio=L1_RATIO,
        positive=True,
        fit_intercept=False,
        tol=1e-6,
        max_iter=100_000,
    )
    return model.fit(atoms, target).coef_


def _pursuit(atoms: np.ndarray, target: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import orthogonal_mp

    return orthogonal_mp(atoms, target, n_nonzero_coefs=N_PURSUIT_ATOMS)


def _spams_lasso(atoms: np.ndarray, target: np.ndarray) -> np.ndarray:
    import spams

    vector = np.asfortranarray(target[:, None])
    return spams.lasso(vector, D=atoms, lambda1=PENALTY, mode=2, pos=True).toarray().ravel()


def _spams_pursuit(atoms: np.ndarray, target: np.ndarray) -> np.ndarray:
    import spams

    vector = np.asfortranarray(target[:, None])
    return spams.omp(vector, D=atoms, L=N_PURSUIT_ATOMS).toarray().ravel()


def _sampled_contender(module: str, code: Any) -> Contender:
    return Contender(module, _sampled(code), cluster_facts, factor=SAMPLING)


CONTENDERS: dict[str, dict[str, Contender]] = {
    "l1": {
        "vicinal": Contender("vicinal", _l1, code_facts),
        "scikit-learn": Contender("sklearn", _sklearn, sum_facts),
        "SPAMS": Contender("spams", _spams, sum_facts),
    },
    "sampled_l1": {
        "vicinal": Contender("vicinal", _weights, cluster_facts),
        SAMPLED[0]: _sampled_contender("sklearn", _lasso),
        SAMPLED[1]: _sampled_contender("spams", _spams_lasso),
        SAMPLED[2]: _sampled_contender("sklearn", _elastic_net),
        SAMPLED[3]: _sampled_contender("sklearn", _pursuit),
        SAMPLED[4]: _sampled_contender("spams", _spams_pursuit),
    },
    "structure_aware_l1": {
        "vicinal": Contender("vicinal", _structure_aware, code_facts),
        "vicinal L1 graph": Contender("vicinal", _l1, code_facts),
        "vicinal, exact ranking": Contender(
            "vicinal", _structure_aware, code_facts, ({"exact_ranking": True},)
        ),
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
