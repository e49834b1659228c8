"""Images divided into regions."""

import numpy as np

import vicinal

from ..call import call
from ..expect import array, error, groups
from ..inputs import Input

HALVES = np.repeat([[0] * 7 + [1] * 8], 12, axis=0)


def _image(*depth):
    noise = np.random.default_rng(0).random((12, 15, *depth))
    return HALVES.reshape(12, 15, *[1] * len(depth)) + 0.1 * noise


THREE = array(12, 15, dtype=np.int64)
grey, colours = Input("grey", _image), Input("colours", lambda: _image(3))
octets = Input("bytes", lambda: (200 * _image(3)).astype(np.uint8))

CALLS = [
    *(
        call(vicinal.segment, image, n_segments=2, expect=groups(HALVES), **options)
        for image in (grey, colours)
        for options in ({}, {"graph": "radius"}, {"scale": 0.2, "smoothing": 0.0})
    ),
    call(vicinal.segment, octets, n_segments=2, expect=groups(HALVES)),
    call(vicinal.segment, grey, n_segments=3, smooth=2, expect=THREE),
    call(
        vicinal.segment,
        grey,
        n_segments=3,
        graph="radius",
        radius=2.0,
        spatial_scale=4.0,
        expect=THREE,
    ),
    call(
        vicinal.segment, Input("NaN", lambda: _image() * np.nan), n_segments=2, expect=error("NaN")
    ),
    call(
        vicinal.segment,
        Input("empty", lambda: np.empty((0, 4))),
        n_segments=2,
        expect=error("image"),
    ),
    call(vicinal.segment, grey, n_segments=999, expect=error("n_segments=999")),
]
