from vicinal.tl._cluster import cluster as cluster
from vicinal.tl._embed import embed as embed
from vicinal.tl._neighbors import neighbors as neighbors
