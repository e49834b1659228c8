"""Contextual distances from their definition, in as many digits as needed."""

from decimal import Decimal, localcontext

import numpy as np


def exact(array):
    """The same numbers as decimals."""
    return np.vectorize(lambda value: Decimal(float(value)), otypes=[object])(array)


def log_determinant(matrix):
    """Elimination without pivoting: the matrices are positive definite, and there are many digits."""
    matrix, product = matrix.copy(), Decimal(1)
    for i in range(len(matrix)):
        product *= matrix[i, i]
        step = np.outer(matrix[i + 1 :, i] / matrix[i, i], matrix[i, i:])
        matrix[i + 1 :, i:] = matrix[i + 1 :, i:] - step
    return product.ln()


def coding_length(members, squared_distortion):
    """Formula (13), with (14) where it is cheaper."""
    s, n = members.shape
    mean = members.sum(axis=0) / s
    centred = members - mean
    scatter = centred.T @ centred if n < s else centred @ centred.T
    inside = exact(np.eye(len(scatter))) + Decimal(n) / (squared_distortion * s) * scatter
    last = (1 + mean @ mean / squared_distortion).ln()
    return Decimal(s + n) / 2 * log_determinant(inside) + Decimal(n) / 2 * last


def centroid(members, _):
    return members.sum(axis=0) / len(members)


def size(value):
    return (value @ value).sqrt() if isinstance(value, np.ndarray) else abs(value)


def literal_distances(X, context, descriptor, epsilon):
    """Formulas (1) and (2) in one context."""
    with localcontext() as digits:
        # Scatters of huge points are that much larger than the identity added to them.
        digits.prec = 60 + 4 * max(0, int(np.log10(np.abs(X).max() / epsilon)))
        members, squared = exact(X[context]), Decimal(float(epsilon)) ** 2
        whole = descriptor(members, squared)
        added = [
            size(whole - descriptor(np.delete(members, j, axis=0), squared))
            for j in range(len(context))
        ]
        return np.array([float(abs(added[0] - each)) for each in added])


LITERAL = {"centroid": centroid, "coding_length": coding_length}
