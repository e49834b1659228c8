from vicinal.embed.cluster_preserving import (
    ClusterPreservingEmbedding as ClusterPreservingEmbedding,
)
from vicinal.embed.diffusion import DiffusionMaps as DiffusionMaps
from vicinal.embed.diffusion import diffusion_distance as diffusion_distance
from vicinal.embed.eigenmaps import LaplacianEigenmaps as LaplacianEigenmaps
from vicinal.embed.isomap import Isomap as Isomap
from vicinal.embed.neighbor_map import NeighborMap as NeighborMap
from vicinal.embed.perceptual import PerceptualEmbedding as PerceptualEmbedding
from vicinal.embed.scaling import classical_scaling as classical_scaling
from vicinal.embed.scaling import landmark_mds_transform as landmark_mds_transform
