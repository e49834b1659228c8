from vicinal.datasets.figure_points import two_clusters as two_clusters
from vicinal.datasets.half_cylinders import make_half_cylinders as make_half_cylinders
from vicinal.datasets.helices import make_helices as make_helices
from vicinal.datasets.moons import make_two_moons as make_two_moons
from vicinal.datasets.spirals import load_noisy_spiral as load_noisy_spiral
from vicinal.datasets.spirals import make_spirals as make_spirals
from vicinal.datasets.swiss_roll import make_swiss_roll as make_swiss_roll
