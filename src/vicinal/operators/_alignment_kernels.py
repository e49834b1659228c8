"""Kernel of the aligned digraph Laplacian: local Laplacians of all patches."""

from __future__ import annotations

import numpy as np

from vicinal._core.jit import jit
from vicinal.operators._stationary_kernels import exact_stationary


@jit
def local_laplacians(indptr, indices, weights, beta, start, stop, offsets, rows, columns, values):
    """Local Laplacians (6) of the patches of nodes ``start`` to ``stop``, as coordinate entries.

    The patch of a node is the node and its successors. Entries of patch i go to ``offsets[i]`` on; the
    stationary distribution of the patch comes first, as the diagonal of Phi_i, then L_i row by row.
    """
    for i in range(start, stop):
        s = 1 + indptr[i + 1] - indptr[i]
        members = np.empty(s, dtype=np.int64)
        members[0] = i
        for e in range(indptr[i], indptr[i + 1]):
            members[1 + e - indptr[i]] = indices[e]
        P = np.zeros((s, s))
        for u in range(s):
            total = 0.0
            for e in range(indptr[members[u]], indptr[members[u] + 1]):
                for v in range(s):
                    if members[v] == indices[e]:
                        P[u, v] = weights[e]
                        total += weights[e]
            for v in range(s):
                # A member without an edge inside the patch steps to all of its members uniformly.
                P[u, v] = beta * P[u, v] / total if total > 0.0 else beta / s
                P[u, v] += (1.0 - beta) / s
        probabilities = np.empty(s)
        exact_stationary(P.copy(), probabilities)
        at = offsets[i]
        for u in range(s):
            rows[at] = columns[at] = members[u]
            values[at] = probabilities[u]
            at += 1
        for u in range(s):
            for v in range(s):
                flow = probabilities[u] * P[u, v] + probabilities[v] * P[v, u]
                rows[at], columns[at] = members[u], members[v]
                values[at] = (probabilities[u] if u == v else 0.0) - 0.5 * flow
                at += 1
