"""Slow oracles of sparse codes: scikit-learn's lasso and a linear program."""

import numpy as np
from scipy.optimize import linprog
from sklearn.linear_model import Lasso


def dense(graph):
    """Matrix of the coefficients behind a graph."""
    return graph.to_scipy("strengths").toarray() * graph.metadata["codes"].unit


def unit_rows(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def lasso(Z, x, penalty, positive=True):
    """Coefficients of x over the rows of Z; scikit-learn divides the squares by the dimensions."""
    model = Lasso(
        alpha=penalty / len(x),
        positive=positive,
        fit_intercept=False,
        tol=1e-13,
        max_iter=1_000_000,
    )
    return model.fit(Z.T, x).coef_


def basis_pursuit(Z, x):
    """Smallest sum of nonnegative coefficients that give x exactly; None if there are none."""
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    result = linprog(np.ones(len(Z)), A_eq=Z.T, b_eq=x, method="highs", options=options)
    return result.fun if result.status == 0 else None


def relative_gap(Z, x, a, penalty):
    """Duality gap of the nonnegative lasso, as a fraction of the objective."""
    residual = x - a @ Z
    primal = 0.5 * residual @ residual + penalty * a.sum()
    feasible = residual * min(1.0, penalty / max((Z @ residual).max(), 1e-300))
    dual = 0.5 * x @ x - 0.5 * (x - feasible) @ (x - feasible)
    return (primal - dual) / primal
