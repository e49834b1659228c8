"""How sure harmonic functions are: the power of their probabilities, by a rehearsal.

Harmonic functions of few labels are flat: a class with one label has small values even at points that
certainly belong to it. How flat depends on the graph and on the number of labels, so that no fixed power
makes probabilities honest. The rehearsal takes the predicted classes for the truth, draws as many labels of
each class from them, and solves again: the power of least log loss there is the power for the real labels.
Powers do not change which class is the most probable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Powers from 1 to 32, four per octave.
POWERS = 2.0 ** (np.arange(21) / 4)
# The loss is the mean over at most this many nodes.
MAX_ROWS = 20_000


class Calibration(NamedTuple):
    """Power of class probabilities, and the curve it was chosen from.

    Attributes
    ----------
    power : float
        The power of least loss.
    powers : ndarray of shape (n_powers,)
        Powers tried.
    losses : ndarray of shape (n_powers,)
        Mean log loss of each in the rehearsal; NaN if it has no nodes to test.
    """

    power: float
    powers: np.ndarray
    losses: np.ndarray


def rehearsal_labels(probabilities: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Class codes for a rehearsal: as many of each class as there are labels, -1 elsewhere.

    They are unlabelled nodes at evenly spaced ranks of the probability of their class, hence typical ones,
    and the same whatever the order of the nodes. A class that no node is predicted to have keeps its labels.

    Parameters
    ----------
    probabilities : ndarray of shape (n, n_classes)
        Class probabilities of each node.
    codes : ndarray of int of shape (n,)
        Class codes, -1 where unknown.

    Returns
    -------
    ndarray of int of shape (n,)
        The class codes.
    """
    predicted = np.where(codes < 0, probabilities.argmax(axis=1), -1)
    chosen = np.full(len(codes), -1)
    for label in np.unique(codes[codes >= 0]):
        labelled, members = np.flatnonzero(codes == label), np.flatnonzero(predicted == label)
        if len(members) == 0:
            chosen[labelled] = label
            continue
        n_labels = min(len(labelled), len(members))
        ranks = ((np.arange(n_labels) + 0.5) * len(members) / n_labels).astype(np.int64)
        order = np.argsort(probabilities[members, label], kind="stable")
        chosen[members[order[ranks]]] = label
    return chosen


def calibrate(rehearsed: np.ndarray, classes: np.ndarray) -> Calibration:
    """Choose the power of least log loss.

    Parameters
    ----------
    rehearsed : ndarray of shape (n_nodes, n_classes)
        Class probabilities of the nodes in the rehearsal.
    classes : ndarray of int of shape (n_nodes,)
        Classes taken for the truth.

    Returns
    -------
    Calibration
        With power 1 if no node can be tested.
    """
    # A node in a component where the rehearsal has no label of its class says nothing about powers.
    tested = np.flatnonzero(rehearsed[np.arange(len(classes)), classes] > 0)
    if len(tested) == 0:
        return Calibration(1.0, POWERS, np.full(len(POWERS), np.nan))
    tested = tested[:: -(-len(tested) // MAX_ROWS)]
    with np.errstate(divide="ignore"):
        scores = np.log(rehearsed[tested])
    scores -= scores.max(axis=1, keepdims=True)
    own = scores[np.arange(len(tested)), classes[tested]]
    losses = np.array(
        [np.mean(np.log(np.exp(p * scores).sum(axis=1)) - p * own) for p in POWERS.tolist()]
    )
    return Calibration(float(POWERS[losses.argmin()]), POWERS, losses)
