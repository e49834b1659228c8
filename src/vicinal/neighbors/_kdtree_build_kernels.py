"""Compiled loops that split the points of a k-d tree and measure its nodes.

Conditions replace `min` and `max`, which numba compiles as functions, once per type.
"""

from __future__ import annotations

from vicinal._core.jit import jit


@jit(allocates=False)
def split(tree, dims, stack, root, stop):
    """Split ``root`` and its descendants that are numbered below ``stop``, and measure their boxes.

    The length of ``dims`` is the dimension, 0 for any.
    """
    points, order, bounds = tree.points, tree.order, tree.bounds
    lower, upper = tree.lower, tree.upper
    d = len(dims) or points.shape[1]
    stack[0], size = root, 1
    while size:
        size -= 1
        node = stack[size]
        a, b, child = bounds[node, 0], bounds[node, 1], 2 * node + 1
        _measure_node(tree, d, node)
        if child >= bounds.shape[0]:
            continue
        axis, width = 0, upper[node, 0] - lower[node, 0]
        for c in range(1, d):
            if upper[node, c] - lower[node, c] > width:
                axis, width = c, upper[node, c] - lower[node, c]
        middle = _divide_node(tree, node)
        # Partition the rows along the widest axis, so that position ``middle`` is as in a full sort.
        left, right = a, b - 1
        while width > 0 and left < right:
            # Median of three.
            low, high = points[left, axis], points[right, axis]
            pivot = points[(left + right) // 2, axis]
            if low > high:
                low, high = high, low
            pivot = low if pivot < low else pivot
            pivot = high if pivot > high else pivot
            i, j = left, right
            while i <= j:
                while points[i, axis] < pivot:
                    i += 1
                while points[j, axis] > pivot:
                    j -= 1
                if i <= j:
                    for c in range(d):
                        points[i, c], points[j, c] = points[j, c], points[i, c]
                    order[i], order[j] = order[j], order[i]
                    i += 1
                    j -= 1
            if middle <= j:
                right = j
            elif middle >= i:
                left = i
            else:
                break
        if child < stop:
            stack[size], stack[size + 1] = child + 1, child
            size += 2


@jit(inline="always")
def _measure_node(tree, d, node):
    """Box of the points of a node, and their smallest row."""
    points, order, lower, upper = tree.points, tree.order, tree.lower, tree.upper
    a, b = tree.bounds[node, 0], tree.bounds[node, 1]
    for c in range(d):
        lower[node, c] = upper[node, c] = points[a, c]
    first = order[a]
    for i in range(a + 1, b):
        first = order[i] if order[i] < first else first
        for c in range(d):
            value = points[i, c]
            lower[node, c] = value if value < lower[node, c] else lower[node, c]
            upper[node, c] = value if value > upper[node, c] else upper[node, c]
    tree.first[node] = first


@jit(inline="always")
def _divide_node(tree, node):
    """Give each child of a node half of its positions; returns the first one of the second child."""
    a, b, left = tree.bounds[node, 0], tree.bounds[node, 1], 2 * node + 1
    middle = (a + b) // 2
    tree.bounds[left, 0], tree.bounds[left, 1] = a, middle
    tree.bounds[left + 1, 0], tree.bounds[left + 1, 1] = middle, b
    return middle


@jit(allocates=False)
def measure_nodes(tree):
    """Positions, boxes and smallest rows of all nodes, if the points are in the order of the tree already."""
    n_nodes, d = len(tree.bounds), tree.points.shape[1]
    for node in range(n_nodes // 2):
        _divide_node(tree, node)
    for node in range(n_nodes - 1, -1, -1):
        left = 2 * node + 1
        if left >= n_nodes:
            _measure_node(tree, d, node)
            continue
        tree.first[node] = min(tree.first[left], tree.first[left + 1])
        for c in range(d):
            tree.lower[node, c] = min(tree.lower[left, c], tree.lower[left + 1, c])
            tree.upper[node, c] = max(tree.upper[left, c], tree.upper[left + 1, c])
