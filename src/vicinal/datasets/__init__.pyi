from vicinal.datasets.figure_points import two_clusters as two_clusters
from vicinal.datasets.half_cylinders import make_half_cylinders as make_half_cylinders
from vicinal.datasets.helices import make_helices as make_helices
from vicinal.datasets.images import load_berkeley_photographs as load_berkeley_photographs
from vicinal.datasets.images import load_mnist as load_mnist
from vicinal.datasets.images import load_mpeg7_distances as load_mpeg7_distances
from vicinal.datasets.images import load_orl_faces as load_orl_faces
from vicinal.datasets.mixed_table import make_mixed_table as make_mixed_table
from vicinal.datasets.moons import make_two_moons as make_two_moons
from vicinal.datasets.spirals import load_noisy_spiral as load_noisy_spiral
from vicinal.datasets.spirals import make_spirals as make_spirals
from vicinal.datasets.swiss_roll import make_swiss_roll as make_swiss_roll
from vicinal.datasets.tables import load_plane_shapes as load_plane_shapes
from vicinal.datasets.tables import load_uci_table as load_uci_table

__all__: list[str]
__all__ = [
    "load_berkeley_photographs",
    "load_mnist",
    "load_mpeg7_distances",
    "load_noisy_spiral",
    "load_orl_faces",
    "load_plane_shapes",
    "load_uci_table",
    "make_half_cylinders",
    "make_helices",
    "make_mixed_table",
    "make_spirals",
    "make_swiss_roll",
    "make_two_moons",
    "two_clusters",
]
