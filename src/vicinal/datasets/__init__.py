"""Data sets: small ones with known structure, generated from a seed.

- spirals: `make_spirals`, `load_noisy_spiral`
- spirals in three dimensions: `make_helices`
- moons: `make_two_moons`
- a sheet with known geodesic distances: `make_swiss_roll`
"""

from vicinal._core.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__spec__)
