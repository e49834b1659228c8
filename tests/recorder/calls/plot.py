"""What plots draw: points, lines, colours and texts."""

import numpy as np

import vicinal
from vicinal import plot

from .. import inputs
from ..call import call
from ..expect import error
from ..inputs import Input, dense

PLANE = Input("plane", lambda: dense.make()[:, :2])
IMAGE = Input("image", lambda: np.random.default_rng(0).random((6, 8)))
HALVES = Input("halves", lambda: np.repeat([[0] * 4 + [1] * 4], 6, axis=0))
SMOOTHED = Input("smoothed", lambda: vicinal.self_smooth(inputs.affinity.make(), 4))


def drawn(draw, *given, **options):
    """The axes that a plot is drawn on; its figure is closed."""
    from matplotlib import pyplot

    try:
        return draw(*given, **options)
    finally:
        pyplot.close("all")


def _n_axes(n):
    def check(axes):
        assert [hasattr(ax, "get_children") for ax in np.ravel(axes)] == [True] * n, axes

    return check


CALLS = [
    *(
        call(drawn, draw, *given, **options, expect=_n_axes(1))
        for draw, given, options in [
            (plot.embedding, [PLANE], {}),
            (plot.embedding, [PLANE, inputs.few_labels], {"cmap": "plasma", "point_size": 3.0}),
            (plot.embedding, [dense, inputs.names], {"legend": False}),
            (plot.graph, [inputs.tree], {}),
            (plot.graph, [inputs.graph, PLANE], {"values": inputs.groups, "edge_width": 2.0}),
            (plot.graph, [inputs.loose_graph], {"embedding": PLANE}),
            (plot.ranking, [PLANE, [3, 5, 40]], {"query": 1, "scores": [1.0, 0.5, 0.2]}),
            (plot.segments, [IMAGE, HALVES], {}),
            (plot.segments, [IMAGE, HALVES], {"mean_colors": True, "color": "red"}),
            (plot.similarity, [inputs.affinity], {}),
        ]
    ),
    call(
        drawn, plot.similarity, inputs.affinity, SMOOTHED, labels=inputs.groups, expect=_n_axes(2)
    ),
    call(drawn, plot.graph, inputs.loose_graph, expect=error("points")),
    call(drawn, plot.embedding, dense, [0, 1], expect=error("labels")),
]
