"""Data sets that are generated."""

from vicinal import datasets

from ..call import call
from ..expect import array, each, error

INT = int

CALLS = [
    call(datasets.make_two_moons, 40, expect=each(array(40, 2), array(40, dtype=INT))),
    call(datasets.make_two_moons, 41, noise=0.2, expect=each(array(41, 2), array(41, dtype=INT))),
    call(datasets.make_spirals, 40, n_arms=3, expect=each(array(40, 2), array(40, dtype=INT))),
    call(datasets.make_helices, 40, expect=each(array(40, 3), array(40, dtype=INT))),
    call(datasets.make_half_cylinders, 20, 10, expect=each(array(50, 3), array(50, dtype=INT))),
    call(datasets.make_swiss_roll, 40, expect=each(array(40, 3), array(40, 2))),
    call(
        datasets.make_swiss_roll,
        20,
        noise=0.1,
        return_geodesics=True,
        expect=each(array(20, 3), array(20, 2), array(20, 20)),
    ),
    call(datasets.two_clusters, expect=each(array(10, 2), array(10, dtype=INT))),
    call(datasets.load_noisy_spiral, expect=array(300, 2)),
    call(datasets.make_two_moons, -1, expect=error("n_points=-1")),
    call(datasets.make_swiss_roll, 20, noise=-1.0, expect=error("noise=-1")),
]
