"""Kernels of classical scaling: products with squared distances that are never stored, and new points."""

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


@jit(allocates=False)
def rotated_rows(points, centre, directions, out):
    """Centred points times the directions."""
    for i in range(len(points)):
        for c in range(directions.shape[1]):
            out[i, c] = 0.0
        for d in range(len(directions)):
            value = points[i, d] - centre[d]
            for c in range(directions.shape[1]):
                out[i, c] += value * directions[d, c]


@jit(allocates=False)
def paths_through(indices, distances, geodesics, out):
    """Lengths of the shortest paths from new points through their neighbours (rows of ``geodesics``)."""
    for i in range(len(indices)):
        for c in range(indices.shape[1]):
            nearest, length = indices[i, c], distances[i, c]
            for j in range(out.shape[1]):
                through = geodesics[nearest, j] + length
                out[i, j] = through if c == 0 else min(out[i, j], through)
