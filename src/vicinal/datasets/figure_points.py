"""Ten points in two clusters that Euclidean distances mix."""

from __future__ import annotations

import numpy as np

COMPACT = [(1.45, 0.6), (1.5, 0.65), (1.5, 0.55)]
LINE = [0.0, -0.7, -1.2, -1.5, -1.7, -1.85, -1.95]


def two_clusters() -> tuple[np.ndarray, np.ndarray]:
    """A line of seven points and a compact cluster of three points near one end of it.

    From that end of the line (point 3), the three points are closer than the last three of the line; by
    contextual distance they are the farthest.

    Returns
    -------
    X : ndarray of shape (10, 2)
        The compact cluster, then the line, starting near the compact cluster.
    labels : ndarray of int of shape (10,)
        0 for the line, 1 for the compact cluster.

    References
    ----------
    [1] Zhao, Lin and Tang, "Contextual distance for data perception", ICCV 2007. Based on the
    description of figure 3, which gives no coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import contextual_distance
    >>> from vicinal.datasets import two_clusters
    >>> X, labels = two_clusters()
    >>> labels[np.argsort(np.linalg.norm(X - X[3], axis=1))]
    array([0, 0, 0, 0, 1, 1, 1, 0, 0, 0])
    >>> indices, distances = contextual_distance(X, n_neighbors=9)
    >>> labels[indices[3, np.argsort(distances[3])]]
    array([0, 0, 0, 0, 0, 0, 0, 1, 1, 1])
    """
    line = [(0.0, height) for height in LINE]
    labels = np.repeat([1, 0], [len(COMPACT), len(LINE)])
    return np.array(COMPACT + line), labels
