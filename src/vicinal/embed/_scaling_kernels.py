"""Kernel of classical scaling: products with squared distances that are never stored."""

from __future__ import annotations

from vicinal._core.jit import jit


# Reassociation allows vector instructions. Only an iterative solver uses the sums, and each row is summed in
# the same order by any thread.
@jit(fastmath={"reassoc"})
def squares_times(distances, scale, columns, start, stop, products):
    """Rows ``start`` to ``stop`` of (distances * scale)^2 times each of the ``columns``."""
    for i in range(start, stop):
        row = distances[i]
        for c in range(len(columns)):
            column = columns[c]
            total = 0.0
            for j in range(len(row)):
                scaled = row[j] * scale
                total += scaled * scaled * column[j]
            products[i, c] = total
