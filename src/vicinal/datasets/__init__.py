"""Data sets: small generated ones with known structure, and loaders of real data.

- spirals: `make_spirals`, `load_noisy_spiral`
- spirals in three dimensions: `make_helices`
- moons: `make_two_moons`
- a sheet with known geodesic distances: `make_swiss_roll`
- a table of numbers and categories: `make_mixed_table`
- surfaces in noise, and clusters that Euclidean distances mix: `make_half_cylinders`, `two_clusters`
- real data, read from a local folder and downloaded only on request: tables `load_uci_table`,
  `load_plane_shapes`; images `load_mnist`, `load_orl_faces`, `load_berkeley_photographs`; distances of
  shapes `load_mpeg7_distances`
"""

from vicinal._core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "figure_points": ["two_clusters"],
        "half_cylinders": ["make_half_cylinders"],
        "helices": ["make_helices"],
        "images": [
            "load_berkeley_photographs",
            "load_mnist",
            "load_mpeg7_distances",
            "load_orl_faces",
        ],
        "mixed_table": ["make_mixed_table"],
        "moons": ["make_two_moons"],
        "spirals": ["load_noisy_spiral", "make_spirals"],
        "swiss_roll": ["make_swiss_roll"],
        "tables": ["load_plane_shapes", "load_uci_table"],
    },
)
