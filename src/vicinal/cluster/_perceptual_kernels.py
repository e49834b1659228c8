"""Kernels of the prediction of perceptual clusters."""

from __future__ import annotations

from vicinal._core.jit import jit


@jit(allocates=False)
def nearest_subspaces(rows, bases, labels):
    """Number of the subspace that explains most of each row; ties go to the first."""
    for i in range(len(rows)):
        most, labels[i] = -1.0, 0
        for c in range(len(bases)):
            explained = 0.0
            for b in range(bases.shape[1]):
                projection = 0.0
                for q in range(bases.shape[2]):
                    projection += rows[i, q] * bases[c, b, q]
                explained += projection * projection
            if explained > most:
                most, labels[i] = explained, c


@jit(allocates=False)
def decide_noise(indices, steps, numbers, coincides, by_steps, labels):
    """Set the labels of training points and, with ``by_steps``, of new points whose steps lead to noise.

    ``numbers`` are the labels of the training points, and ``indices`` and ``steps`` the steps to them.
    """
    for i in range(len(labels)):
        if coincides[i]:
            labels[i] = numbers[indices[i, 0]]
        elif by_steps:
            to_noise = 0.0
            for c in range(indices.shape[1]):
                if numbers[indices[i, c]] < 0:
                    to_noise += steps[i, c]
            if to_noise > 0.5:
                labels[i] = -1
