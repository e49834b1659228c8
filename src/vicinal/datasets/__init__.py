"""Points to try things on: small, seeded, with their true structure known.

- spirals: `make_spirals`, `load_noisy_spiral`
- spirals in three dimensions: `make_helices`
- moons: `make_two_moons`
- a sheet with known geodesic distances: `make_swiss_roll`
- surfaces in noise, and clusters that distances mix: `make_half_cylinders`, `two_clusters`
"""

from vicinal._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "figure_points": ["two_clusters"],
        "half_cylinders": ["make_half_cylinders"],
        "helices": ["make_helices"],
        "moons": ["make_two_moons"],
        "spirals": ["load_noisy_spiral", "make_spirals"],
        "swiss_roll": ["make_swiss_roll"],
    },
)
